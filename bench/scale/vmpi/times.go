package vmpi

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/internal/track"
)

// histograms keeps a rank's times as the recorder does with --timing hist.
type histograms struct {
	rank int32
	of   map[histKey]*track.Hist
}

// A histKey is a terminal and the place before its calls.
type histKey struct {
	terminal uint32
	place    place
}

// A place is a function and a site; first is what a stream begins with.
type place struct {
	call  uint16
	site  uint64
	first bool
}

// RunTimed is Run with what is kept of times: stats or hist.
func RunTimed(name string, rank, size int, mode timing.Mode, program func(v *Rank)) *Rank {
	v := newRank(name, rank, size)
	if mode.Histograms() {
		v.hists = &histograms{rank: int32(rank), of: make(map[histKey]*track.Hist)}
	}
	program(v)
	return v
}

func (h *histograms) add(sigs *signature.Table, n, prev uint32, duration, gap uint64) {
	k := histKey{terminal: n}
	k.place = place{first: true}
	if prev != signature.None {
		key := sigs.Key(prev)
		k.place = place{call: key.Call(), site: key.Site()}
	}
	x := h.of[k]
	if x == nil {
		x = &track.Hist{Duration: hist.New(hist.DefaultBins, h.rank), Gap: hist.New(hist.DefaultBins, h.rank)}
		h.of[k] = x
	}
	x.Duration.Add(duration)
	x.Gap.Add(gap)
}

// track returns the histograms for a track whose terminals were renumbered.
func (h *histograms) track(sigs *signature.Table, number []uint32) []track.Hist {
	if h == nil {
		return nil
	}
	lowest := make(map[place]int)
	for n := range number {
		k := sigs.Key(uint32(n))
		p := place{call: k.Call(), site: k.Site()}
		if at, ok := lowest[p]; !ok || int(number[n]) < at {
			lowest[p] = int(number[n])
		}
	}
	var list []track.Hist
	keys := slices.SortedFunc(maps.Keys(h.of), func(a, b histKey) int { return cmp.Compare(a.terminal, b.terminal) })
	for _, k := range keys {
		t := *h.of[k]
		t.Terminal, t.From = int(number[k.terminal]), track.First
		if !k.place.first {
			t.From = lowest[k.place]
		}
		list = append(list, t)
	}
	slices.SortStableFunc(list, func(a, b track.Hist) int {
		return cmp.Or(cmp.Compare(a.Terminal, b.Terminal), cmp.Compare(a.From, b.From))
	})
	// Terminals that went into a lane have become one.
	out := list[:0]
	for _, t := range list {
		if n := len(out); n > 0 && out[n-1].Terminal == t.Terminal && out[n-1].From == t.From {
			x := &out[n-1]
			x.Duration, x.Gap = x.Duration.Clone(), x.Gap.Clone()
			x.Duration.Merge(t.Duration)
			x.Gap.Merge(t.Gap)
			continue
		}
		out = append(out, t)
	}
	return out
}
