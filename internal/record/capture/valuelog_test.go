package capture

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"pgregory.net/rapid"
)

// Whatever is attached to which call, calls within calls among them, it stays with that call; also if the recorder dies
// anywhere and the rest is read from its checkpoint.
func TestValuesOfCalls(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newSynth(t, 0, 1<<20)
		write := func(kind event.Kind, words ...uint64) {
			if err := s.w.Write(0, kind, 0, words); err != nil {
				r.Fatal(err)
			}
		}
		var want [][]timing.AttachedNumber // by call
		number := func(call int) {
			words := []uint64{0}
			for range rapid.IntRange(0, 3).Draw(r, "numbers") {
				v := timing.AttachedNumber{CallIndex: uint64(call), NameIndex: rapid.IntRange(0, 1).Draw(r, "name"), Value: rapid.Int64().Draw(r, "value")}
				want[call] = append(want[call], v)
				words = append(words, uint64(v.NameIndex), uint64(v.Value))
			}
			write(event.KindAttachedValues, words...)
		}
		cfg := testConfig()
		cfg.Timing.Mode = timing.ModeLossless
		cfg.ProcessDir = t.TempDir()
		c := attach(t, cfg, s)
		drain := func() {
			switch rapid.IntRange(0, 9).Draw(r, "drain") {
			case 0:
				if err := c.Drain(); err != nil {
					r.Fatal(err)
				}
			case 1: // the state goes on in another process
				if err := c.Drain(); err != nil {
					r.Fatal(err)
				}
				for _, s := range c.streams {
					s.log.flush()
				}
				d, err := New(cfg)
				if err != nil {
					r.Fatal(err)
				}
				if err := wire.DecodeAll(wire.AppendEncoded(nil, c.codeState), "state", d.codeState); err != nil {
					r.Fatal(err)
				}
				if err := d.streams[0].log.resume(cfg.ProcessDir, 0); err != nil {
					r.Fatal(err)
				}
				if err := d.AttachRing(0, s.w.Ring); err != nil {
					r.Fatal(err)
				}
				c.CloseLogs()
				c = d
			}
		}
		write(event.KindAttachedValueName, 0, 1, 'a')
		write(event.KindAttachedValueName, 1, 1, 'b')
		var call func(depth int)
		call = func(depth int) {
			n := len(want)
			want = append(want, nil)
			write(event.KindAttachedValues, 0)
			s.enter("MPI_Comm_rank", commWorld)
			drain()
			if depth < 3 {
				for range max(0, rapid.IntRange(-4, 2).Draw(r, "calls within")) {
					call(depth + 1)
				}
			}
			s.leave("MPI_Comm_rank", 0)
			drain()
			number(n)
		}
		for range rapid.IntRange(1, 20).Draw(r, "calls") {
			call(0)
			drain()
		}
		if err := c.Drain(); err != nil {
			r.Fatal(err)
		}
		tr, err := c.Track(track.EndFinished)
		if err != nil {
			r.Fatal(err)
		}
		var all, got []timing.AttachedNumber
		for _, list := range want {
			all = append(all, list...)
		}
		if tr.TimeLog.AttachedNumbers == nil {
			if len(all) > 0 {
				r.Fatalf("no values, want %v", all)
			}
			return
		}
		for list, err := range tr.TimeLog.AttachedNumbers[0] {
			if err != nil {
				r.Fatal(err)
			}
			got = append(got, list...)
		}
		if d := cmp.Diff(all, got); d != "" {
			r.Fatal(d)
		}
		c.CloseLogs()
	})
}
