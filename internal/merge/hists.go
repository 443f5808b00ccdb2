package merge

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/internal/track"
)

// Histograms of a class are in the order of their keys: terminal and from. Terminals of a pool share histograms. In a
// refined class, all terminals of a function and site share them. In both cases the key has the lowest of these
// terminals.

// A histogram is the times of some terminals' calls that follow a call from one place.
type histogram struct {
	terminal      int
	from          int // number of the previous call's place, see histKeys; or track.NoPreviousTerminal
	duration, gap *hist.Hist
}

// histKeys returns for each terminal the one that represents it, and the number of its place. Places are functions
// and sites without stacks, in order of first occurrence; in all classes with the same sequence of calls they have
// the same numbers.
func (c *class) histKeys() (unit, place []int) {
	sh := c.shape()
	type at struct {
		call uint16
		site uint64
	}
	number := make(map[at]int)
	for t := range sh.of {
		k := sh.skeleton(t)
		n, _ := once.NumberOf(number, at{k.call, k.inner})
		place = append(place, n)
	}
	if !c.split {
		return sh.pools(), place
	}
	of, n := sh.sites()
	first := make([]int, n)
	for i := len(of) - 1; i >= 0; i-- {
		first[of[i]] = i
	}
	unit = make([]int, len(of))
	for i, s := range of {
		unit[i] = first[s]
	}
	return unit, place
}

// leafHists sets the class's histograms to those of a single rank's track.
func (c *class) leafHists(tr *track.Track) {
	if len(tr.Hists) == 0 {
		return
	}
	unit, place := c.histKeys()
	for _, h := range tr.Hists {
		if h.Terminal < 0 || h.Terminal >= len(unit) || h.PreviousTerminal >= len(place) {
			continue
		}
		x := histogram{unit[h.Terminal], h.PreviousTerminal, h.Duration, h.Gap}
		if h.PreviousTerminal >= 0 {
			x.from = place[h.PreviousTerminal]
		}
		c.hists = append(c.hists, x)
	}
	c.hists = gather(c.hists)
}

// gather sorts histograms and merges those with the same key into the first of them.
func gather(list []histogram) []histogram {
	slices.SortStableFunc(list, func(a, b histogram) int {
		return cmp.Or(cmp.Compare(a.terminal, b.terminal), cmp.Compare(a.from, b.from))
	})
	out := list[:0]
	for _, h := range list {
		if n := len(out); n > 0 && out[n-1].terminal == h.terminal && out[n-1].from == h.from {
			out[n-1].duration.Merge(h.duration)
			out[n-1].gap.Merge(h.gap)
			continue
		}
		out = append(out, h)
	}
	return out
}

// regroup changes the keys of a class's histograms after the class was refined: now more terminals share histograms.
func (c *class) regroup() {
	unit, _ := c.histKeys()
	for i := range c.hists {
		c.hists[i].terminal = unit[c.hists[i].terminal]
	}
	c.hists = gather(c.hists)
}

// joinHists adds the histograms of o, the class of other ranks with the same key. If o is refined, c.split must be set.
func (c *class) joinHists(o *class) {
	if len(c.hists)+len(o.hists) == 0 {
		return
	}
	c.hists = append(c.hists, o.hists...)
	c.regroup()
}

// uniteHists sets c's histograms to those of classes with the same sequence of calls. It does not change the
// classes, as the union may still be rejected.
func (c *class) uniteHists(list []*class) {
	of, n := c.shape().sites()
	first := make([]int, n)
	for i := len(of) - 1; i >= 0; i-- {
		first[of[i]] = i
	}
	for _, o := range list {
		of, _ := o.shape().sites()
		for _, h := range o.hists {
			h.terminal = first[of[h.terminal]]
			h.duration, h.gap = h.duration.Clone(), h.gap.Clone()
			c.hists = append(c.hists, h)
		}
	}
	c.hists = gather(c.hists)
}

func (c *class) codeHists(x *wire.Coder, n bounds) {
	wire.CodeList(x, &c.hists, 6, func(_ int, h *histogram) {
		wire.CodeBounded(x, &h.terminal, n.terminals-1)
		if codeFrom(x, &h.from); x.Reader != nil {
			h.duration, h.gap = hist.Decode(x.Reader), hist.Decode(x.Reader)
		} else {
			x.Buf = h.gap.AppendBinary(h.duration.AppendBinary(x.Buf))
		}
	})
}

// traceHists returns the histograms as a file has them.
func (c *class) traceHists() []sections.Histogram {
	var list []sections.Histogram
	for _, h := range c.hists {
		list = append(list, sections.Histogram{Terminal: h.terminal, PreviousPlace: h.from, Duration: h.duration, Gap: h.gap})
	}
	return list
}
