package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// What signal handlers call at any instant, in any thread, is recorded where it happened
// or counted as lost, and takes nothing else away.
func TestHandlers(t *testing.T) {
	ms := 700
	if os.Getenv("SPOOR_LONG") != "" {
		ms = 10000
	}
	for _, m := range mpis.Need(t) {
		for _, ring := range []int{64 << 10, 1 << 20} {
			t.Run(fmt.Sprintf("%s/ring %d", m.Name, ring), func(t *testing.T) {
				t.Parallel()
				recordHandlers(t, m, []string{fmt.Sprint("SPOOR_RING=", ring)}, compile(t, m.CC, "handlers.c", "handlers"), ms)
			})
		}
	}
}

// A thread's first call may come from a handler while the thread has the C library's lock of
// itself: the recorder must not want it, too.
func TestHandlerInLibrary(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "trace.spoor")
			env := []string{"LD_PRELOAD=" + library(t), "SPOOR_SCRATCH=" + dir, "SPOOR_OUT=" + file}
			r := run(t, m, dir, env, 1, compile(t, m.CC, "asked.c", "asked"))
			if r.Err != nil || r.Stdout != "3\n" || len(spoorLines(r)) > 0 {
				t.Fatal(r)
			}
			tr, err := trace.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Close()
			rank, err := tr.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for s := range rank.Streams() {
				for c, err := range rank.Calls(s) {
					if err != nil {
						t.Fatal(err)
					}
					if c.Name() == "MPI_Initialized" {
						n++
					}
				}
			}
			if n != 3 {
				t.Errorf("%d calls of handlers are recorded, 3 were made", n)
			}
		})
	}
}

// recordHandlers runs handlers.c and compares what it counted with the trace.
func recordHandlers(t *testing.T, m *mpis.MPI, env []string, program string, ms int) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "trace.spoor")
	env = append([]string{"LD_PRELOAD=" + library(t), "SPOOR_SCRATCH=" + dir, "SPOOR_OUT=" + file}, env...)
	r := run(t, m, dir, env, 1, program, fmt.Sprint(ms))
	var handled int
	var made [3]int
	if _, err := fmt.Sscan(r.Stdout, &handled, &made[0], &made[1], &made[2]); err != nil || r.Err != nil || len(spoorLines(r)) > 0 {
		t.Fatalf("%v: %v", err, r)
	}
	tr, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	checkHandled(t, tr, handled, made)
}

func checkHandled(t *testing.T, tr *trace.Reader, handled int, made [3]int) {
	t.Helper()
	rank, err := tr.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	recorded := 0
	var got [3]int
	for s := range rank.Streams() {
		var thread, n int
		open := "" // made something that the next call must end
		for call, err := range rank.Calls(s) {
			if err != nil {
				t.Fatal(err)
			}
			count := -1
			switch name := call.Name(); name {
			case "MPI_Initialized", "MPI_Wtime", "MPI_Comm_rank":
				recorded++
			case "MPI_Send", "MPI_Isend":
				if thread = int(call.Param("tag").In.Num); thread < 0 || thread > 2 {
					t.Fatalf("tag %d", thread)
				}
				count = int(call.Param("count").In.Num)
			case "MPI_Type_contiguous":
				count = int(call.Param("count").In.Num)
			case "MPI_Wait":
				if open != "MPI_Isend" {
					t.Fatalf("MPI_Wait after %q", open)
				}
				open = ""
			case "MPI_Type_free":
				if open != "MPI_Type_contiguous" {
					t.Fatalf("MPI_Type_free after %q", open)
				}
				open = ""
			}
			if count < 0 {
				continue
			}
			if n++; count != n || open != "" {
				t.Fatalf("stream %d: call %d where %d has to be, after %q", s, count, n, open)
			}
			if call.Name() != "MPI_Send" {
				open = call.Name()
			}
		}
		if n > 0 {
			got[thread] = n
		}
	}
	n := lost(t, tr)
	if got != made {
		t.Errorf("recorded %v calls of the threads, want %v", got, made)
	}
	if recorded+int(n) != handled {
		t.Errorf("recorded %d calls of handlers and lost %d, want %d in all", recorded, n, handled)
	}
	t.Logf("%d calls of handlers among %v, %d not recorded", handled, made, n)
}
