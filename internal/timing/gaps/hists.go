package gaps

import (
	"github.com/spoor-hpc/spoor/internal/timing/hist"
	"github.com/spoor-hpc/spoor/trace"
)

// Histograms finds what a trace has of the gaps before a class's calls.
type Histograms struct {
	places []int
	of     map[histKey]*hist.Hist // by terminal
	alike  map[histKey]*hist.Hist // by place: those of terminals without their own
	lists  map[int][]*hist.Hist   // by terminal
	others map[int][]*hist.Hist   // by place: those of its first terminal
}

type histKey struct{ of, from int }

// HistogramsOf returns those of a class, nil if none were kept.
func HistogramsOf(r *trace.Reader, class int) (*Histograms, error) {
	list, err := r.Histograms(class)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	h := &Histograms{of: make(map[histKey]*hist.Hist), alike: make(map[histKey]*hist.Hist), lists: make(map[int][]*hist.Hist), others: make(map[int][]*hist.Hist)}
	if h.places, err = r.Places(class); err != nil {
		return nil, err
	}
	for i := range list {
		x := &list[i]
		if x.Gap.Count() == 0 {
			continue
		}
		gaps := hist.Of(x.Gap)
		h.of[histKey{x.Terminal, x.From}] = gaps
		h.lists[x.Terminal] = append(h.lists[x.Terminal], gaps)
		if key := (histKey{h.places[x.Terminal], x.From}); h.alike[key] == nil {
			h.alike[key] = gaps
			h.others[key.of] = append(h.others[key.of], gaps)
		}
	}
	return h, nil
}

// Place is the place of a terminal, for Gaps.
func (h *Histograms) Place(terminal int) int { return h.places[terminal] }

// Gaps returns the histogram of the gaps before a terminal's calls that follow a call of
// a place, or trace.FromStart; nil if there is none.
func (h *Histograms) Gaps(terminal, from int) *hist.Hist {
	if x := h.of[histKey{terminal, from}]; x != nil {
		return x
	}
	return h.alike[histKey{h.places[terminal], from}]
}

// All returns one histogram of the gaps before all calls of a terminal.
func (h *Histograms) All(terminal int) *hist.Hist {
	list := h.lists[terminal]
	if len(list) == 0 {
		list = h.others[h.places[terminal]]
	}
	if len(list) == 0 {
		return nil
	}
	all := list[0].Clone()
	for _, x := range list[1:] {
		all.Merge(x)
	}
	return all
}
