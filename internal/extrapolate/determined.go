package extrapolate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A contradiction is the error that a call of a function has other results than MPI's rules give.
type contradiction struct{ function string }

func (e *contradiction) Error() string { return e.function + " does not do what is expected of it" }

// determined records a call's effect on objects. It returns a function that reports which of the call's values MPI
// determines, or nil if it determines no value.
func (x *reading) determined(t int, c *trace.Call, spans []signature.Span, vals []int64) (func(s *signature.Span) bool, error) {
	f := c.Func
	has := handles.HasDeterminableResults(f)
	if vals[0] != 0 || f.ResultType != trace.TypeNone || !has && !handles.ChangesHandles(f) {
		return nil, nil
	}
	a := &handles.Arguments{Func: f, In: make(map[string][]int64), Out: make(map[string][]int64)}
	for i := range spans {
		switch s := &spans[i]; {
		case s.Param == signature.ParamNewObject:
			a.NewObjectValues = vals[s.First:s.End]
		case s.Param == signature.ParamResult:
		case s.IsOutput:
			a.Out[f.Params[s.Param].Name] = vals[s.First:s.End]
		default:
			a.In[f.Params[s.Param].Name] = vals[s.First:s.End]
		}
	}
	if !has || x.p.fitted[f.Name] {
		x.objects.CountCreation(a)
		x.objects.ApplyResults(a, handles.Results{})
		return nil, nil
	}
	if handles.DependsOnColors(f) {
		x.objects.CountCreation(a)
		if a.NewObjectValues == nil {
			return nil, nil
		}
		n, err := x.newComm(t, c)
		if err != nil {
			return nil, err
		}
		x.objects.ApplyResults(a, handles.NewCommResults(n.Members(), int(c.NewComm.Rank)))
		return func(s *signature.Span) bool { return s.Param == signature.ParamNewObject }, nil
	}
	r, err := x.objects.Determine(a)
	if err != nil {
		return nil, &contradiction{f.Name}
	}
	made := x.objects.NextNewObjectValues(a, r)
	same := slices.Equal(made, a.NewObjectValues)
	for name, v := range r.Out {
		same = same && slices.Equal(v, a.Out[name])
	}
	if !same {
		return nil, &contradiction{f.Name}
	}
	x.objects.ApplyResults(a, r)
	return func(s *signature.Span) bool {
		return s.Param == signature.ParamNewObject || s.Param >= 0 && s.IsOutput && r.Out[f.Params[s.Param].Name] != nil
	}, nil
}

// newComm returns the communicator that a call makes.
func (x *reading) newComm(t int, c *trace.Call) (*handles.Comm, error) {
	if x.comms == nil {
		var err error
		if x.comms, err = handles.TableOf(x.p.runs[len(x.p.runs)-1].r).Comms(); err != nil {
			return nil, err
		}
	}
	n := x.comms.At(x.k.Number(), 0, x.k.FirstPositions(0)[t]+1, c.Param("newcomm").Out.Num)
	if n == nil || slices.Contains(n.Members(), -1) {
		return nil, &contradiction{c.Func.Name}
	}
	return n, nil
}

// A splitter is a rank's part in a call of MPI_Comm_split.
type splitter struct {
	rank       int // in the new communicator
	color, key int64
	place      int32
}

// splitAt records a rank's part in a call of MPI_Comm_split, for checkSplits.
func (x *reading) splitAt(t int, c *trace.Call, place int32) {
	if !handles.DependsOnColors(c.Func) || c.NewComm == nil || x.p.fitted[c.Func.Name] {
		return
	}
	n, err := x.newComm(t, c)
	if err != nil {
		return // determined has returned the same error already
	}
	s := splitter{int(c.NewComm.Rank), c.Param("color").In.Num, c.Param("key").In.Num, place}
	if !slices.Contains(x.p.splits[n], s) {
		x.p.splits[n] = append(x.p.splits[n], s)
	}
}

// checkSplits checks the communicators that the latest run made by MPI_Comm_split: members must be in the order of
// keys, and equal keys in the order of ranks.
func (p *program) checkSplits() error {
	defer clear(p.splits)
	colors := make(map[string]bool)
	for n, list := range p.splits {
		slices.SortFunc(list, func(a, b splitter) int { return cmp.Compare(a.rank, b.rank) })
		color := fmt.Sprint(n.Parent.ID(), n.EqualCreationsBefore, list[0].color)
		ok := len(list) == n.Size && !colors[color]
		colors[color] = true
		for i, s := range list {
			ok = ok && s.rank == i && s.color == list[0].color && s.place == list[0].place
			if i > 0 && ok {
				before := list[i-1]
				ok = before.key < s.key || before.key == s.key && n.Parent.RankOf(n.WorldRank(i-1)) < n.Parent.RankOf(n.WorldRank(i))
			}
		}
		if !ok {
			return &contradiction{n.MadeBy}
		}
	}
	return nil
}

// A splitKey identifies a call of MPI_Comm_split in an extrapolated run: by its group and the iterations of loops
// around it, which are the same for all its ranks.
type splitKey struct {
	g       *group
	i, j, n int64
}

// colored is, by rank, whether it takes part in a call of MPI_Comm_split, and with which colour and key.
type colored struct {
	taking     []bool
	color, key []int64
	err        error
}

// colors evaluates the colours and keys that all ranks pass in a call of MPI_Comm_split.
func (x *maker) colors(p *place, g *group, e env) *colored {
	color, key := g.cells[p.cellOf("color")].one, g.cells[p.cellOf("key")].one
	at := splitKey{g, e[expr.VariableLoopIteration], e[expr.VariableOuterIteration], e[expr.VariableLoopTripCount]}
	if d := max(g.there.turn, color.turn, key.turn); d > 0 {
		at.i = int64(x.at[d])
	}
	x.all.lock.Lock()
	defer x.all.lock.Unlock()
	if c := x.all.splits[at]; c != nil {
		return c
	}
	c := &colored{make([]bool, x.ranks), make([]int64, x.ranks), make([]int64, x.ranks), nil}
	x.all.splits[at] = c
	for rank := range x.ranks {
		e[expr.VariableRank] = rank
		v, err := x.value(&g.there, &e)
		if c.taking[rank] = v != 0; err == nil && v != 0 {
			c.color[rank], err = x.value(&color, &e)
		}
		if err == nil && v != 0 {
			c.key[rank], err = x.value(&key, &e)
		}
		c.err = cmp.Or(c.err, err)
	}
	return c
}

// cellOf returns the index in group.cells of an input parameter's value, by the parameter's name.
func (p *place) cellOf(name string) (cell int) {
	for _, f := range p.fields {
		if f.param >= 0 && f.param < len(p.function.Params) && !f.out && p.function.Params[f.param].Name == name {
			return cell
		}
		cell += f.cells()
	}
	return 0
}

// cells returns how many elements of group.cells belong to a field.
func (f *field) cells() int {
	switch f.kind {
	case words, absent:
		return f.width
	case list, requests, completes:
		return 1
	}
	return 0
}

// values returns how many of vals, from the first on, belong to a field.
func (f *field) values(vals []int64) int {
	switch f.kind {
	case words, absent:
		return f.width
	case list, requests, completes:
		return 1 + int(vals[0])*f.width
	}
	return 0
}

// determine adds the values that MPI determines to a call's values, and records the call's effect on objects.
func (x *maker) determine(p *place, c *made, raw []int64) ([]int64, error) {
	f := p.function
	a := &handles.Arguments{Func: f, In: make(map[string][]int64), Out: make(map[string][]int64)}
	at := 0
	var open []int // for each field without values: its index, and the position in raw where its values belong
	for i := range p.fields {
		q := &p.fields[i]
		if q.kind == determined {
			open = append(open, i, at)
			continue
		}
		n := q.values(raw[at:])
		switch v := raw[at : at+n]; {
		case q.param == signature.ParamNewObject:
			a.NewObjectValues = v
		case q.param < 0:
		case q.out:
			a.Out[f.Params[q.param].Name] = v
		default:
			a.In[f.Params[q.param].Name] = v
		}
		at += n
	}
	if raw[0] != 0 {
		return raw, nil
	}
	if !handles.HasDeterminableResults(f) || x.m.fitted[f.Name] || handles.DependsOnColors(f) && len(open) == 0 {
		x.objects.CountCreation(a)
		x.objects.ApplyResults(a, handles.Results{})
		return raw, nil
	}
	if handles.DependsOnColors(f) {
		x.objects.SplitColors = func(members []int) (color, key []int64, taking []bool, err error) {
			all := x.colors(p, c.group, c.env)
			for _, m := range members {
				color, key, taking = append(color, all.color[m]), append(key, all.key[m]), append(taking, all.taking[m])
			}
			return color, key, taking, all.err
		}
	}
	r, err := x.objects.Determine(a)
	if err != nil {
		return nil, err
	}
	a.NewObjectValues = x.objects.NextNewObjectValues(a, r)
	out := make([]int64, 0, len(raw)+len(a.NewObjectValues))
	from := 0
	for k := 0; k < len(open); k += 2 {
		q := &p.fields[open[k]]
		v := a.NewObjectValues
		if q.param != signature.ParamNewObject {
			v = r.Out[f.Params[q.param].Name]
		}
		if v == nil {
			return nil, handles.ErrUnknown
		}
		out = append(append(out, raw[from:open[k+1]]...), v...)
		from = open[k+1]
	}
	x.objects.ApplyResults(a, r)
	return append(out, raw[from:]...), nil
}
