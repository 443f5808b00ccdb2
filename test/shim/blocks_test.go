package shim

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// record runs a program under the shim on one rank and opens its trace, which no record
// may be missing of.
func record(t *testing.T, m *mpis.MPI, env []string, program string, args ...string) *trace.Reader {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "trace.spoor")
	env = append([]string{"LD_PRELOAD=" + library(t), "SPOOR_SCRATCH=" + dir, "SPOOR_OUT=" + file}, env...)
	r := run(t, m, dir, env, 1, append([]string{program}, args...)...)
	if said := spoorLines(r); r.Err != nil || len(said) > 0 {
		t.Fatalf("%v, and spoor says %q", r, said)
	}
	tr, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

// lost is how many calls of rank 0 the trace says it lacks.
func lost(t *testing.T, tr *trace.Reader) uint64 {
	t.Helper()
	rank, err := tr.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rank.Process()
	if err != nil {
		t.Fatal(err)
	}
	return p.LostCalls
}

// A loop that allocates, calls and frees is one loop over the same names, however often
// the ring's end comes by.
func TestBlocksReused(t *testing.T) {
	const rounds, blocks = 20000, 14
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			tr := record(t, m, nil, compile(t, m.CC, "reused.c", "reused"), fmt.Sprint(rounds))
			rank, err := tr.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			if n := lost(t, tr); n > 0 {
				t.Errorf("%d calls are lost", n)
			}
			if n := rank.Terminals(); n != blocks+2 {
				t.Errorf("%d distinct calls, want %d", n, blocks+2)
			}
			if n := len(rank.Structure(0).Children()); n != 3 {
				t.Errorf("%d parts, want MPI_Init, one loop, MPI_Finalize", n)
			}
			n := 0
			for call, err := range rank.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				if call.Name() != "MPI_Allreduce" {
					continue
				}
				if got, want := call.Param("recvbuf").In.Addr.Text(), fmt.Sprintf("heap%d", n%blocks); got != want {
					t.Fatalf("call %d: %s, want %s", n, got, want)
				}
				n++
			}
			if n != rounds*blocks {
				t.Errorf("%d calls, want %d", n, rounds*blocks)
			}
		})
	}
}

// Buffers have the names that a simple model gives them, whatever threads allocate, free
// and call, and however small the ring.
func TestBlocksAtRandom(t *testing.T) {
	seeds, steps := 1, 3000
	if os.Getenv("SPOOR_LONG") != "" {
		seeds, steps = 10, 30000
	}
	for _, m := range mpis.Need(t)[:1] { // the MPI has no part in it
		program := compile(t, m.CC, "blocks.c", "blocks")
		for ring := 64 << 10; ring <= 4<<20; ring *= 4 {
			for _, threads := range []int{1, 3} {
				for seed := range seeds {
					t.Run(fmt.Sprintf("%s/ring %d/%d threads/seed %d", m.Name, ring, threads, seed), func(t *testing.T) {
						t.Parallel()
						recordBlocks(t, m, []string{fmt.Sprint("SPOOR_RING=", ring)}, program, ring+threads*100+seed, steps, threads)
					})
				}
			}
		}
	}
}

// recordBlocks runs blocks.c and compares the names of its buffers.
func recordBlocks(t *testing.T, m *mpis.MPI, env []string, program string, seed, steps, threads int) {
	t.Helper()
	names := filepath.Join(t.TempDir(), "names")
	tr := record(t, m, env, program, fmt.Sprint(seed), fmt.Sprint(steps), fmt.Sprint(threads), names)
	if n := lost(t, tr); n > 0 {
		t.Errorf("%d calls are lost", n)
	}
	compareNames(t, tr, names)
}

func compareNames(t *testing.T, tr *trace.Reader, names string) {
	t.Helper()
	rank, err := tr.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string) // buffers by number of the call
	for s := range rank.Streams() {
		for call, err := range rank.Calls(s) {
			if err != nil {
				t.Fatal(err)
			}
			switch call.Name() {
			case "MPI_Send":
				got[fmt.Sprint(call.Param("count").In.Num)] = call.Param("buf").In.Addr.Text()
			case "MPI_Sendrecv":
				got[fmt.Sprint(call.Param("sendcount").In.Num)] = call.Param("sendbuf").In.Addr.Text() + " " + call.Param("recvbuf").In.Addr.Text()
			}
		}
	}
	f, err := os.Open(names)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, wrong := 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		number, want, _ := strings.Cut(lines.Text(), " ")
		if got[number] == want {
			continue
		}
		if wrong++; wrong < 5 {
			t.Errorf("call %s: %q, want %q", number, got[number], want)
		}
	}
	if n != len(got) || n < 1000 || wrong > 0 {
		t.Errorf("%d calls recorded of %d, %d with wrong buffers", len(got), n, wrong)
	}
}
