package objects

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/naming"
	"github.com/spoor-hpc/spoor/trace"
)

// setters are the functions by which programs name objects: what they name, and the parameters.
var setters = map[string]struct {
	of           kind
	object, name string
}{
	"MPI_Comm_set_name": {comm, "comm", "comm_name"},
	"MPI_Win_set_name":  {window, "win", "win_name"},
	"MPI_Type_set_name": {datatype, "datatype", "type_name"},
}

// maxNamed bounds how many calls that name objects are looked at on a rank.
const maxNamed = 1 << 16

// Names are those that a rank's program gave to its objects.
type Names struct {
	bound map[key]naming.History[string]
}

// Names finds the names that the program gives to communicators, windows and datatypes. An object that is made
// under the number of one that had a name has none.
func (x *Rank) Names() (*Names, error) {
	n := &Names{bound: make(map[key]naming.History[string])}
	sets := make([]bool, x.k.Terminals())
	for t := range sets {
		c, err := x.k.Called(t)
		if err != nil {
			return nil, err
		}
		_, sets[t] = setters[c.Name()]
	}
	for stream := range x.counts {
		calls := x.k.Occurrences(stream, func(t int) bool { return sets[t] })
		for i := range min(calls.Total(), maxNamed) {
			index, _ := calls.Nth(i)
			c, err := x.k.Call(stream, index)
			if err != nil {
				return nil, err
			}
			s := setters[c.Name()]
			object, name := c.Param(s.object), c.Param(s.name)
			if object == nil || name == nil {
				continue
			}
			if id, ok := own(s.of, &object.In); ok {
				k := key{s.of, id}
				n.bound[k] = append(n.bound[k], naming.Binding[string]{Stream: stream, Index: index, To: name.In.Text})
			}
		}
	}
	for k, list := range n.bound {
		if h := x.made[k]; h != nil && h.total > 1 && h.total <= maxBindings {
			if h.positions == nil {
				x.locate(h)
			}
			for _, b := range h.positions {
				list = append(list, naming.Binding[string]{Stream: b.Stream, Index: b.Index})
			}
			slices.SortFunc(list, func(a, b naming.Binding[string]) int {
				return cmp.Or(cmp.Compare(a.Stream, b.Stream), cmp.Compare(a.Index, b.Index))
			})
			n.bound[k] = list
		}
	}
	return n, nil
}

// Of calls f with each named object that a call passes or makes, by the handle's text, and its name there.
func (n *Names) Of(c *trace.Call, f func(handle, name string)) {
	if len(n.bound) == 0 {
		return
	}
	seen := make(map[key]bool)
	look := func(of kind, kind string, v *trace.Value) {
		id, ok := own(of, v)
		if k := (key{of, id}); ok && !seen[k] {
			seen[k] = true
			if b, ok := n.bound[k].At(c.Stream, c.Index); ok && b.To != "" && (b.Stream != c.Stream || b.Index <= c.Index) {
				f(v.Render(kind), b.To)
			}
		}
	}
	for i := range c.Params {
		p := &c.Params[i]
		of, ok := kinds[p.Kind()]
		if !ok || of == request || of == file {
			continue
		}
		for _, v := range []*trace.Value{&p.In, &p.Out} {
			look(of, p.Kind(), v)
			for j := range v.Elems {
				look(of, p.Kind(), &v.Elems[j])
			}
		}
	}
}
