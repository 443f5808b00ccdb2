package reduce

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// A key identifies sizes whose equality must be preserved: those of messages with a tag, or of calls of a collective
// function.
type key struct {
	collective bool
	n          int64 // the tag or the function
}

// wild is the key of all messages, for receives with any tag.
var wild = key{n: -1 << 62}

// A slot is a size in a signature.
type slot struct {
	at    int
	param int   // index of its parameter
	unit  int64 // bytes of the unit in which the size is counted; 0: not known
	fixed bool  // neither this size nor others with its key may be merged
	told  bool  // the size is in a status, or in a result computed from a status
	again bool  // same size as the previous slot, with another tag: sizes of both tags must be merged in the same way
	tag   int   // position of the message's tag in the signature; -1: the key is in field key
	key   key
}

func (s *slot) keyIn(vals []int64) key {
	switch {
	case s.tag < 0:
		return s.key
	case vals[s.tag] == mpi.AnyTag:
		return wild
	}
	return key{n: vals[s.tag]}
}

// A spread is an array of counts followed by an array of displacements in the same unit that are not plain sums of
// the counts.
type spread struct{ counts, displs, n int }

// A sizePlan lists the sizes in a terminal's calls.
type sizePlan struct {
	slots   []slot
	spreads []spread
}

// planOf finds the sizes in a terminal's calls; vals are the values of one call. sizes returns the size of a
// datatype, 0 if unknown.
func planOf(k *trace.Rank, terminal int, vals []int64, sizes func(handle int64) int64) (*sizePlan, error) {
	c := k.CallWithoutParams(terminal)
	if c.Return != 0 && c.Return != mpi.ErrInStatus {
		return &sizePlan{}, nil
	}
	at, err := k.Positions(terminal)
	if err != nil {
		return nil, err
	}
	p := &sizePlan{}
	index := func(name string) int {
		return slices.IndexFunc(c.Func.Params, func(p trace.ParamDef) bool { return name != "" && p.Name == name })
	}
	in := func(name string) int {
		if i := index(name); i >= 0 {
			return at.Params[i].In
		}
		return -1
	}
	if m := meaning.DataMovementOf(c.Name()); m != nil && (m.Pattern.IsCollective() || m.Pattern == meaning.PatternToPeer || m.Pattern == meaning.PatternReceive) {
		function := m.BaseForm()
		for _, side := range []*meaning.DataSide{m.Out, m.In} {
			if side == nil || side.Count == "" || in(side.Count) < 0 {
				continue
			}
			s := slot{at: in(side.Count), param: index(side.Count), tag: -1, key: key{true, int64(function.ID)}, fixed: side.Partitions != ""}
			if !m.Pattern.IsCollective() {
				if s.tag = in(side.Tag); s.tag < 0 { // a message that a probe matched before
					s.key = wild
				}
			}
			p.add(m, side, s, in(side.Type), in(side.Displs), vals, sizes)
		}
	}
	if in("fh") < 0 {
		err = p.statuses(c.Func, at, vals, sizes)
	}
	return p, err
}

// add adds one side of a call: a count, or an array of counts.
func (p *sizePlan) add(m *meaning.DataMovement, side *meaning.DataSide, s slot, datatype, displs int, vals []int64, sizes func(int64) int64) {
	for i := range p.slots { // the count of the other side, added before, may be the same parameter
		if at := p.slots[i].at; at == s.at && s.tag >= 0 {
			s.again = true
		} else if at == s.at || at == s.at+1 {
			return
		}
	}
	unit := func(i int) int64 {
		switch {
		case side.Type == "":
			return 1
		case datatype < 0:
			return 0
		case !m.IsArrayParam(side.Type):
			return sizes(vals[datatype])
		case int64(i) < vals[datatype]:
			return sizes(vals[datatype+1+i])
		}
		return 0
	}
	if !m.IsArrayParam(side.Count) {
		s.unit = unit(0)
		p.slots = append(p.slots, s)
		return
	}
	n := int(vals[s.at])
	if n > 1 && displs >= 0 && vals[displs] == int64(n) && !m.IsArrayParam(side.Type) {
		p.spreads = append(p.spreads, spread{s.at, displs, n})
	}
	first := s.at + 1
	for i := range n {
		s.at, s.unit = first+i, unit(i)
		p.slots = append(p.slots, s)
	}
}

// statuses adds the sizes in a call's statuses, or in results that are computed from a status, as by MPI_Get_count.
func (p *sizePlan) statuses(f *trace.Function, at *trace.Positions, vals []int64, sizes func(int64) int64) error {
	spans, err := sections.SpansOf(f, nil, vals)
	if err != nil {
		return err
	}
	told := -1 // position of the tag in an input status
	take := func(s *signature.Span) {
		if !s.IsFilledStatus(vals) {
			return
		}
		p.slots = append(p.slots, slot{at: s.First + signature.StatusCountPosition, param: s.Param, unit: 1, told: true, tag: s.First + signature.StatusTagPosition})
		if !s.IsOutput {
			told = s.First + signature.StatusTagPosition
		}
	}
	for i := range spans {
		s := &spans[i]
		if s.Width != signature.WidthStatus {
			continue
		}
		if s.Dims == 0 {
			take(s)
			continue
		}
		for e := range s.Elements(vals) {
			take(&e)
		}
	}
	if told < 0 {
		return nil
	}
	for i := range f.Params {
		if f.Params[i].Name != "count" || at.Params[i].Out < 0 {
			continue
		}
		for j := range f.Params {
			if f.Params[j].Name == "datatype" && at.Params[j].In >= 0 {
				p.slots = append(p.slots, slot{at: at.Params[i].Out, param: i, unit: sizes(vals[at.Params[j].In]), told: true, tag: told})
			}
		}
	}
	return nil
}

// apply replaces each size in a call's values by what of returns for it, in bytes. It moves displacements accordingly.
func (p *sizePlan) apply(vals []int64, of func(s *slot, k key, bytes int64) int64) {
	var gaps [][]int64
	for _, x := range p.spreads {
		gaps = append(gaps, x.gaps(vals))
	}
	for i := range p.slots {
		s := &p.slots[i]
		if s.unit > 0 && vals[s.at] > 0 {
			vals[s.at] = of(s, s.keyIn(vals), vals[s.at]*s.unit) / s.unit
		}
	}
	for i, x := range p.spreads {
		if gaps[i] == nil {
			continue
		}
		for j := 1; j < x.n; j++ {
			vals[x.displs+1+j] = vals[x.displs+j] + vals[x.counts+j] + gaps[i][j]
		}
	}
}

// gaps returns the gap before each block that doesn't begin where the previous one ends; nil if blocks are in another
// order.
func (x *spread) gaps(vals []int64) []int64 {
	gaps := make([]int64, x.n)
	for j := 1; j < x.n; j++ {
		if gaps[j] = vals[x.displs+1+j] - vals[x.displs+j] - vals[x.counts+j]; gaps[j] < 0 {
			return nil
		}
	}
	return gaps
}
