package shim

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// jump runs jumps.cc one way and returns what it printed and its trace.
func jump(t *testing.T, m *mpis.MPI, program string, args ...string) (string, *trace.Reader) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "trace.spoor")
	env := []string{"LD_PRELOAD=" + library(t), "SPOOR_SCRATCH=" + dir, "SPOOR_OUT=" + file}
	r := run(t, m, dir, env, 1, append([]string{program}, args...)...)
	if said := spoorLines(r); r.Err != nil || len(said) > 0 {
		t.Fatalf("%v, and spoor says %q", r, said)
	}
	tr, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	if err := trace.Check(tr); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(r.Stdout), tr
}

// made lists the calls of a stream of rank 0 between MPI_Init_thread and MPI_Finalize, those
// left as such. Calls that only prepare are not listed.
func made(t *testing.T, tr *trace.Reader, stream int) []string {
	t.Helper()
	rank, err := tr.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for call, err := range rank.Calls(stream) {
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(call.Name(), "MPI_")
		switch {
		case strings.Contains(name, "create"), strings.Contains(name, "_set_"), strings.HasPrefix(name, "Grequest"):
			continue
		case call.Return == trace.ReturnCodeLeftByJump:
			name += " left"
		case call.Return != 0:
			name += " " + call.ReturnName()
		}
		list = append(list, name)
	}
	if stream > 0 {
		return list
	}
	if len(list) < 2 || list[0] != "Init_thread" || list[len(list)-1] != "Finalize" {
		t.Fatalf("%q", list)
	}
	return list[1 : len(list)-1]
}

// Calls that are left by longjmp or an exception are in the trace as such, and all else
// as if there were none.
func TestJumps(t *testing.T) {
	repeat := func(n int, names ...string) []string { return slices.Repeat(names, n) }
	for _, m := range mpis.Need(t) {
		program := compile(t, m.CC, "jumps.cc", "jumps")
		for way, want := range map[string][]string{
			"deep":       append([]string{"Send left"}, repeat(50, "Reduce_local", "Barrier")...),
			"exceptions": repeat(50, "Send left", "Barrier"),
			"inside":     repeat(50, "Send left", "Error_class"),
			"callbacks": {"Reduce_local left", "Comm_dup left", "Barrier", "Comm_delete_attr left", "Wait left",
				"Barrier"},
			"nested":    repeat(3, "Reduce_local", "Send left"),
			"coroutine": repeat(3, "Reduce_local", "Barrier"),
		} {
			t.Run(m.Name+"/"+way, func(t *testing.T) {
				t.Parallel()
				_, tr := jump(t, m, program, way, "50")
				if d := cmp.Diff(want, made(t, tr, 0)); d != "" {
					t.Errorf("calls (-want +got):\n%s", d)
				}
				if n := lost(t, tr); n > 0 {
					t.Errorf("%d calls are lost", n)
				}
			})
		}
		t.Run(m.Name+"/ends", func(t *testing.T) {
			t.Parallel()
			_, tr := jump(t, m, program, "ends", "5")
			if d := cmp.Diff(repeat(5, "Send left"), made(t, tr, 1)); d != "" {
				t.Errorf("calls of the threads (-want +got):\n%s", d)
			}
		})
	}
}

// However often calls are left, the recorder takes no more memory: 100,000 calls that stay
// open take some 50 MB.
func TestManyJumps(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			const n = 100000
			program := compile(t, m.CC, "jumps.cc", "jumps")
			plain := mpis.Job{MPI: m, Dir: t.TempDir(), Temp: t.TempDir()}.Baseline(t.Logf, m.Command(1, program, "loop", fmt.Sprint(n))...)
			said, tr := jump(t, m, program, "loop", fmt.Sprint(n))
			var alone, traced int
			if _, err := fmt.Sscan(plain.Stdout+said, &alone, &traced); err != nil {
				t.Fatalf("%q, %q: %v", plain.Stdout, said, err)
			}
			if traced-alone > 8<<10 {
				t.Errorf("memory grows by %d KB, without spoor by %d KB", traced, alone)
			}
			if got := made(t, tr, 0); !slices.Equal(got, slices.Repeat([]string{"Send left", "Barrier"}, n)) {
				t.Errorf("%d calls, starting with %q", len(got), got[:min(len(got), 8)])
			}
			rank, err := tr.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			if k := rank.Terminals(); k > 8 {
				t.Errorf("%d distinct calls", k)
			}
		})
	}
}

// A signal handler leaves by siglongjmp whatever it interrupts: a call, or the writing of
// its records. Each call that came to its end is in the trace or counted as lost.
func TestJumpsOfSignals(t *testing.T) {
	for _, m := range mpis.Need(t) {
		program := compile(t, m.CC, "jumps.cc", "jumps")
		for _, way := range []string{"signals", "aside"} {
			t.Run(m.Name+"/"+way, func(t *testing.T) {
				t.Parallel()
				said, tr := jump(t, m, program, way, "1500")
				var ended, left int
				if _, err := fmt.Sscan(said, &ended, &left); err != nil {
					t.Fatalf("%q: %v", said, err)
				}
				got := map[string]int{}
				list := made(t, tr, 0)
				for _, name := range list {
					got[name]++
				}
				// a call may be through while what the program counts isn't
				if n := got["Comm_rank"]; n < ended-int(lost(t, tr)) || n > ended+left || got["Comm_rank left"] > left {
					t.Errorf("%v and %d lost, %d ended and %d may have been left", got, lost(t, tr), ended, left)
				}
				if n := got["Comm_rank never returned"]; n > 0 {
					t.Errorf("%d calls are taken to be under way", n)
				}
				if n := int(lost(t, tr)); n > left {
					t.Errorf("%d calls lost with %d jumps", n, left)
				}
				if !slices.Equal(list[len(list)-100:], slices.Repeat([]string{"Barrier"}, 100)) {
					t.Errorf("it ends with %q", list[len(list)-100:])
				}
				t.Logf("%v of %d calls and %d jumps, %d lost", got, ended, left, lost(t, tr))
			})
		}
	}
}
