package extrapolate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/expr"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// changesObjects reports whether calls of a function make objects of which rules know, or end them.
func changesObjects(f *trace.Function) bool {
	return f.Has(trace.CreatesComm) || f.Has(trace.CreatesType) || slices.ContainsFunc(f.Params, func(p trace.ParamDef) bool {
		return p.Kind == mpi.KindGroup && p.Out || p.Kind == mpi.KindComm && p.Dir == trace.DirFree
	})
}

// counted takes down that a call made or ended a communicator, where its number among others does not come from results.
func (o *objects) counted(a *arguments) {
	for i := range a.f.Params {
		if p := &a.f.Params[i]; p.Kind == mpi.KindComm && p.Dir == trace.DirFree && len(a.in[p.Name]) == 1 {
			o.made.ForgetChildren(a.in[p.Name][0])
		}
	}
	if !a.f.Has(trace.CreatesComm) {
		return
	}
	var info symbol.CommInfo
	if len(a.made) > len(info) {
		copy(info[:], a.made[1:])
	}
	o.made.Ordinal(a.parent(), a.f.ID, info)
}

// counts returns what is known of the communicator or datatype that is the result of a call, and counts communicators.
func (o *objects) counts(a *arguments, r results) []int64 {
	switch {
	case r.comm != nil:
		return o.describe(a, r.comm)
	case r.typ != nil:
		return r.typ.made()
	}
	o.counted(a)
	return nil
}

// A contradiction is a call whose results are not what a rule says.
type contradiction struct{ function string }

func (e *contradiction) Error() string { return e.function + " does not do what is expected of it" }

// determined takes down what a call does to objects, and says which of its values MPI determines; nil: none.
func (x *reading) determined(t int, c *trace.Call, spans []signature.Span, vals []int64) (func(s *signature.Span) bool, error) {
	f := c.Func
	has := ruleOf(f) != nil
	if vals[0] != 0 || f.Result != trace.None || !has && !changesObjects(f) {
		return nil, nil
	}
	a := &arguments{f: f, in: make(map[string][]int64), out: make(map[string][]int64)}
	for i := range spans {
		switch s := &spans[i]; {
		case s.Param == signature.Made:
			a.made = vals[s.At:s.End]
		case s.Param == signature.Result:
		case s.Out:
			a.out[f.Params[s.Param].Name] = vals[s.At:s.End]
		default:
			a.in[f.Params[s.Param].Name] = vals[s.At:s.End]
		}
	}
	if !has || x.p.fitted[f.Name] {
		x.objects.counted(a)
		x.objects.bind(a, results{})
		return nil, nil
	}
	if isSplit(f) {
		x.objects.counted(a)
		if a.made == nil {
			return nil, nil
		}
		n, err := x.newComm(t, c)
		if err != nil {
			return nil, err
		}
		x.objects.bind(a, results{comm: &comm{members: n.Members(), own: int(c.NewComm.Rank), size: n.Size}})
		return func(s *signature.Span) bool { return s.Param == signature.Made }, nil
	}
	r, err := x.objects.results(a)
	if err != nil {
		return nil, &contradiction{f.Name}
	}
	made := x.objects.counts(a, r)
	same := slices.Equal(made, a.made)
	for name, v := range r.out {
		same = same && slices.Equal(v, a.out[name])
	}
	if !same {
		return nil, &contradiction{f.Name}
	}
	x.objects.bind(a, r)
	return func(s *signature.Span) bool {
		return s.Param == signature.Made || s.Param >= 0 && s.Out && r.out[f.Params[s.Param].Name] != nil
	}, nil
}

// newComm finds which communicator a call makes.
func (x *reading) newComm(t int, c *trace.Call) (*handles.Comm, error) {
	if x.comms == nil {
		var err error
		if x.comms, err = handles.Of(x.p.runs[len(x.p.runs)-1].r).Comms(); err != nil {
			return nil, err
		}
	}
	n := x.comms.At(x.k.Number(), 0, x.k.Firsts(0)[t]+1, c.Param("newcomm").Out.Num)
	if n == nil || slices.Contains(n.Members(), -1) {
		return nil, &contradiction{c.Func.Name}
	}
	return n, nil
}

// A splitter is a rank's part in an MPI_Comm_split.
type splitter struct {
	rank       int // in the new communicator
	color, key int64
	place      int32
}

// splitAt keeps how a rank took part in one.
func (x *reading) splitAt(t int, c *trace.Call, place int32) {
	if !isSplit(c.Func) || c.NewComm == nil || x.p.fitted[c.Func.Name] {
		return
	}
	n, err := x.newComm(t, c)
	if err != nil {
		return // determined said so
	}
	s := splitter{int(c.NewComm.Rank), c.Param("color").In.Num, c.Param("key").In.Num, place}
	if !slices.Contains(x.p.splits[n], s) {
		x.p.splits[n] = append(x.p.splits[n], s)
	}
}

// checkSplits holds the communicators of a run against the rule.
func (p *program) checkSplits() error {
	defer clear(p.splits)
	colors := make(map[string]bool)
	for n, list := range p.splits {
		slices.SortFunc(list, func(a, b splitter) int { return cmp.Compare(a.rank, b.rank) })
		color := fmt.Sprint(n.Parent.Key(), n.Ordinal, list[0].color)
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
			return &contradiction{splitting}
		}
	}
	return nil
}

// A splitKey is an MPI_Comm_split of a run that is made: the iterations of loops are the same for all that take part.
type splitKey struct {
	g       *group
	i, j, n int64
}

// colored is what each rank passes there.
type colored struct {
	taking     []bool
	color, key []int64
	err        error
}

// colors evaluates what all ranks pass to a call of MPI_Comm_split.
func (x *maker) colors(p *place, g *group, e env) *colored {
	color, key := g.cells[p.cellOf("color")].one, g.cells[p.cellOf("key")].one
	at := splitKey{g, e[expr.Iteration], e[expr.Outer], e[expr.Length]}
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
		e[expr.Rank] = rank
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

// cellOf is the cell of a parameter that goes in.
func (p *place) cellOf(name string) (cell int) {
	for _, f := range p.fields {
		if f.param >= 0 && f.param < len(p.function.Params) && !f.out && p.function.Params[f.param].Name == name {
			return cell
		}
		cell += f.cells()
	}
	return 0
}

// cells is how many cells a field has.
func (f *field) cells() int {
	switch f.kind {
	case words, absent:
		return f.width
	case list, requests, completes:
		return 1
	}
	return 0
}

// values is how many of a place's values are those of a field, which they begin with.
func (f *field) values(vals []int64) int {
	switch f.kind {
	case words, absent:
		return f.width
	case list, requests, completes:
		return 1 + int(vals[0])*f.width
	}
	return 0
}

// determine adds the values that MPI determines to those of a call, and takes down what the call does to objects.
func (x *maker) determine(p *place, c *made, raw []int64) ([]int64, error) {
	f := p.function
	a := &arguments{f: f, in: make(map[string][]int64), out: make(map[string][]int64)}
	at := 0
	var open []int // fields, and where their values go
	for i := range p.fields {
		q := &p.fields[i]
		if q.kind == determined {
			open = append(open, i, at)
			continue
		}
		n := q.values(raw[at:])
		switch v := raw[at : at+n]; {
		case q.param == signature.Made:
			a.made = v
		case q.param < 0:
		case q.out:
			a.out[f.Params[q.param].Name] = v
		default:
			a.in[f.Params[q.param].Name] = v
		}
		at += n
	}
	if raw[0] != 0 {
		return raw, nil
	}
	if ruleOf(f) == nil || x.m.fitted[f.Name] || isSplit(f) && len(open) == 0 {
		x.objects.counted(a)
		x.objects.bind(a, results{})
		return raw, nil
	}
	if isSplit(f) {
		x.objects.colors = func(members []int) (color, key []int64, taking []bool, err error) {
			all := x.colors(p, c.group, c.env)
			for _, m := range members {
				color, key, taking = append(color, all.color[m]), append(key, all.key[m]), append(taking, all.taking[m])
			}
			return color, key, taking, all.err
		}
	}
	r, err := x.objects.results(a)
	if err != nil {
		return nil, err
	}
	a.made = x.objects.counts(a, r)
	out := make([]int64, 0, len(raw)+len(a.made))
	from := 0
	for k := 0; k < len(open); k += 2 {
		q := &p.fields[open[k]]
		v := a.made
		if q.param != signature.Made {
			v = r.out[f.Params[q.param].Name]
		}
		if v == nil {
			return nil, errUnknown
		}
		out = append(append(out, raw[from:open[k+1]]...), v...)
		from = open[k+1]
	}
	x.objects.bind(a, r)
	return append(out, raw[from:]...), nil
}
