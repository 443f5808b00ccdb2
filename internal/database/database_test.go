package database

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/internal/analyse/profile"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// nowhere knows nothing of call sites.
func nowhere(string, trace.Site) symbolise.Place { return symbolise.Place{} }

func empty(t *testing.T) *DB {
	t.Helper()
	d, err := Open(filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// file writes a trace.
func file(t *testing.T, name string, ranks int, meta map[string]string, program func(*tracktest.Recorder)) (string, *trace.Reader) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, mergetest.File(t, tracktest.RunAll(ranks, program), meta), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return path, r
}

// one asks for a row of numbers.
func one(t *testing.T, d *DB, statement string) (row []any) {
	t.Helper()
	err := d.Query(statement, func([]string) error { return nil }, func(values []any) error {
		row = append([]any(nil), values...)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return row
}

// TestAdd: sums over the tables are what the overview and the matrix of the trace say.
func TestAdd(t *testing.T) {
	for name, program := range map[string]func(*tracktest.Recorder){"stencil": tracktest.Stencil(7), "workers": tracktest.Workers(30), "transpose": tracktest.Transpose(4)} {
		t.Run(name, func(t *testing.T) {
			d := empty(t)
			path, r := file(t, "a.spoor", 16, map[string]string{trace.MetaCommand: "bin/solver -n 4", "tag commit": "abc"}, program)
			id, added, err := d.Add(path, r, Options{NamePlace: nowhere, Tags: map[string]string{"machine": "this"}})
			if err != nil || !added || id != 1 {
				t.Fatalf("run %d, added %t: %v", id, added, err)
			}
			s, err := sums.Summarise(r)
			if err != nil {
				t.Fatal(err)
			}
			want := []any{"solver", int64(16), s.Calls, s.MPINs, s.SpanNs}
			if diff := cmp.Diff(want, one(t, d, "select app, ranks, calls, mpi_ns, span_ns from run")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]any{s.Calls, s.Calls, s.Calls}, one(t, d,
				"select (select sum(calls) from callsite), (select sum(calls) from function), (select sum(calls) from rank)")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]any{int64(0), int64(0)}, one(t, d, `select (select sum(ns) from callsite) - (select sum(ns) from function),
				(select sum(bytes_out) from callsite) - (select sum(bytes_out) from rank)`)); diff != "" {
				t.Error(diff)
			}
			total := matrix.Cell{}
			for _, o := range []matrix.Options{{PointToPoint: true}, {Collectives: true}, {RMA: true}} {
				m, err := matrix.Compute(r, o)
				if err != nil {
					t.Fatal(err)
				}
				total.Messages += m.Total.Messages
				total.Bytes += m.Total.Bytes
			}
			if diff := cmp.Diff([]any{int64(total.Messages), int64(total.Bytes)}, one(t, d, "select sum(messages), sum(bytes) from traffic")); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]any{"commit=abc machine=this"}, one(t, d, "select group_concat(name || '=' || value, ' ') from (select * from tag order by name)")); diff != "" {
				t.Error(diff)
			}

			// Once more it is only given another tag.
			id, added, err = d.Add(path, r, Options{NamePlace: nowhere, Tags: map[string]string{"commit": "def"}})
			if err != nil || added || id != 1 {
				t.Errorf("run %d, added %t: %v", id, added, err)
			}
			if diff := cmp.Diff([]any{int64(1), "def"}, one(t, d, "select count(*), (select value from tag where name = 'commit') from run")); diff != "" {
				t.Error(diff)
			}
			if x, err := d.Find("commit=def"); err != nil || x.ID != 1 {
				t.Errorf("%+v, %v", x, err)
			}
			if x, err := d.Find("a.spoor"); err != nil || x.ID != 1 {
				t.Errorf("%+v, %v", x, err)
			}
			if _, err := d.Find("other.spoor"); err == nil {
				t.Error("another trace was found")
			}
		})
	}
}

// TestProfiles: the code profile from the database is the one from the trace, in all styles, for each class, with the functions around
// calls, loops within loops, values from lanes and attached ones.
func TestProfiles(t *testing.T) {
	for name, program := range map[string]func(*tracktest.Recorder){
		"stencil": tracktest.Stencil(7), "workers": tracktest.Workers(30), "transpose": tracktest.Transpose(4), "counting": tracktest.Counting(20),
	} {
		t.Run(name, func(t *testing.T) {
			d := empty(t)
			path, r := file(t, "a.spoor", 9, map[string]string{trace.MetaCommand: "app"}, program)
			where := func(_ string, s trace.Site) symbolise.Place {
				return symbolise.Place{Frames: []symbolise.Frame{{Function: "solve", File: "/src/solve.c", Line: int(s.Offset)}}}
			}
			if _, _, err := d.Add(path, r, Options{NamePlace: where}); err != nil {
				t.Fatal(err)
			}
			run, err := d.Find("1")
			if err != nil {
				t.Fatal(err)
			}
			list, err := d.Profiles(run, -1, true)
			if err != nil || len(list) != r.Classes() {
				t.Fatalf("%d classes, want %d: %v", len(list), r.Classes(), err)
			}
			loops := 0
			for class, got := range list {
				want, err := profile.RankProfile(r, r.Members(class)[0], calltree.Options{Locate: where})
				if err != nil {
					t.Fatal(err)
				}
				want.Trace = got.Trace
				if diff := cmp.Diff(written(t, want), written(t, got)); diff != "" {
					t.Errorf("class %d:\n%s", class, diff)
				}
				one, err := d.Profiles(run, class, true)
				if err != nil || len(one) != 1 || cmp.Diff(written(t, got), written(t, one[0])) != "" {
					t.Errorf("class %d alone: %+v, %v", class, one, err)
				}
				loops += strings.Count(written(t, want), " times")
			}
			if n := one(t, d, "select count(*) from loop")[0].(int64); (n > 0) != (loops > 0) {
				t.Errorf("%d loops, and %d lines of them", n, loops)
			}
			if _, err := d.Profiles(run, 99, true); err == nil {
				t.Error("there is a class 99")
			}
			sums := one(t, d, `select (select sum(node.calls * size) from node join (select class, count(*) as size from rank group by class) using (class) where parent is null),
				(select sum(thread.calls * size) from thread join (select class, count(*) as size from rank group by class) using (class)),
				(select calls from run), (select max(varies) from thread)`)
			if sums[3].(int64) == 0 && (sums[0] != sums[2] || sums[1] != sums[2]) {
				t.Errorf("calls of nodes, threads and the run: %v", sums)
			}
		})
	}
}

// written is a profile as text and as JSON.
func written(t *testing.T, p *profile.Profile) string {
	t.Helper()
	var b strings.Builder
	p.Text(&b, profile.View{Width: 120, MinTimeNs: 0, ExpandedLoopDepth: -1})
	text, err := json.Marshal(p.Threads)
	if err != nil {
		t.Fatal(err)
	}
	return b.String() + string(text)
}

// TestPredict: what simulations say stands beside the run, one of each machine.
func TestPredict(t *testing.T) {
	d := empty(t)
	path, r := file(t, "a.spoor", 4, nil, tracktest.Stencil(3))
	id, _, err := d.Add(path, r, Options{NamePlace: nowhere})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []traced.Prediction{
		{Machine: "slow", EndPs: 9_000_000}, {Machine: "fast", EndPs: 5_000_000, Ranks: []dataflow.RankTime{{WaitPs: 4000}, {WaitPs: 8000}}},
		{Machine: "slow", EndPs: 7_500_000, Unmodelled: []traced.Unmodelled{{RecordedShare: 0.25}, {RecordedShare: 0.125}}},
	} {
		if err := d.StorePrediction(id, &p); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]any{int64(2), 7500.0, 0.375, 6.0}, one(t, d, `select count(*), max(end_ns), max(not_modelled),
		(select wait_ns from prediction where machine = 'fast') from prediction`)); diff != "" {
		t.Error(diff)
	}
	if err := d.StorePrediction(77, &traced.Prediction{Machine: "slow"}); err == nil {
		t.Error("a prediction of no run")
	}
}

// TestValues: what counters attached to calls adds up.
func TestValues(t *testing.T) {
	tracks := tracktest.RunAll(4, tracktest.Stencil(3))
	want := int64(0)
	for _, x := range tracks {
		list := make([]model.AttachedStat, len(x.Signatures))
		for i := range list {
			list[i].Add(int64(10 * (i + 1)))
			want += int64(10 * (i + 1))
		}
		x.AttachedStats = map[string][]model.AttachedStat{"cycles": list}
	}
	path := filepath.Join(t.TempDir(), "a.spoor")
	if err := os.WriteFile(path, mergetest.File(t, tracks, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d := empty(t)
	if _, _, err := d.Add(path, r, Options{NamePlace: nowhere}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{want, "cycles", "cycles"}, one(t, d, "select sum(sum), min(name), max(name) from value")); diff != "" {
		t.Error(diff)
	}
	if list, err := d.List(); err != nil || len(list) != 1 || list[0].Ranks != 4 || len(list[0].Tags) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestSites: call sites of two builds are the same where function, calling function, file and order are, though
// addresses and lines are not.
func TestSites(t *testing.T) {
	d := empty(t)
	program := func(shift int) func(*tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			r.Begin()
			r.Allreduce(10+shift, 1)
			r.Allreduce(11+shift, 1)
			r.Allreduce(50+shift, 1)
			r.End()
		}
	}
	var offsets [2][]uint64
	for i, shift := range []int{0, 3} {
		path, r := file(t, "app.spoor", 2, map[string]string{trace.MetaCommand: "app", trace.MetaStart: []string{"1", "2"}[i]}, program(shift))
		k, err := r.Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		for term := range k.Terminals() {
			c, err := k.Terminal(term)
			if err != nil {
				t.Fatal(err)
			}
			if c.Name() == "MPI_Allreduce" {
				offsets[i] = append(offsets[i], c.Site.Offset)
			}
		}
		last := offsets[i][len(offsets[i])-1]
		_, _, err = d.Add(path, r, Options{NamePlace: func(_ string, s trace.Site) symbolise.Place {
			f := symbolise.Frame{Function: "solve", File: "/src/solve.c", Line: int(s.Offset)}
			if s.Offset >= last {
				f = symbolise.Frame{Function: "report", File: "/src/report.c", Line: int(s.Offset)}
			}
			return symbolise.Place{Frames: []symbolise.Frame{f}}
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if offsets[0][0] == offsets[1][0] {
		t.Fatal("both builds are the same")
	}
	a, _ := d.Find("1")
	b, _ := d.Find("2")
	c, err := d.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	places := make(map[string]bool)
	for _, s := range c.Sites {
		if s.Number(0, "calls") != s.Number(1, "calls") || s.Number(0, "calls") == 0 {
			t.Errorf("%+v", s)
		}
		if s.Function == "MPI_Allreduce" {
			places[s.Symbol+" "+s.File+" "+string(rune('0'+s.IndexInFunction))] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{"solve solve.c 0": true, "solve solve.c 1": true, "report report.c 0": true}, places); diff != "" {
		t.Error(diff)
	}
}

// made is a run that never was.
func (d *DB) made(t *testing.T, app, commit string, ranks, started int, mpi float64, of map[string]float64) {
	t.Helper()
	tx, err := d.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{tx: tx}
	f := &facts{index: make(map[trace.FunctionSite]int), summary: &sums.Summary{Command: app + " -x", Ranks: ranks, StartWallClockNs: int64(started), MPINs: int64(mpi)}}
	f.table, f.known.HasTimes = &sums.Table{}, true
	for name, ns := range of {
		at, sum := trace.FunctionSite{Function: name}, trace.Stat{Count: 1, Sum: uint64(ns * float64(ranks))}
		f.table.Rows = append(f.table.Rows, sums.ClassRow{FunctionSite: at, CallSums: sums.CallSums{Calls: 1, Duration: sum}})
		f.totals = append(f.totals, sites.Site{FunctionSite: at, CallSums: sums.CallSums{Calls: 1, Duration: sum}})
		f.rows = append(f.rows, len(f.sites))
		f.index[at] = len(f.sites)
		f.sites = append(f.sites, site{function: name, module: app, symbol: "main"})
	}
	f.table.Classes = []sums.ClassSums{{Members: make([]int, ranks)}}
	id := w.run(f, strings.Join([]string{app, commit, string(rune(started + 1000))}, " "), app+".spoor")
	w.parts(id, f)
	w.tags(id, map[string]string{"commit": commit})
	if w.err == nil {
		w.err = tx.Commit()
	}
	if w.err != nil {
		t.Fatal(w.err)
	}
}

// TestRegress: runs are put in order, told apart by program and ranks, and the first worse commit is found.
func TestRegress(t *testing.T) {
	d := empty(t)
	for i, ns := range []float64{100, 102, 98, 101, 99, 100, 140, 139, 141, 60} {
		d.made(t, "solver", []string{"a", "b", "c", "d"}[i/3], 4, i, 1e6*ns, nil)
	}
	for i := range 4 { // twice the ranks take longer, and that is no regression
		d.made(t, "solver", []string{"a", "b", "c", "d"}[i], 8, 50+i, 3e8, nil)
		d.made(t, "other", "a", 4, 100+i, 1e9, nil)
	}
	tracks, err := d.RunHistories(TrendQuery{Tag: "commit", Metric: "mpi_ns", Threshold: 0.1, Program: "solver"})
	if err != nil || len(tracks) != 2 {
		t.Fatalf("%+v, %v", tracks, err)
	}
	if got := verdicts(tracks[0].Steps); tracks[0].Ranks != 4 || tracks[0].FirstWorseTagValue != "c" || cmp.Diff([]string{"a same", "b same", "c more", "d less"}, got) != "" {
		t.Errorf("%+v", tracks[0])
	}
	if s := tracks[0].Steps[2]; s.Median != 140e6 || s.Runs != 3 {
		t.Errorf("%+v", s)
	}
	if tracks[1].Ranks != 8 || tracks[1].FirstWorseTagValue != "" {
		t.Errorf("%+v", tracks[1])
	}
	if tracks, err := d.RunHistories(TrendQuery{Tag: "commit", Metric: "mpi_ns", Threshold: 0.1}); err != nil || len(tracks) != 3 {
		t.Errorf("%+v, %v", tracks, err)
	}
	if _, err := d.RunHistories(TrendQuery{Tag: "commit", Metric: "ns; drop table run"}); err == nil {
		t.Error("took a metric that there is not")
	}
}

// TestScale: the site that grows fastest is named first, though it takes least so far.
func TestScale(t *testing.T) {
	d := empty(t)
	for i, p := range []int{4, 9, 16, 25} {
		x := float64(p)
		d.made(t, "solver", "a", p, i, 0, map[string]float64{"MPI_Allreduce": 100000, "MPI_Alltoall": 50 * x * x, "MPI_Send": 1e6 / x})
	}
	if few, err := d.FitGrowth("", 0); err != nil || few.HasLaws || len(few.Sites) != 3 || few.Sites[0].Site.Function != "MPI_Allreduce" || few.Sites[2].MeasuredNsAt(9) != 50*9*9 {
		t.Errorf("four numbers of ranks: %+v, %v", few, err)
	}
	d.made(t, "solver", "a", 36, 9, 0, map[string]float64{"MPI_Allreduce": 100000, "MPI_Alltoall": 50 * 36 * 36, "MPI_Send": 1e6 / 36, "MPI_Bcast": 7})
	s, err := d.FitGrowth("", 0)
	if err != nil || !s.HasLaws || s.SkippedSites != 1 || s.PredictedRanks != 360 {
		t.Fatalf("%+v, %v", s, err)
	}
	var got []string
	for _, g := range s.Sites {
		got = append(got, g.Site.Function+" "+g.GrowthOrder)
	}
	if diff := cmp.Diff([]string{"MPI_Alltoall p^2", "MPI_Allreduce 1", "MPI_Send p^-1"}, got); diff != "" {
		t.Error(diff)
	}
	if g := s.Sites[0]; g.PredictedNsPerRank < 50*360*360*0.999 || g.PredictedNsPerRank > 50*360*360*1.001 || g.PredictedShare < 0.97 {
		t.Errorf("%+v", g)
	}
	// Each function is called once in each run: 1/p times by a rank.
	if s, err = d.FitGrowth("", 100); err != nil || s.PredictedRanks != 100 || math.Abs(s.Sites[0].PredictedCallsPerRank.Value-0.01) > 1e-6 || s.Sites[0].PredictedBytesPerRank.Value != 0 {
		t.Errorf("at 100 ranks: %+v, %v", s, err)
	}
	d.made(t, "other", "a", 4, 20, 0, nil)
	if _, err := d.FitGrowth("", 0); err == nil || !strings.Contains(err.Error(), "choose one of") {
		t.Errorf("two programs: %v", err)
	}
}

// TestForeign: files that are something else are left alone.
func TestForeign(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes")
	if err := os.WriteFile(path, []byte("no database, but a file that somebody wrote\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if d, err := Open(path); err == nil {
		d.Close()
		t.Error("opened a text")
	}
	d, err := connect(filepath.Join(t.TempDir(), "other.db"), "rwc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.db.Exec("create table mine (x)"); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if _, err := Open(d.path); err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("somebody's database: %v", err)
	}
	if _, err := OpenReadOnly(filepath.Join(t.TempDir(), "none.db")); err == nil || !strings.Contains(err.Error(), "no such database") {
		t.Errorf("no file: %v", err)
	}
}

// TestDocument: the statements in the documentation run.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/database.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, ok := strings.Cut(string(text), "```sql\n")
	block, _, closed := strings.Cut(block, "```")
	if !ok || !closed {
		t.Fatal("no SQL in it")
	}
	d := empty(t)
	for _, statement := range strings.Split(strings.TrimSuffix(strings.TrimSpace(block), ";"), ";") {
		err := d.Query(statement, func([]string) error { return nil }, func([]any) error { return nil })
		if err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
}

// BenchmarkAdd adds a trace of many ranks.
func BenchmarkAdd(b *testing.B) {
	path := filepath.Join(b.TempDir(), "many.spoor")
	if err := os.WriteFile(path, mergetest.File(b, tracktest.RunAll(1024, tracktest.Stencil(20)), nil), 0o666); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := trace.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		d, err := Open(filepath.Join(b.TempDir(), "x.db"))
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := d.Add(path, r, Options{NamePlace: nowhere}); err != nil {
			b.Fatal(err)
		}
		d.Close()
		r.Close()
	}
}

// What was waited stands at the call sites with their stacks: all of it, or what the trace keeps. A run without wait states has none.
func TestWaiting(t *testing.T) {
	d := empty(t)
	for _, name := range []string{"cg-exact", "sort", "cg"} {
		path := filepath.Join("../../test/powers/testdata", name+".spoor")
		r, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if _, _, err := d.Add(path, r, Options{NamePlace: nowhere}); err != nil {
			t.Fatal(err)
		}
	}
	got := one(t, d, `select (select waited_ns - (select sum(waited_ns) from waiting where run = 1) from run where id = 1),
		(select waited_ns - (select sum(waited_ns) from waiting where run = 2) between 0 and waited_ns / 5 from run where id = 2), (select waited_ns from run where id = 3), (select count(*) from waiting where run = 3)`)
	if diff := cmp.Diff([]any{int64(0), int64(1), nil, int64(0)}, got); diff != "" {
		t.Error(diff)
	}
}
