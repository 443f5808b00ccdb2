package timing

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// Drawn from means and from what the ranks found out at the end of a real run, the run looks as its single times say. Where ranks are much
// slower in some iterations, means alone draw it otherwise.
func TestDrawnWhereItWas(t *testing.T) {
	for _, x := range []struct {
		name, source string
		ranks        int
		args         []string
		place        float64 // at most, in percent
		better       bool
	}{
		{"both", "testdata/course.c", 4, []string{"both", "100", "10"}, 25, true},
		{"step", "testdata/course.c", 4, []string{"step", "200", "5"}, 25, true},
		{"sort", "../apps/sort.c", 4, []string{"-i", "200"}, 25, false},
		{"master", "../apps/master.c", 4, []string{"-i", "1000"}, 25, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			for _, m := range mpis.Need(t) {
				t.Run(m.Name, func(t *testing.T) {
					a := &app{t: t, job: mpis.Job{MPI: m, Dir: t.TempDir()}, ranks: x.ranks, args: x.args}
					if err := m.Compile(filepath.Join(a.job.Dir, "app"), x.source, "-I../apps", "-lm"); err != nil {
						t.Fatal(err)
					}
					r := a.trace("--timing", "lossless", "--waits", "always")
					w, err := r.When()
					if err != nil || w == nil {
						t.Fatal(w, err)
					}
					file, err := os.ReadFile(r.Name())
					if err != nil {
						t.Fatal(err)
					}
					a.marked(r.Name(), w)
					before, _ := mergetest.Unlike(t, r, mergetest.WithoutTimes(t, file, nil))
					without := mergetest.WithoutTimes(t, file, w)
					if x.better { // else calls are where means have them
						kept(t, r, without, w)
					}
					place, share := mergetest.Unlike(t, r, without)
					t.Logf("%.1f %% drawn elsewhere, shares %.2f %% off; without %.1f %%", 100*place, 100*share, 100*before)
					if 100*place > x.place || share > 0.01 || x.better && place > 0.8*before {
						t.Errorf("%.1f %% of the time is drawn elsewhere, without what ranks found %.1f %%; shares of computing are %.2f %% off", 100*place, 100*before, 100*share)
					}
				})
			}
		})
	}
}

// kept compares the calls of iterations whose times are kept with their true times: how long it takes from the beginning of one to that
// of another, and to its end.
func kept(t *testing.T, own, drawn *trace.Reader, w *trace.When) {
	t.Helper()
	for _, e := range w.Exemplars {
		for _, x := range e.Ranks {
			var lists [2][]trace.TimedTerminal
			for i, r := range []*trace.Reader{own, drawn} {
				k, err := r.Rank(x.Rank)
				if err != nil {
					t.Fatal(err)
				}
				rounds, err := k.WhenLoopIterations()
				if err != nil || rounds == nil {
					t.Fatal(rounds, err)
				}
				for c, err := range k.TimedTerminalsFrom(0, rounds.BeginPosition(e.Iteration)) {
					if err != nil {
						t.Fatal(err)
					}
					if c.Index == rounds.BeginPosition(e.Iteration+1) {
						break
					}
					lists[i] = append(lists[i], c)
					if m, err := k.MomentAt(0, c.EndNs()-1); i == 1 && c.EndNs() > c.StartNs && (err != nil || m.LastBegunCall.Call == nil || m.LastBegunCall.Index != c.Index) {
						t.Fatalf("rank %d: call %d is drawn until %d, and at that time there is another one; %v", x.Rank, c.Index, c.EndNs(), err)
					}
				}
			}
			a, b := lists[0], lists[1]
			for i := range a {
				for _, ns := range [2][2]int64{{a[i].StartNs - a[0].StartNs, b[i].StartNs - b[0].StartNs}, {a[i].EndNs() - a[i].StartNs, b[i].EndNs() - b[i].StartNs}} {
					if off := max(ns[0], ns[1]) - min(ns[0], ns[1]); off > ns[0]/40+int64(i)+10 {
						t.Errorf("rank %d, iteration %d, call %d: drawn %d ns, and it was %d", x.Rank, e.Iteration, i, ns[1], ns[0])
					}
				}
			}
		}
	}
}

// marked looks for what is found about iterations in traces for other tools.
func (a *app) marked(name string, w *trace.When) {
	a.t.Helper()
	found := 0
	for _, f := range w.Findings {
		if k := when.Kind(f.Kind); k == when.KindSlow || k == when.KindStep || k == when.KindPeriod {
			found++
		}
	}
	for _, x := range []struct{ to, file, mark string }{{"chrome", "marks.chrome", `"ph":"i"`}, {"perfetto", "marks.perfetto", "iteration"}, {"paraver", "marks.paraver/trace.prv", ":85000001:"}, {"otf2", "marks.otf2/traces.marker", "iteration"}} {
		a.spoor("export", "--to", x.to, "-f", "-o", "marks."+x.to, name)
		b, err := os.ReadFile(filepath.Join(a.job.Dir, x.file))
		if got := bytes.Count(b, []byte(x.mark)); err != nil && found > 0 || got < found || x.to != "perfetto" && x.to != "otf2" && got > found {
			a.t.Errorf("%s has %d marks of %d findings; %v", x.to, got, found, err)
		}
	}
}
