package reduce

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// CallReductions finds merged sizes and synthetic messages in a rank's calls.
type CallReductions struct {
	k        *trace.Rank
	list     []trace.MergedSizes
	partners []trace.SyntheticMessages
	x        *handles.Rank
	known    map[int][]MergedSize
}

// A MergedSize is a parameter with a merged size: the original sizes were Low to High, in the parameter's unit.
type MergedSize struct {
	Param     string
	Low, High int64
}

// CallReductionsOf returns the marks of a rank; nil if the trace has all original sizes.
func CallReductionsOf(r *trace.Reader, k *trace.Rank) (*CallReductions, error) {
	list, err := r.MergedSizes()
	if err != nil {
		return nil, err
	}
	partners, err := r.SyntheticMessages()
	if err != nil || list == nil && partners == nil {
		return nil, err
	}
	x, err := handles.TableOf(r).Rank(k)
	return &CallReductions{k, list, partners, x, make(map[int][]MergedSize)}, err
}

// SyntheticMessage returns the description of the synthetic messages to which a call's message belongs; nil if the
// message is original.
func (m *CallReductions) SyntheticMessage(c *trace.Call) *trace.SyntheticMessages {
	if m == nil {
		return nil
	}
	return trace.SyntheticMessagesOf(m.partners, c)
}

// SyntheticMessageText is the note printed after a call with a synthetic message; "" after others.
func SyntheticMessageText(p *trace.SyntheticMessages) string {
	if p == nil {
		return ""
	}
	text := fmt.Sprintf(" # partner synthetic, of %+d..%+d, bytes of %s..%s", p.RankDistances.Least.Value, p.RankDistances.Most.Value,
		show.FormatGrouped(uint64(p.Sizes.Least.Value)), show.FormatGrouped(uint64(p.Sizes.Most.Value)))
	if p.Tags.Least.Value != p.Tags.Most.Value {
		text += fmt.Sprintf(", tag of %d..%d", p.Tags.Least.Value, p.Tags.Most.Value)
	}
	return text
}

// MergedSizesOf returns the merged sizes of a call.
func (m *CallReductions) MergedSizesOf(c *trace.Call) []MergedSize {
	if m == nil || m.list == nil {
		return nil
	}
	if m.k.DependsOnEarlierCalls(c.Terminal) {
		return m.find(c) // statuses differ between the terminal's calls
	}
	return once.GetOrMake(m.known, c.Terminal, func() []MergedSize { return m.find(c) })
}

func (m *CallReductions) find(c *trace.Call) (list []MergedSize) {
	vals := m.k.Signature(c.Terminal) // terminals with merged sizes have no lanes
	p, err := planOf(m.k, c.Terminal, vals, m.x.FixedTypeSize)
	if err != nil {
		return nil
	}
	mark := func(param int, k key, size, unit int64) {
		b := m.bin(k, size*unit)
		if unit <= 0 || b == nil {
			return
		}
		name := c.Func.Params[param].Name
		if n := len(list); n == 0 || list[n-1].Param != name {
			list = append(list, MergedSize{name, b.Low / unit, b.High / unit})
		}
		x := &list[len(list)-1]
		x.Low, x.High = min(x.Low, b.Low/unit), max(x.High, b.High/unit)
	}
	for i := range p.slots {
		if s := &p.slots[i]; c.Func.Params[s.param].Type != trace.TypeStatus {
			mark(s.param, s.keyIn(vals), vals[s.at], s.unit)
		}
	}
	for i := range c.Params {
		for _, v := range []*trace.Value{&c.Params[i].In, &c.Params[i].Out} {
			for _, v := range append([]trace.Value{*v}, v.Elems...) {
				if s := v.Status; s != nil && (s.Form == trace.StatusFormFilled || s.Form == trace.StatusFormIgnored) {
					mark(i, key{n: s.Tag}, s.ReceivedBytes, 1)
				}
			}
		}
	}
	return list
}

func (m *CallReductions) bin(k key, size int64) *trace.Bin {
	for i := range m.list {
		t := &m.list[i]
		if k.collective {
			for _, f := range t.Functions {
				if int64(f) == k.n {
					return t.BinOfReplacingValue(size)
				}
			}
		} else if k == wild && t.Functions == nil || t.HasTag(k.n) {
			return t.BinOfReplacingValue(size)
		}
	}
	return nil
}
