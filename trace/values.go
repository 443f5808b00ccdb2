package trace

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
)

var errShape = errors.New("values don't fit the function")

// lookup finds what hashes in values stand for.
type lookup struct {
	strings map[uint64]string
	sites   map[uint64]Site
	room    []Param // for parameters of one call after the other, of which none is kept
	former  bool    // constants have the numbers of a draft, see mpi.Former
}

// params returns room for n parameters.
func (l *lookup) params(n int) []Param {
	if n > len(l.room) {
		return make([]Param, n)
	}
	clear(l.room[:n])
	return l.room[:n]
}

// today returns the number that a constant has in the standard.
func (l *lookup) today(p *ParamDef, n int64) int64 {
	if l.former {
		if kind, ok := mpi.KindNamed(p.Kind); ok {
			return mpi.Former(kind, n)
		}
	}
	return n
}

// A valueReader takes the values of one signature apart, as its function's
// entry in the schema says:
//
//	return code, [result], per parameter [input] [output], aux words
type valueReader struct {
	vals    []int64
	pos     int
	err     error
	find    *lookup
	ranks   []bool    // by position: is a rank; filled in if not nil
	names   []string  // by position: what it is; filled in if not nil
	means   *mpi.Call // what f is in the standard; only where movable is of interest
	varies  bool      // the parameter at hand may be in a lane
	movable *movable  // positions of what may go into a lane; see Movable
	name    string    // of the next value
	arrays  *arrays   // of integers: only where they are is of interest
	counts  int       // where the array of the parameter before begins, -1 if there is none
}

// valueNames returns what the values of a signature are: the parameter that each
// belongs to.
func valueNames(f *Function, vals []int64) []string {
	names := make([]string, len(vals))
	if len(vals) == 0 {
		return names
	}
	outputs := vals[0] == 0 || vals[0] == mpi.ErrInStatus
	for range 2 {
		d := valueReader{vals: vals, pos: 1, find: &lookup{}, names: names}
		if d.call(f, outputs); d.err == nil {
			break
		}
		outputs = !outputs
	}
	names[0] = "return code"
	return names
}

// readCall decodes a signature. Outputs are missing if the call failed, which
// the return code mostly tells; the values themselves always do.
func readCall(f *Function, vals []int64, find *lookup, ranks []bool) (*Call, error) {
	if len(vals) == 0 {
		return nil, fmt.Errorf("%s: no return code: %w", f.Name, errShape)
	}
	outputs := vals[0] == 0 || vals[0] == mpi.ErrInStatus
	for range 2 {
		d := valueReader{vals: vals, pos: 1, find: find, ranks: ranks}
		if c := d.call(f, outputs); d.err == nil {
			return c, nil
		}
		outputs = !outputs
	}
	return nil, fmt.Errorf("%s: %d values: %w", f.Name, len(vals), errShape)
}

// readForms is readCall for who wants to know only what values are ranks, and which say
// what follows.
func readForms(f *Function, vals []int64, find *lookup, ranks []bool, m *movable) error {
	if len(vals) == 0 {
		return fmt.Errorf("%s: no return code: %w", f.Name, errShape)
	}
	outputs := vals[0] == 0 || vals[0] == mpi.ErrInStatus
	for range 2 {
		*m = movable{}
		d := valueReader{vals: vals, pos: 1, find: find, ranks: ranks, movable: m}
		if d.call(f, outputs); d.err == nil {
			return nil
		}
		outputs = !outputs
	}
	return fmt.Errorf("%s: %d values: %w", f.Name, len(vals), errShape)
}

func (d *valueReader) call(f *Function, outputs bool) *Call {
	c := &Call{Func: f, Return: d.vals[0], Params: d.find.params(len(f.Params))}
	d.label("", "result", "")
	if outputs && f.Result != None {
		c.Result = d.scalar(&ParamDef{Kind: f.Returns, Type: f.Result}, true)
	}
	for i := range f.Params {
		p := &f.Params[i]
		c.Params[i].Def = p
		d.varies = d.means != nil && d.means.Params[i].MayVary()
		if p.In {
			d.label(p.Name, "", "")
			at := d.pos
			if !f.maySum(i) {
				d.counts = -1
			}
			c.Params[i].In = d.part(p, p.Dims, false)
			d.counts = at
		}
		if p.Out && outputs {
			d.label(p.Name, "", "")
			if p.In {
				d.label(p.Name, " on return", "")
			}
			d.counts = -1
			c.Params[i].Out = d.part(p, p.Dims, true)
		}
	}
	d.aux(c)
	return c
}

// aux reads what follows the parameters of calls that make communicators or
// datatypes.
func (d *valueReader) aux(c *Call) {
	if d.err != nil {
		return
	}
	w := d.vals[d.pos:]
	for i := range w {
		if d.names != nil {
			d.names[d.pos+i] = "what was made"
		}
	}
	switch {
	case len(w) == 0:
	case len(w) == 7 && c.Func.Has(CreatesComm):
		c.NewComm = &NewComm{w[0], w[1], w[2], w[3], w[4], w[5], w[6]}
	case len(w) == 5 && c.Func.Has(CreatesType):
		c.NewType = &NewType{w[0], w[1], w[2], w[3], w[4]}
	default:
		d.err = errShape
	}
}

func (d *valueReader) next() int64 {
	if d.pos >= len(d.vals) {
		d.err = errShape
		return 0
	}
	if d.names != nil && d.pos < len(d.names) {
		d.names[d.pos] = d.name
	}
	d.pos++
	return d.vals[d.pos-1]
}

// label names the values that follow.
func (d *valueReader) label(param, what, part string) {
	if d.names != nil {
		d.name = param + what + part
	}
}

// part reads a scalar, an array or an array of arrays.
func (d *valueReader) part(p *ParamDef, dims int, out bool) Value {
	if dims == 0 {
		return d.scalar(p, out)
	}
	d.form(d.pos)
	v := Value{Type: Array, Num: d.next()}
	if d.arrays != nil && p.Type == Int && d.err == nil {
		d.array(d.pos-1, v.Num)
		return v
	}
	if v.Num < ArrayStatusesIgnore || v.Num > int64(len(d.vals)-d.pos) {
		d.err = errShape
	}
	if d.err != nil || v.Num <= 0 {
		return v
	}
	v.Elems = make([]Value, v.Num)
	for i := range v.Elems {
		if d.err != nil {
			break
		}
		v.Elems[i] = d.part(p, dims-1, out)
	}
	return v
}

func (d *valueReader) scalar(p *ParamDef, out bool) Value {
	v := Value{Type: p.Type}
	if p.Type == None {
		return v
	}
	at := d.pos
	v.Num = d.next()
	switch p.Type {
	case Handle:
		v.Num = d.find.today(p, v.Num)
	case Int:
		v.Num = d.find.today(p, v.Num)
		if p.Kind == "rank" {
			d.mark(at)
		}
		if d.varies {
			d.move(at)
		}
	case Request:
		v.Form, v.ID, v.Thread = requestForm(v.Num)
	case Address:
		d.segment(at)
		seg := v.Num
		v.Num = 0
		v.Addr = Location{
			Class: AddressClass(seg & 7), Device: int(seg >> 3 & 31), ID: seg >> 8, Offset: d.next(),
		}
		if d.varies && distant(v.Addr.Class) {
			d.move(at + 1)
		}
	case FunctionRef:
		if s, ok := d.find.sites[uint64(v.Num)]; ok {
			v.Site = &s
		}
	case String:
		d.text(&v)
	case Status:
		d.form(at)
		v.Status = d.status(v.Num, out)
		v.Num = 0
	}
	return v
}

func (d *valueReader) text(v *Value) {
	if v.Num == 0 {
		v.Null = true
		return
	}
	text, ok := d.find.strings[uint64(v.Num)]
	if !ok {
		text = fmt.Sprintf("#%016x", uint64(v.Num))
	}
	v.Text = text
}

func (d *valueReader) mark(at int) {
	if d.ranks != nil && at < len(d.ranks) {
		d.ranks[at] = true
	}
}

func (d *valueReader) status(form int64, out bool) *StatusValue {
	s := &StatusValue{Form: StatusForm(form)}
	switch s.Form {
	case StatusAbsent, StatusEmpty:
	case StatusFilled, StatusIgnored:
		d.mark(d.pos)
		name := d.name
		field := func(part string) int64 {
			d.label(name, "", part)
			return d.next()
		}
		d.move(d.pos + 1)
		s.Source, s.Tag, s.Count, s.Cancelled = field(".source"), field(".tag"), field(".count"), field(".cancelled") != 0
		d.name = name
		if out && d.vals[0] == mpi.ErrInStatus {
			s.Error, s.HasError = d.next(), true
		}
	case StatusSend:
		s.Cancelled = d.next() != 0
	default:
		d.err = errShape
	}
	return s
}

// threadBits is how many bits of another thread's request say which thread.
const threadBits = 10

// requestForm splits the number of a request. The ID of a one-shot request is
// how many creations ago it was made, until numberRequests makes it the number
// of creations before it.
func requestForm(n int64) (form RequestForm, id int64, thread int) {
	switch {
	case n == 0:
		return RequestNull, 0, 0
	case n == -1:
		return RequestUnknown, 0, 0
	case n < 0:
		n = -2 - n
		return RequestForeign, n>>threadBits + 1, int(n & (1<<threadBits - 1))
	case n&1 != 0:
		return RequestPersistent, n >> 1, 0
	}
	return RequestOnce, n >> 1, 0
}

// creations counts the one-shot requests that a call makes, and tells whether
// requests occur in it at all.
func (c *Call) creations() (made int64, any bool) {
	for i := range c.Params {
		p := &c.Params[i]
		if p.Def.Type != Request {
			continue
		}
		if p.Out.Type == Request && p.Out.Form == RequestOnce {
			made++
		}
		any = true
	}
	return made, any
}

// numberRequests returns the call with requests numbered by creation on the
// stream, of which before came before the call.
func (c *Call) numberRequests(before, made int64) *Call {
	d := *c
	d.Params = slices.Clone(c.Params)
	for i := range d.Params {
		if p := &d.Params[i]; p.Def.Type == Request { // few are
			p.In, p.Out = numbered(p.In, before), numbered(p.Out, before+made)
		}
	}
	return &d
}

func numbered(v Value, count int64) Value {
	switch {
	case v.Type == Request && v.Form == RequestOnce:
		if v.ID = count - v.ID; v.ID < 0 {
			v.ID, v.Form = 0, RequestUnknown // made while tracing was off
		}
	case v.Type == Array && len(v.Elems) > 0 && (v.Elems[0].Type == Request || v.Elems[0].Type == Array):
		elems := make([]Value, len(v.Elems))
		for i := range elems {
			elems[i] = numbered(v.Elems[i], count)
		}
		v.Elems = elems
	}
	return v
}
