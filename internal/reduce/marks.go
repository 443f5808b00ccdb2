package reduce

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// Marks tells which sizes in a rank's calls stand for others, and which messages are drawn.
type Marks struct {
	k        *trace.Rank
	list     []trace.Thinned
	partners []trace.Partners
	x        *handles.Rank
	known    map[int][]Mark
}

// A Mark is a parameter that has such sizes: they were Low to High before, in what the parameter counts.
type Mark struct {
	Param     string
	Low, High int64
}

// MarksOf returns those of a rank; nil if the trace has all sizes as they were.
func MarksOf(r *trace.Reader, k *trace.Rank) (*Marks, error) {
	list, err := r.Thinned()
	if err != nil {
		return nil, err
	}
	partners, err := r.Partners()
	if err != nil || list == nil && partners == nil {
		return nil, err
	}
	x, err := handles.Of(r).Rank(k)
	return &Marks{k, list, partners, x, make(map[int][]Mark)}, err
}

// Drawn returns which family of drawn messages that of a call is of; nil if it is as it was.
func (m *Marks) Drawn(c *trace.Call) *trace.Partners {
	if m == nil {
		return nil
	}
	return trace.PartnersOf(m.partners, c)
}

// DrawnText is what stands behind a call whose message is drawn, nothing behind others.
func DrawnText(p *trace.Partners) string {
	if p == nil {
		return ""
	}
	text := fmt.Sprintf(" # partner drawn of %+d..%+d, bytes of %s..%s", p.Relative.Least.Value, p.Relative.Most.Value,
		show.Grouped(uint64(p.Sizes.Least.Value)), show.Grouped(uint64(p.Sizes.Most.Value)))
	if p.Tags.Least.Value != p.Tags.Most.Value {
		text += fmt.Sprintf(", tag of %d..%d", p.Tags.Least.Value, p.Tags.Most.Value)
	}
	return text
}

// Of returns the marks of a call.
func (m *Marks) Of(c *trace.Call) []Mark {
	if m == nil || m.list == nil {
		return nil
	}
	return once.Of(m.known, c.Terminal, func() []Mark { return m.find(c) })
}

func (m *Marks) find(c *trace.Call) (list []Mark) {
	p, err := planOf(m.k, c.Terminal, m.x.SizeAlways)
	if err != nil {
		return nil
	}
	vals := m.k.Signature(c.Terminal) // what is thinned has no lanes
	for i := range p.slots {
		s := &p.slots[i]
		b := m.bin(s.keyIn(vals), vals[s.at]*s.unit)
		if s.unit <= 0 || b == nil {
			continue
		}
		name := c.Func.Params[s.param].Name
		if n := len(list); n == 0 || list[n-1].Param != name {
			list = append(list, Mark{name, b.Low / s.unit, b.High / s.unit})
		}
		x := &list[len(list)-1]
		x.Low, x.High = min(x.Low, b.Low/s.unit), max(x.High, b.High/s.unit)
	}
	return list
}

func (m *Marks) bin(k key, size int64) *trace.Bin {
	for i := range m.list {
		t := &m.list[i]
		if k.collective {
			for _, f := range t.Functions {
				if int64(f) == k.n {
					return t.Bin(size)
				}
			}
		} else if k == wild && t.Functions == nil || t.Has(k.n) {
			return t.Bin(size)
		}
	}
	return nil
}
