package capture

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
	"pgregory.net/rapid"
)

// What is noted of times is what is counted again, however long they are.
func TestNoteTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := testConfig()
		cfg.Timing.Mode = rapid.SampledFrom([]timing.Mode{timing.ModeStats, timing.ModeHist}).Draw(t, "mode")
		terminals := rapid.SampledFrom([]int{3, 3, 3, 3, 3, 3, 3, 1<<15 + 2}).Draw(t, "terminals")
		var both [2]*Capture
		for i := range both {
			c, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			for n := range terminals {
				c.sigs.LookUpOrInsert(signature.NoTerminal, signature.Key{0, int64(n), 0})
			}
			both[i] = c
		}
		one, other := both[0], both[1]
		var notes checkpoints
		long := rapid.OneOf(rapid.Uint64Range(0, 1<<16), rapid.Uint64Range(1<<32-1, 1<<32), rapid.Uint64())
		for range rapid.IntRange(1, 100).Draw(t, "calls") {
			n := uint32(rapid.IntRange(0, terminals-1).Draw(t, "terminal"))
			prev := uint32(rapid.IntRange(-1, terminals-1).Draw(t, "before"))
			duration, gap := long.Draw(t, "duration"), long.Draw(t, "gap")
			one.countTimes(n, prev, 0, gap, duration)
			notes.noteTimes(n, prev, duration, gap)
		}
		if err := wire.DecodeAll(nil, "", func(x *wire.Coder) { other.replayTimes(x, notes.times) }); err != nil {
			t.Fatal(err)
		}
		want, got := new(wire.Coder), new(wire.Coder)
		for c, w := range map[*Capture]*wire.Coder{one: want, other: got} {
			c.settleTimes()
			c.sigs.Code(w, nil)
			if c.hists != nil {
				c.hists.code(w)
			}
		}
		if !bytes.Equal(want.Buf, got.Buf) {
			t.Fatal("other times")
		}
	})
}

// Names of attached values need not come in the order of their numbers.
func TestNamesInChunks(t *testing.T) {
	one := attached{names: []string{"", "b"}, stats: make([][]model.AttachedStat, 2)}
	state := func(a *attached) func(c *wire.Coder) { return func(c *wire.Coder) { a.code(c, 0) } }
	chunk := func(a *attached) func(c *wire.Coder) { return func(c *wire.Coder) { a.codeChunk(c, 0, nil) } }
	before := wire.AppendEncoded(nil, state(&one))
	one.names[0] = "a"
	after := wire.AppendEncoded(nil, chunk(&one))
	var other attached
	err := wire.DecodeAll(before, "state", state(&other))
	err = errors.Join(err, wire.DecodeAll(after, "chunk", chunk(&other)))
	if err != nil || !cmp.Equal(other.names, one.names) {
		t.Errorf("%q, want %q; %v", other.names, one.names, err)
	}
}
