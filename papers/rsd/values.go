package rsd

import (
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A part says which part of a parameter's value a slot is for.
type part uint8

const (
	whole  part = iota
	offset      // the offset of an address in its segment
	length      // the length of an array
	within      // the elements of an array, a field of a status, or a property of the object that the call makes
)

// A Slot is one value of an event's calls: a parameter, or a part of one.
type Slot struct {
	Name         string
	Numbers      stats.NumberDistribution // values that are numbers without names
	Texts        map[string]uint64        // other values: handles, names of constants, addresses; at most mostTexts
	OmittedTexts uint64                   // number of further texts
	Formula      string                   // formula of the rank that gives all Numbers; "": no formula was found
	// VariesByCall says that the value of some terminal changes from call to call. Then only count and extremes of
	// Numbers are exact.
	VariesByCall bool

	part     part
	kind     mpi.Kind
	relative stats.NumberDistribution // for parameters that are ranks: the value minus the calling rank
	sets     valueSets[int64]
	distant  valueSets[int64] // for parameters that are ranks: by value minus calling rank, which ranks had it
	named    valueSets[string]
	ranks    []int // ranks with a number, whose numbers are vals; nil if a rank had several numbers
	vals     []int64
	several  bool
}

// valueSets are, for each of a few values of a slot, the ranks that had it.
type valueSets[T comparable] struct {
	of   map[T][]int // by value: the ranks that had it, rising
	many bool        // there were more values than add allows; of is nil
}

// add adds a value that a rank had, unless it would be more than most different ones. It must be called in rising order
// of ranks.
func (s *valueSets[T]) add(v T, rank, most int) {
	list, ok := s.of[v]
	switch {
	case s.many:
	case !ok && len(s.of) == most:
		s.of, s.many = nil, true
	case !ok && s.of == nil:
		s.of = map[T][]int{v: {rank}}
	case !ok || list[len(list)-1] != rank:
		s.of[v] = append(list, rank)
	}
}

// mostTexts is the largest number of texts that a slot distinguishes.
const mostTexts = 16

// shortArray is the largest length of an array that is shown with all elements if all calls have the same.
const shortArray = 8

// A taken is one value of a call: the slot that it belongs to, and a number or a text.
type taken struct {
	name string
	part part
	kind mpi.Kind
	text string // the value if num is false; otherwise it is v
	num  bool
	v    int64
}

// valuesOf lists the values of a call for the slots of its event: parameters, what it makes, its result.
func valuesOf(c *trace.Call) (list []taken) {
	for i := range c.Params {
		p := &c.Params[i]
		name := p.Name()
		if p.In.Type != trace.TypeNone {
			list = appendValue(list, name, whole, p.Kind(), &p.In)
			name += " on return"
		}
		if p.Out.Type != trace.TypeNone {
			list = appendValue(list, name, whole, p.Kind(), &p.Out)
		}
	}
	if n := c.NewComm; n != nil {
		list = append(list, number("new.rank", within, mpi.KindRank, n.Rank), number("new.size", within, mpi.KindNone, n.Size))
	}
	if n := c.NewType; n != nil {
		list = append(list, number("new.bytes", within, mpi.KindNone, n.Size), number("new.extent", within, mpi.KindNone, n.Extent))
	}
	if c.Result.Type != trace.TypeNone {
		list = appendValue(list, "result", whole, c.Func.ReturnKind, &c.Result)
	}
	if c.Return != 0 {
		list = append(list, taken{name: "return", text: c.ReturnName()})
	}
	return list
}

func number(name string, p part, kind mpi.Kind, v int64) taken {
	if text := mpi.ConstantName(kind, v); text != "" {
		return taken{name: name, part: p, kind: kind, text: text}
	}
	return taken{name: name, part: p, kind: kind, num: true, v: v}
}

func appendValue(list []taken, name string, p part, kind mpi.Kind, v *trace.Value) []taken {
	switch v.Type {
	case trace.TypeInt, trace.TypeTime:
		return append(list, number(name, p, kind, v.Num))
	case trace.TypeAddress:
		at := v.Addr
		if at.Class == trace.AddressSpecial {
			break
		}
		at.Offset = 0
		return append(list, taken{name: name, part: p, text: at.Text()}, number(name+".offset", offset, mpi.KindNone, v.Addr.Offset))
	case trace.TypeStatus:
		s := v.Status
		if s.Form != trace.StatusFormFilled && s.Form != trace.StatusFormIgnored {
			break
		}
		return append(list, number(name+".source", within, mpi.KindRank, s.Source), number(name+".tag", within, mpi.KindTag, s.Tag), number(name+".bytes", within, mpi.KindNone, s.ReceivedBytes))
	case trace.TypeArray:
		if v.Num < 0 {
			break
		}
		text := "…" // for an array that is too long to show
		if len(v.Elems) <= shortArray {
			text = v.Render(kind)
		}
		list = append(list, taken{name: name, part: p, text: text}, number(name+".length", length, mpi.KindNone, v.Num))
		for i := range v.Elems {
			if t := v.Elems[i].Type; t != trace.TypeRequest { // requests' distances say little of an event
				list = appendValue(list, name+"[]", within, kind, &v.Elems[i])
			}
		}
		return list
	}
	return append(list, taken{name: name, part: p, text: v.Render(kind)})
}

// take adds to the slot a value that count calls of a rank have.
func (s *Slot) take(v *taken, count uint64, rank int) {
	if !v.num {
		if s.Texts == nil {
			s.Texts = make(map[string]uint64)
		}
		if _, ok := s.Texts[v.text]; ok || len(s.Texts) < mostTexts {
			s.Texts[v.text] += count
			s.named.add(v.text, rank, mostTexts)
		} else {
			s.OmittedTexts += count
		}
		return
	}
	s.Numbers.Add(v.v, count, rank)
	s.sets.add(v.v, rank, mostShown)
	if s.kind == mpi.KindRank {
		s.distant.add(v.v-int64(rank), rank, 2*mostShown)
		s.relative.Add(v.v-int64(rank), count, rank)
	}
	if n := len(s.ranks); s.several || n > 0 && s.ranks[n-1] == rank && s.vals[n-1] != v.v {
		s.several, s.ranks, s.vals = true, nil, nil
	} else if n == 0 || s.ranks[n-1] != rank {
		s.ranks, s.vals = append(s.ranks, rank), append(s.vals, v.v)
	}
}

// between adds to the slot values from low to high, which count calls of a rank have. They are a lane's: they change
// from call to call, and only their bounds are used.
func (s *Slot) between(low, high int64, count uint64, rank int) {
	s.Numbers.AddBin(stats.Bin{Min: low, Max: high, Sum: (float64(low) + float64(high)) / 2 * float64(count), Count: count}, rank)
	s.sets = valueSets[int64]{many: true}
	s.VariesByCall, s.several, s.ranks, s.vals = true, true, nil, nil
}

// fit looks for a formula of the rank that gives all numbers of the slot. size is the number of ranks in the trace.
func (s *Slot) fit(size int) {
	if _, same := s.Numbers.SingleValue(); same || s.several || len(s.ranks) < 2 {
		return
	}
	form, ok := column.FitKinds(s.ranks, s.vals, size, column.KindLinear)
	if ok && len(s.ranks) < 3 && form.Coefficients[0] != 1 { // from two ranks, only rank + constant is believed
		ok = false
	}
	if !ok && s.kind == mpi.KindRank {
		form, ok = column.FitKinds(s.ranks, s.vals, size, column.KindRing, column.KindXor, column.KindMixedRadix)
	}
	if ok {
		s.Formula = form.Text(int64(size))
	}
	s.ranks, s.vals = nil, nil
}
