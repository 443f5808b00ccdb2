package sections

import (
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Histogram is the durations and gaps of a terminal's calls that came after a call at one place.
type Histogram struct {
	Terminal, PreviousPlace int
	Duration, Gap           *hist.Hist
}

// AppendHistograms appends the histograms of a class, in rising order of terminals and of where the calls came from.
// DecodeHistograms reads them.
//
//	histograms = count uvarint, (terminal, as a difference to the one before uvarint,
//	             from + 1 uvarint, durations hist, gaps hist)…
func AppendHistograms(b []byte, list []Histogram) []byte {
	return wire.AppendEncoded(b, func(c *wire.Coder) { codeHistograms(c, &list, 0, 0) })
}

// DecodeHistograms reads the histograms of a class.
func DecodeHistograms(r *wire.Reader, terminals, places int) (list []Histogram) {
	if codeHistograms(&wire.Coder{Reader: r}, &list, terminals, places); r.Err() != nil {
		return nil
	}
	return list
}

func codeHistograms(c *wire.Coder, list *[]Histogram, terminals, places int) {
	last := &Histogram{PreviousPlace: model.NoPreviousFunctionSite - 1}
	wire.CodeList(c, list, 6, func(_ int, h *Histogram) {
		wire.CodeAbove(c, &h.Terminal, last.Terminal, terminals-1-last.Terminal)
		wire.CodeAbove(c, &h.PreviousPlace, model.NoPreviousFunctionSite, places)
		c.RefuseIf(h.Terminal == last.Terminal && h.PreviousPlace <= last.PreviousPlace, "histograms of terminal %d out of order", h.Terminal)
		if last = h; c.Reader != nil {
			h.Duration, h.Gap = hist.Decode(c.Reader), hist.Decode(c.Reader)
		} else {
			c.Buf = h.Gap.AppendBinary(h.Duration.AppendBinary(c.Buf))
		}
	})
}

// NumberPlaces numbers the places of a class's terminals: functions at sites without stack. of has the number of each
// terminal's place, n is how many places there are.
func NumberPlaces(groups []*SignatureGroup) (of []int, n int) {
	type place struct {
		call uint16
		site int
	}
	number := make(map[place]int)
	for _, g := range groups {
		n, _ := once.NumberOf(number, place{g.FunctionID, g.Site})
		of = append(of, n)
	}
	return of, len(number)
}
