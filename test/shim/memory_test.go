package shim

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// Memory that the CUDA and HIP runtimes give out is known by segment, offset
// and device, and a freed segment's number serves again.
func TestDeviceMemory(t *testing.T) {
	shim := library(t)
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			// hip finds its runtime in the same library
			runtime := filepath.Join(dir, "libcudart.so.12")
			out, err := exec.Command("cc", "-shared", "-fPIC", "-o", runtime, filepath.Join("testdata", "fakegpu.c"), "-Wl,-soname,libcudart.so.12").CombinedOutput()
			if err != nil {
				t.Fatalf("cc: %v\n%s", err, out)
			}
			program := filepath.Join(dir, "gpu")
			out, err = exec.Command(m.CC, "-o", program, filepath.Join("testdata", "gpu.c"), runtime, "-Wl,-rpath,"+dir).CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", m.CC, err, out)
			}
			file := filepath.Join(dir, "gpu.spoor")
			r := run(t, m, dir, []string{"LD_PRELOAD=" + shim, "SPOOR_OUT=" + file}, 1, program)
			if r.Err != nil || r.Stdout != "done\n" {
				t.Fatalf("%v, printed %q\n%s", r.Err, r.Stdout, r.Stderr)
			}
			round := []trace.SymbolicAddress{
				{Class: trace.AddressDevice, Device: 1, ID: 0, Offset: 64},
				{Class: trace.AddressDevice, Device: 2, ID: 1},
				{Class: trace.AddressDevice, Device: 1, ID: 2, Offset: 8},
			}
			want := append(slices.Concat(round, round), trace.SymbolicAddress{Class: trace.AddressDevice, Device: 2, ID: 0, Offset: 512 * 15})
			if d := cmp.Diff(want, broadcastBuffers(t, file)); d != "" {
				t.Errorf("buffers of the broadcasts (-want +got):\n%s", d)
			}
		})
	}
}

// Memory of a runtime that is linked statically is known by what the driver below says of
// it, CUDA's or AMD's, and what is taken from CUDA's driver itself like any other.
func TestDeviceMemoryByDriver(t *testing.T) {
	shim := library(t)
	m := mpis.Need(t)[0]
	for _, x := range []struct {
		name, library string
		driver, flags []string
		more          []trace.SymbolicAddress
	}{
		{"cuda", "libcuda.so.1", nil, []string{"-DDRIVER"}, []trace.SymbolicAddress{
			{Class: trace.AddressDevice, Device: 3, ID: 2, Offset: 16}, {Class: trace.AddressDevice, Device: 3, ID: 2, Offset: 16},
		}},
		{"hsa", "libhsa-runtime64.so.1", []string{"-DHSA"}, nil, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			driver, program := filepath.Join(dir, x.library), filepath.Join(dir, "gpu")
			for _, args := range [][]string{
				append([]string{"cc", "-shared", "-fPIC", "-Wl,-soname," + x.library, "-o", driver, filepath.Join("testdata", "fakedriver.c")}, x.driver...),
				append([]string{m.CC, "-o", program, filepath.Join("testdata", "gpustatic.c"), driver, "-Wl,-rpath," + dir}, x.flags...),
			} {
				if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
			}
			file := filepath.Join(dir, "gpu.spoor")
			r := run(t, m, dir, []string{"LD_PRELOAD=" + shim, "SPOOR_OUT=" + file}, 1, program)
			if r.Err != nil || r.Stdout != "done\n" {
				t.Fatalf("%v, printed %q\n%s", r.Err, r.Stdout, r.Stderr)
			}
			if _, err := os.Stat(file); err != nil {
				t.Fatalf("%v\n%s", err, r.Stderr)
			}
			var got []trace.SymbolicAddress
			for _, at := range broadcastBuffers(t, file) {
				if at.Class == trace.AddressDevice {
					got = append(got, at)
				}
			}
			round := []trace.SymbolicAddress{
				{Class: trace.AddressDevice, Device: 1, ID: 0, Offset: 5000},
				{Class: trace.AddressDevice, Device: 2, ID: 1},
				{Class: trace.AddressDevice, Device: 1, ID: 0, Offset: 64},
			}
			if d := cmp.Diff(slices.Concat(round, round, x.more), got); d != "" {
				t.Errorf("buffers on devices (-want +got):\n%s", d)
			}
		})
	}
}

// broadcastBuffers lists the buffers of rank 0's calls of MPI_Bcast.
func broadcastBuffers(t *testing.T, file string) []trace.SymbolicAddress {
	t.Helper()
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rank, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	var list []trace.SymbolicAddress
	for call, err := range rank.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		if call.Name() == "MPI_Bcast" {
			list = append(list, call.Param("buffer").In.Addr)
		}
	}
	return list
}

// However many windows have memory of their own at once, each one's ends with it, and its
// name serves again.
func TestManyWindows(t *testing.T) {
	const windows = 1100
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "trace.spoor")
			env := []string{"LD_PRELOAD=" + library(t), "SPOOR_SCRATCH=" + dir, "SPOOR_OUT=" + file}
			r := run(t, m, dir, env, 2, compile(t, m.CC, "windows.c", "windows"), fmt.Sprint(windows))
			if said := spoorLines(r); r.Err != nil || len(said) > 0 {
				t.Fatalf("%v, and spoor says %q", r, said)
			}
			names := map[string]int{}
			for _, a := range broadcastBuffers(t, file) {
				names[a.Text()]++
			}
			for name, n := range names {
				if n != 2 {
					t.Errorf("%s stands for %d windows, want 2", name, n)
				}
			}
			if len(names) != windows {
				t.Errorf("%d names, want %d", len(names), windows)
			}
		})
	}
}
