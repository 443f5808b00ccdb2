package sections

import (
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Histogram is the times of some terminals' calls, as package trace gives them.
type Histogram struct {
	Terminal, From int
	Duration, Gap  *hist.Hist
}

// AppendHistograms and DecodeHistograms: the histograms of a class, in rising
// order of terminals and of where the calls came from.
//
//	histograms = count uvarint, (terminal, as a difference to the one before uvarint,
//	             from + 1 uvarint, durations hist, gaps hist)…
func AppendHistograms(b []byte, list []Histogram) []byte {
	b = wire.AppendUvarint(b, uint64(len(list)))
	last := 0
	for i := range list {
		h := &list[i]
		b = wire.AppendUvarint(b, uint64(h.Terminal-last))
		last = h.Terminal
		b = wire.AppendUvarint(b, uint64(h.From-model.FromStart))
		b = h.Duration.AppendBinary(b)
		b = h.Gap.AppendBinary(b)
	}
	return b
}

// DecodeHistograms reads those of a class with so many terminals and places.
func DecodeHistograms(r *wire.Reader, terminals, places int) []Histogram {
	var list []Histogram
	last := 0
	for i := range r.Count(6) {
		h := Histogram{Terminal: last + r.Int(terminals-1-last), From: model.FromStart + r.Int(places)}
		if i > 0 && h.Terminal == list[i-1].Terminal && h.From <= list[i-1].From {
			r.Fail("histograms of terminal %d out of order", h.Terminal)
		}
		h.Duration, h.Gap = hist.Decode(r), hist.Decode(r)
		if r.Err() != nil {
			return nil
		}
		last = h.Terminal
		list = append(list, h)
	}
	return list
}

// PlacesOf numbers the places of a class's terminals.
func PlacesOf(groups []*Group) (of []int, n int) {
	type place struct {
		call uint16
		site int
	}
	number := make(map[place]int)
	for _, g := range groups {
		p := place{g.Call, g.Site}
		if _, ok := number[p]; !ok {
			number[p] = len(number)
		}
		of = append(of, number[p])
	}
	return of, len(number)
}
