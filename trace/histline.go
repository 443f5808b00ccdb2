package trace

import "spoor/internal/grammar"

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
}

type histKey struct{ terminal, from int }

func (k *Rank) histTimeline(mean *meanLine, hists []Histogram, stream int, index uint64) *histLine {
	l := &histLine{meanLine: mean, find: make(map[histKey]*Histogram, len(hists)), index: index, from: FromStart}
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
		t = Timing{draw(h.Duration, u), draw(h.Gap, mix(u))}
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

// draw returns the value that a share of u/2^64 of the samples is at most.
func draw(h *Hist, u uint64) Sample {
	all := h.Total()
	if all.Count == 0 {
		return Sample{}
	}
	v := min(max(uint64(h.Quantile(float64(u>>11)/(1<<53))), all.Min), all.Max)
	return Sample{Ns: v, Kind: HistogramSample, Bound: max(v-all.Min, all.Max-v)}
}

// mix makes a number that looks random of one that doesn't.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
