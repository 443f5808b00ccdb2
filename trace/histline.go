package trace

import (
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
)

// A histLine draws each call's times from its histogram. What is drawn follows from
// rank, stream and position alone, so that it is the same wherever reading begins.
type histLine struct {
	*meanLine
	places []int
	find   map[histKey]*Histogram
	first  []int // by terminal: the first of its group
	seed   uint64
	index  uint64
	from   int
	tilts  map[tiltOf]tilted
}

// A tiltOf is a histogram of whose samples a leaf has some.
type tiltOf struct {
	h    *Histogram
	leaf int
}

// tilted is the tilts of durations and gaps, nil where they are not needed.
type tilted [2]*hist.Tilt

// sameMean is how far a place's mean may be from that of all samples to be drawn from all, as
// a share of it: as far as a place has none of its own in a trace.
const sameMean = 0.02

// draw returns a value of a histogram. If the place has another mean than all samples have,
// so have the values that are drawn.
func (l *histLine) draw(h *Hist, of tiltOf, mean Sample, which int, u uint64) Sample {
	if of.leaf < 0 || mean.Kind == NoSample {
		return draw(h, nil, u)
	}
	all := h.Total()
	if d := float64(mean.Ns) - all.Mean; max(d, -d) <= sameMean*all.Mean {
		return draw(h, nil, u)
	}
	t := l.tilts[of]
	if t[which] == nil {
		t[which] = h.Tilt(float64(mean.Ns))
		l.tilts[of] = t
	}
	return draw(h, t[which], u)
}

type histKey struct{ terminal, from int }

func (k *Rank) histTimeline(mean *meanLine, hists []Histogram, stream int, index uint64) *histLine {
	l := &histLine{meanLine: mean, find: make(map[histKey]*Histogram, len(hists)), index: index, from: FromStart, tilts: make(map[tiltOf]tilted)}
	groups := k.class.groups()
	l.places, _ = placesOf(groups)
	first := make(map[*group]int)
	for t, g := range groups {
		if _, ok := first[g]; !ok {
			first[g] = t
		}
		l.first = append(l.first, first[g])
	}
	for i := range hists {
		l.find[histKey{hists[i].Terminal, hists[i].From}] = &hists[i]
	}
	if index > 0 && index <= k.Len(stream) {
		l.from = l.places[terminalAt(k.streams[stream], index-1)]
	}
	l.seed = uint64(k.number)<<32 ^ uint64(stream)<<56 ^ 0x9e3779b97f4a7c15
	return l
}

func terminalAt(g *grammar.Grammar, index uint64) int {
	c := g.Cursor()
	c.Seek(index)
	n, _ := c.Next()
	return int(n)
}

func (l *histLine) next(terminal int) (t Timing, start, end int64, err error) {
	t, start, end, err = l.meanLine.next(terminal)
	h := l.histogram(terminal)
	u := mix(l.seed + l.index*0xd1342543de82ef95)
	l.index++
	l.from = l.places[terminal]
	if h != nil {
		of := tiltOf{h, l.leaf}
		if l.leaves == nil {
			of.leaf = -1
		}
		t.Duration, t.Gap = l.draw(h.Duration, of, t.Duration, 0, u), l.draw(h.Gap, of, t.Gap, 1, mix(u))
		end = start + int64(float64(t.Duration.Ns)*l.scale)
	}
	return t, start, end, err
}

// histogram finds what a call after one from l.from is in, nil if nothing.
func (l *histLine) histogram(terminal int) *Histogram {
	for _, from := range [2]int{l.from, FromAnywhere} {
		for _, t := range [2]int{terminal, l.first[terminal]} {
			if h := l.find[histKey{t, from}]; h != nil {
				return h
			}
		}
	}
	return nil
}

// draw returns the value that a share of u/2^64 of the samples, or of the tilted ones, is at most.
func draw(h *Hist, tilt *hist.Tilt, u uint64) Sample {
	all := h.Total()
	if all.Count == 0 {
		return Sample{}
	}
	share, v := float64(u>>11)/(1<<53), 0.0
	if tilt != nil {
		v = tilt.Quantile(share)
	} else {
		v = h.Quantile(share)
	}
	ns := min(max(uint64(v), all.Min), all.Max)
	return Sample{Ns: ns, Kind: HistogramSample, Bound: max(ns-all.Min, all.Max-ns)}
}

// mix makes a number that looks random of one that doesn't.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
