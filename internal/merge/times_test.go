package merge

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
	"pgregory.net/rapid"
)

// Summaries come back from messages, also such as no samples have: parts of
// others.
func TestStatMessage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s model.Stat
		if rapid.Bool().Draw(t, "samples") {
			for _, v := range rapid.SliceOfN(rapid.Uint64Range(0, 1<<50), 0, 5).Draw(t, "times") {
				s.Add(v)
			}
			s = s.OfRank(rapid.IntRange(0, 1000).Draw(t, "rank"))
		} else {
			u := rapid.Uint64()
			s = model.Stat{
				Count: u.Draw(t, "count"), Sum: u.Draw(t, "sum"), Min: u.Draw(t, "min"), Max: u.Draw(t, "max"),
				Squares: model.Uint128{Hi: u.Draw(t, "hi"), Lo: u.Draw(t, "lo")},
				MinRank: rapid.Int32Range(0, trace.MaxRanks).Draw(t, "least"), MaxRank: rapid.Int32Range(0, trace.MaxRanks).Draw(t, "most"),
			}
		}
		var got model.Stat
		err := wire.DecodeAll(wire.AppendEncoded(nil, func(c *wire.Coder) { codeStat(c, &s) }), "stat", func(c *wire.Coder) { codeStat(c, &got) })
		if err != nil || got != s {
			t.Fatalf("%+v became %+v: %v", s, got, err)
		}
	})
}
