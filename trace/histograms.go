package trace

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// A Histogram is the times of the calls of some terminals of a class, of all its
// ranks, in nanoseconds: those of one terminal, or of all with its function and site
// that have no histogram of their own.
type Histogram struct {
	Terminal int
	// From tells from where calls came: the place of the call before, FromStart or
	// FromAnywhere. Places are pairs of function and site, numbered from 0 in the
	// order in which the class's terminals first have them; see Reader.Places.
	From          int
	Duration, Gap *Hist
}

// A Hist is a histogram whose bins follow the data.
type Hist = hist.Hist

// What a Histogram's From can be besides a place.
const (
	FromAnywhere = -2 // not told apart
	FromStart    = -1 // the first call of a thread
)

// appendHistograms and decodeHistograms: the histograms of a class, in rising
// order of terminals and of where the calls came from.
//
//	histograms = count uvarint, (terminal, as a difference to the one before uvarint,
//	             from + 2 uvarint, durations hist, gaps hist)…
func appendHistograms(b []byte, list []Histogram) []byte {
	b = wire.AppendUvarint(b, uint64(len(list)))
	last := 0
	for i := range list {
		h := &list[i]
		b = wire.AppendUvarint(b, uint64(h.Terminal-last))
		last = h.Terminal
		b = wire.AppendUvarint(b, uint64(h.From-FromAnywhere))
		b = h.Duration.AppendBinary(b)
		b = h.Gap.AppendBinary(b)
	}
	return b
}

func decodeHistograms(r *wire.Reader, terminals, places int) []Histogram {
	var list []Histogram
	last := 0
	for i := range r.Count(6) {
		h := Histogram{Terminal: last + r.Int(terminals-1-last), From: FromAnywhere + r.Int(places+1)}
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

// placesOf numbers the places of a class's terminals.
func placesOf(groups []*group) (of []int, n int) {
	type place struct {
		call uint16
		site int
	}
	number := make(map[place]int)
	for _, g := range groups {
		p := place{g.call, g.site}
		if _, ok := number[p]; !ok {
			number[p] = len(number)
		}
		of = append(of, number[p])
	}
	return of, len(number)
}

// Places returns the number of the place, a function called from a site, of each
// terminal of a class.
func (r *Reader) Places(class int) ([]int, error) {
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	of, _ := placesOf(c.groups())
	return of, nil
}

func (c *class) groups() []*group {
	list := make([]*group, len(c.terminals))
	for i := range list {
		list[i] = c.terminals[i].group
	}
	return list
}

// Histograms returns the histograms of a class, over all of its ranks; nil if
// none were kept.
func (r *Reader) Histograms(class int) ([]Histogram, error) {
	_, list, err := r.timesOf(class)
	return list, err
}

// checkHistograms holds the histograms of a class against its statistics.
func (r *Reader) checkHistograms(n int, list []Histogram, calls []uint64) error {
	all, sum := uint64(0), uint64(0)
	for _, c := range calls {
		all += c
	}
	for _, h := range list {
		if h.Duration.Count() != h.Gap.Count() {
			return r.failed(container.Times, fmt.Errorf("class %d: terminal %d: histograms of %d durations and %d gaps: %w",
				n, h.Terminal, h.Duration.Count(), h.Gap.Count(), ErrFormat))
		}
		sum += h.Duration.Count()
	}
	if sum > all {
		return r.failed(container.Times, fmt.Errorf("class %d: histograms of %d calls, there are %d: %w", n, sum, all, ErrFormat))
	}
	return nil
}
