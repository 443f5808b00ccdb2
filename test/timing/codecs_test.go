package timing

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// A codecRow is what `spoor timing --json` says of a codec.
type codecRow struct {
	Codec           string
	Values, Bytes   int64
	Ratio           float64
	Gaps, Durations struct {
		Bytes int64
		Ratio float64
		PSNR  *float64
	}
	MaxError   *float64 `json:"max_relative_error"`
	MaxErrorNs float64  `json:"max_error_ns"`
}

func (a *app) codecRows(flags ...string) map[string]codecRow {
	a.t.Helper()
	var rep struct{ Codecs []codecRow }
	a.json(&rep, append([]string{"timing", "--json", "t.spoor"}, flags...)...)
	rows := make(map[string]codecRow)
	for _, r := range rep.Codecs {
		rows[r.Codec] = r
	}
	return rows
}

// codecs looks at what is said of times that are coded again: how many there are, and that no error is
// above what was asked for.
func (c *cell) codecs() {
	if c.word == refused {
		why := "lossless"
		if !c.r.HasTimes() {
			why = "no times"
		}
		c.refuses(why, "timing", "t.spoor")
		return
	}
	values := int64(2 * c.truth.all(-1).calls)
	for _, asked := range []struct {
		flag      string
		share, ns float64
	}{{"0.02", 0.02, math.Inf(1)}, {"20us", math.Inf(1), 20e3}} {
		rows := c.codecRows("--error", asked.flag)
		for _, name := range []string{"raw", "zstd", "lossless", "cfg", "hist-sig", "sz", "sz-sig", "zfp", "zfp-sig", "place"} {
			r, ok := rows[name]
			exact := name == "raw" || name == "zstd" || name == "lossless"
			switch {
			case !ok:
				c.t.Errorf("timing: no %s", name)
			case r.Values != values || math.Abs(r.Ratio-8*float64(values)/float64(r.Bytes)) > 1e-9 || name == "raw" && r.Bytes != 8*values:
				c.t.Errorf("timing: %+v, there are %d times", r, values)
			case exact && (r.MaxErrorNs != 0 || r.MaxError == nil || *r.MaxError != 0 || r.Gaps.PSNR != nil || r.Durations.PSNR != nil):
				c.t.Errorf("timing: %+v is to be exact", r)
			case exact:
			case r.MaxErrorNs > asked.ns || !math.IsInf(asked.share, 1) && (r.MaxError == nil || *r.MaxError > asked.share):
				c.t.Errorf("timing: %+v, --error %s", r, asked.flag)
			case r.Durations.PSNR == nil || !c.likely(*r.Durations.PSNR, r.MaxErrorNs):
				c.t.Errorf("timing: %+v: PSNR of durations", r)
			}
		}
	}
}

// likely reports whether a PSNR can be of the program's durations, none of which is off by more than the error.
func (c *cell) likely(psnr, ns float64) bool {
	all := c.truth.all(-1)
	return psnr >= 20*math.Log10((all.most.low-all.least.high)*0.99/ns)
}

// A run with a codec takes what `spoor timing` said that it would take of times as they were in another run.
func TestCodecBytes(t *testing.T) {
	a := buildKnown(t, mpis.Need(t)[0])
	for _, m := range timing.Modes {
		if !m.Lossy() {
			continue
		}
		mpis.Steady(t, func(complain func(string, ...any)) { codecBytes(a, m, complain) })
	}
}

// codecBytes makes one run right behind the other: times of a machine that is busier are spread otherwise.
func codecBytes(a *app, m timing.Mode, complain func(string, ...any)) {
	a.t.Helper()
	a.trace("--timing", "lossless")
	want, ok := a.codecRows("--error", "0.02")[string(m)]
	got := int64(0)
	for _, s := range a.trace("--timing", string(m), "--error", "0.02").Sections() {
		if s.Name == "series" {
			got = s.Stored
		}
	}
	// Times differ from run to run; beside them stands which ranks' they are.
	if a.t.Logf("%s: %d bytes, said %d", m, got, want.Bytes); !ok || float64(got) < 0.7*float64(want.Bytes) || float64(got) > 1.3*float64(want.Bytes)+200 {
		complain("%s: %d bytes, said %d", m, got, want.Bytes)
	}
}

// Times are those of the same trace, and others than those of another run, in each mode that has some. That run computes more at
// one place and waits longer at another: where, and by how much, is what the program measured.
func TestOtherTimes(t *testing.T) {
	a := buildKnown(t, mpis.Need(t)[0])
	for _, m := range timing.Modes {
		t.Run(string(m), func(t *testing.T) { otherTimes(a.beside(t), m) })
	}
}

func otherTimes(a *app, m timing.Mode) {
	t, spoor := a.t, mpis.Root("bin", "spoor")
	flags := []string{"--timing", string(m)}
	if m.Lossy() {
		flags = append(flags, "--error", "0.005")
	}
	a.trace(flags...)
	if err := os.Rename(filepath.Join(a.job.Dir, "t.spoor"), filepath.Join(a.job.Dir, "first.spoor")); err != nil {
		t.Fatal(err)
	}
	var truth [2]knownCalls
	truth[0] = a.known()
	a.job.Env = []string{"KNOWN_EXTRA=20"}
	a.trace(flags...)
	a.job.Env, truth[1] = nil, a.known()
	a.spoor("diff", "--any-address", "first.spoor", "t.spoor")
	same, other := a.job.Run(spoor, "diff", "--times", "t.spoor", "t.spoor"), a.job.Run(spoor, "diff", "--times", "--any-address", "--all", "first.spoor", "t.spoor")
	if m == timing.None {
		for _, out := range []mpis.Result{same, other} {
			if out.Err == nil || !strings.Contains(out.Stderr, "no times") {
				t.Errorf("%s: %v", m, out)
			}
		}
		return
	}
	if same.Err != nil || other.Err == nil || strings.Count(other.Stdout, ": times differ\n") != a.ranks {
		t.Errorf("%s: with itself %v, with another run %v", m, same, other)
	}
	out := a.job.Run(spoor, "diff", "--times", "--any-address", "--json", "first.spoor", "t.spoor")
	checkDiffered(t, string(m), out.Stdout, truth)
	if t.Failed() {
		t.Logf("%s: %s", m, other.Stdout)
	}
}

// checkDiffered looks for the two places in what diff prints. In modes that keep no times of single calls a rank's place has its
// part of what all ranks have there, so it is these that are looked at together.
func checkDiffered(t *testing.T, mode, text string, truth [2]knownCalls) {
	t.Helper()
	type differed struct {
		Rank  int
		Times []struct {
			Index, Calls uint64
			Call         struct{ Call string }
			Compute      [2]float64 `json:"compute_ns"`
			MPI          [2]float64 `json:"mpi_ns"`
		}
	}
	var got struct{ compute, mpi [2]float64 }
	ranks := 0
	for line := range strings.Lines(text) {
		var d differed
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		ranks++
		for _, x := range d.Times {
			c := truth[0][d.Rank][x.Index]
			if c.name != "MPI_Allreduce" || x.Call.Call != c.name {
				continue
			}
			for i := range 2 {
				switch c.place {
				case "warm-up":
					got.compute[i] += x.Compute[i]
				case "last":
					got.mpi[i] += x.MPI[i]
				}
			}
		}
	}
	if ranks != len(truth[0]) {
		t.Errorf("%s: %d ranks differ", mode, ranks)
	}
	share := 0.02
	var compute, mpi [2]bound
	for i := range truth {
		compute[i] = truth[i].of(-1, func(c *knownCall) bool { return c.place == "warm-up" && c.name == "MPI_Allreduce" }).gap
		mpi[i] = truth[i].of(-1, func(c *knownCall) bool { return c.place == "last" && c.name == "MPI_Allreduce" }).duration
		if !compute[i].has(got.compute[i], share) || !mpi[i].has(got.mpi[i], share) {
			t.Errorf("%s: run %d computes %.3f ms in the warm-up, want %.3f; the last reduction takes %.3f, want %.3f", mode, i, got.compute[i]/1e6, compute[i].low/1e6, got.mpi[i]/1e6, mpi[i].low/1e6)
		}
	}
	for what, x := range map[string]struct {
		got  [2]float64
		want [2]bound
	}{"computed in the warm-up": {got.compute, compute}, "spent in the last reduction": {got.mpi, mpi}} {
		rounded := 0.005 * (x.want[0].high + x.want[1].high) // in lossy modes
		more := bound{x.want[1].low - x.want[0].high - rounded, x.want[1].high - x.want[0].low + rounded}
		if !more.has(x.got[1]-x.got[0], share) {
			t.Errorf("%s: %.3f ms more are %s, want %.3f to %.3f", mode, (x.got[1]-x.got[0])/1e6, what, more.low/1e6, more.high/1e6)
		}
	}
}
