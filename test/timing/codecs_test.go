package timing

import (
	"math"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// A codecRow is what `spoor papers codecs --json` says of a codec.
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
	a.json(&rep, append([]string{"papers", "codecs", "--json", "t.spoor"}, flags...)...)
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
		c.refuses(why, "papers", "codecs", "t.spoor")
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

// A run with a codec takes what `spoor papers codecs` said that it would take of times as they were in another run.
func TestCodecBytes(t *testing.T) {
	a := buildKnown(t, mpis.Need(t)[0])
	for _, m := range timing.Modes {
		if !m.IsLossy() {
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
			got = s.StoredBytes
		}
	}
	// Times differ from run to run; beside them stands which ranks' they are.
	if a.t.Logf("%s: %d bytes, said %d", m, got, want.Bytes); !ok || float64(got) < 0.7*float64(want.Bytes) || float64(got) > 1.3*float64(want.Bytes)+200 {
		complain("%s: %d bytes, said %d", m, got, want.Bytes)
	}
}
