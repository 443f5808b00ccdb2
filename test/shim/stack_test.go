package shim

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// Stacks are those that the program had, however it was compiled, and one that
// makes no sense does no harm.
func TestStacksInC(t *testing.T) {
	again := func(n int) string { return "leaf" + strings.Repeat(" again", n) + " main" }
	want := map[int64][]string{
		1: {"leaf one main"},
		2: {"leaf two main"},
		3: {"leaf varying main"},
		4: {"leaf varying aligned main"},
		5: {again(1), again(2), again(3)},
		6: {"leaf main"},
	}
	for _, build := range []struct {
		name  string
		flags string
		mpi   []string
	}{
		{"plain", "-O2", []string{"mpich", "openmpi"}},
		{"frame-pointers", "-O1 -fno-omit-frame-pointer", []string{"openmpi"}},
		{"unoptimised", "-O0", []string{"mpich"}},
		{"no-tables", "-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer", []string{"openmpi"}},
	} {
		for _, m := range mpis.Need(t) {
			if !slices.Contains(build.mpi, m.Name) {
				continue
			}
			t.Run(build.name+"/"+m.Name, func(t *testing.T) {
				t.Parallel()
				got := stacks(t, m, m.CC, "stacks.c", strings.Fields(build.flags+" -fno-optimize-sibling-calls -fno-ipa-icf -pthread"))
				for tag, list := range want {
					if !slices.Equal(got[tag], list) {
						t.Errorf("tag %d: %q, want %q", tag, got[tag], list)
					}
				}
				for _, s := range got[7] {
					if !strings.HasPrefix(s, "broken") {
						t.Errorf("broken: %q", s)
					}
				}
				// Behind a thread's function is the C library.
				for _, s := range got[8] {
					if !strings.HasPrefix(s, "leaf again again again in_thread") {
						t.Errorf("in a thread: %q", s)
					}
				}
				if len(got[7]) == 0 || len(got[8]) == 0 {
					t.Errorf("broken %q, in a thread %q", got[7], got[8])
				}
			})
		}
	}
}

func TestStacksInFortran(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			got := stacks(t, m, m.Fort, "stacks.f90", strings.Fields("-O1 -fno-optimize-sibling-calls -fno-inline"))
			want := map[int64][]string{
				1: {"__layers_MOD_leaf inner __layers_MOD_upper MAIN__ main"},
				2: {"__layers_MOD_leaf __layers_MOD_again MAIN__ main", "__layers_MOD_leaf __layers_MOD_again __layers_MOD_again MAIN__ main"},
				3: {"old_ MAIN__ main"},
			}
			for tag, list := range want {
				if !slices.Equal(got[tag], list) {
					t.Errorf("tag %d: %q, want %q", tag, got[tag], list)
				}
			}
		})
	}
}

// stacks runs a program on one rank and returns the stacks of its MPI_Iprobe by
// tag, each as the names of its functions, in order.
func stacks(t *testing.T, m *mpis.MPI, compiler, source string, flags []string) map[int64][]string {
	shim := library(t)
	dir, scratch := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "stacks")
	args := append(flags, "-w", "-J", dir, "-o", program, filepath.Join("testdata", source))
	if strings.HasSuffix(source, ".c") {
		args = slices.DeleteFunc(args, func(s string) bool { return s == "-J" || s == dir })
	}
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	r := run(t, m, dir, []string{"LD_PRELOAD=" + shim, "SPOOR_SCRATCH=" + scratch, "SPOOR_STACK=8"}, 1, program)
	if said := spoorLines(r); r.Err != nil || len(said) > 0 {
		t.Fatalf("%v\n%s%s", r.Err, r.Stdout, r.Stderr)
	}
	checkFiles(t, dir, scratch, true)
	read, err := trace.Open(filepath.Join(dir, "stacks.spoor"))
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if err := trace.Check(read); err != nil {
		t.Fatal(err)
	}
	k, err := read.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	name := namer(t, program)
	list := make(map[int64][]string)
	for i := range k.Terminals() {
		c, err := k.Terminal(i)
		if err != nil {
			t.Fatal(err)
		}
		if c.Name() != "MPI_Iprobe" {
			continue
		}
		var names []string
		for _, f := range c.Site.Frames() {
			if n := name(f); n != "" {
				names = append(names, n)
			}
		}
		tag, s := c.Param("tag").In.Num, strings.Join(names, " ")
		if !slices.Contains(list[tag], s) {
			list[tag] = append(list[tag], s)
		}
	}
	for _, l := range list {
		slices.SortFunc(l, func(a, b string) int { return len(a) - len(b) })
	}
	return list
}

// namer finds the names of a program's functions; "" for what is elsewhere.
func namer(t *testing.T, program string) func(s trace.Site) string {
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return func(s trace.Site) string {
		if filepath.Base(s.Module) != filepath.Base(program) {
			return ""
		}
		for _, y := range symbols {
			if elf.ST_TYPE(y.Info) == elf.STT_FUNC && s.Offset > y.Value && s.Offset <= y.Value+y.Size {
				name, _, _ := strings.Cut(y.Name, ".") // before what the compiler adds
				return name
			}
		}
		return "?"
	}
}
