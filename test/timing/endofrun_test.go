package timing

import (
	"bytes"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// What ranks find out at the end of a real run is what is found in the trace that has all times of the same run: with messages of all
// kinds, several threads, tracing switched off, and clocks that differ.
func TestEndOfRun(t *testing.T) {
	skewed := []string{"SPOOR_CLOCK_SKEW=1:200000000:100:0"}
	for _, x := range []struct {
		source string
		ranks  int
		args   []string
		env    []string
	}{
		{"../apps/heat2d.c", 4, nil, nil}, {"../apps/cg.c", 2, nil, nil}, {"../apps/ocean.c", 4, nil, nil}, {"../apps/sort.c", 16, nil, nil}, {"../apps/master.c", 4, nil, nil},
		{"../mpi/wildcards.c", 4, nil, nil}, {"../mpi/persistent.c", 3, nil, nil}, {"../mpi/icollectives.c", 4, nil, nil}, {"../mpi/persistent_collectives.c", 4, nil, nil},
		{"../mpi/threads.c", 2, nil, nil}, {"../mpi/pcontrol.c", 2, nil, nil}, {"../mpi/commsplit.c", 4, nil, nil}, {"../mpi/rma_fence.c", 3, nil, nil},
		{"testdata/waits.c", 4, nil, skewed}, {"testdata/filewaits.c", 4, nil, nil}, {"testdata/windowwaits.c", 4, nil, nil}, {"../mpi/rma_pscw.c", 4, nil, nil}, {"../mpi/rma_lock.c", 4, nil, nil}, {"testdata/interwaits.c", 4, nil, nil}, {"../mpi/intercomm.c", 4, nil, nil}, {"testdata/probewaits.c", 4, nil, nil}, {"../mpi/mprobe.c", 2, nil, nil}, {"../mpi/neighbours.c", 4, nil, nil},
	} {
		t.Run(filepath.Base(x.source), func(t *testing.T) {
			t.Parallel()
			for _, m := range mpis.Need(t) {
				if p, err := mpis.ReadProgram(x.source); err == nil && filepath.Dir(x.source) == "../mpi" && !p.RunsOn(m) {
					continue
				}
				t.Run(m.Name, func(t *testing.T) {
					a := &app{t: t, job: mpis.Job{MPI: m, Dir: t.TempDir(), Env: append(x.env, "SPOOR_NO_DELAYS=1")}, ranks: x.ranks, args: x.args}
					if err := m.Compile(filepath.Join(a.job.Dir, "app"), x.source, "-I../apps", "-I../mpi", "-pthread", "-lm"); err != nil {
						t.Fatal(err)
					}
					mpis.Steady(t, func(complain func(string, ...any)) {
						r := a.trace("--timing", "lossless", "--waits", "always")
						sameWaits(t, r)
						sameWhen(t, r, x.source == "../mpi/pcontrol.c", complain)
					})
				})
			}
		})
	}
}

// mostAsides is how many times of the recorder's a trace keeps apart.
const mostAsides = 32

// sameWhen compares byte by byte, but where tracing was switched off, or where the recorder often worked between calls: there times of a
// trace are a little off.
func sameWhen(t *testing.T, r *trace.Reader, off bool, complain func(string, ...any)) {
	t.Helper()
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			t.Fatal(err)
		}
		p, err := k.Process()
		if err != nil {
			t.Fatal(err)
		}
		off = off || len(p.Asides) >= mostAsides/2
	}
	want, err := when.AnalyseTimes(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.When()
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	if off && cmp.Equal(want.Loop, got.Loop) && len(want.ColumnWidthNs) == len(got.ColumnWidthNs) && len(want.Rows) == len(got.Rows) {
		return
	}
	if !bytes.Equal(sections.AppendWhen(nil, want), sections.AppendWhen(nil, got)) {
		complain("with all times, and at the end of the run: %s", cmp.Diff(want, got))
	}
}

func sameWaits(t *testing.T, r *trace.Reader) {
	t.Helper()
	name := func(function string, s trace.Site) string { return filepath.Base(s.Module) }
	want, err := waits.Analyse(r, waits.Options{NameSite: name, WithPath: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := waits.FromTrace(r, name)
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	near := func(a, b int64) bool { return math.Abs(float64(a-b)) <= 1000+0.012*float64(max(a, b)) }
	if want.Messages != got.Messages || want.MaxThreads != got.MaxThreads || !near(want.ThreadRunNs, got.ThreadRunNs) || !near(want.MPINs, got.MPINs) || !near(want.WaitedNs, got.WaitedNs) {
		t.Errorf("with all times %d messages, %d ns in MPI, %d waited; at the end of the run %d, %d, %d", want.Messages, want.MPINs, want.WaitedNs, got.Messages, got.MPINs, got.WaitedNs)
	}
	counts := make(map[waits.Kind]uint64)
	for _, k := range want.Kinds {
		counts[k.Kind] = k.Count
	}
	for _, k := range got.Kinds {
		if d := int64(counts[k.Kind]) - int64(k.Count); d < -2 || d > 2 {
			t.Errorf("%s: %d calls with all times, %d at the end of the run", k.Kind, counts[k.Kind], k.Count)
		}
	}
	for i, w := range want.ByRank {
		if g := got.ByRank[i]; w.Rank != g.Rank || !near(w.WaitedNs, g.WaitedNs) || !near(w.CausedWaitNs, g.CausedWaitNs) {
			t.Errorf("with all times %+v, at the end of the run %+v", w, g)
		}
	}
	if p, q := want.Path, got.Path; p == nil || q == nil || !near(p.LengthNs, q.LengthNs) || p.EndRank != q.EndRank && p.LengthNs > 1e6 {
		t.Errorf("path: with all times %+v, at the end of the run %+v", p, q)
	}
}
