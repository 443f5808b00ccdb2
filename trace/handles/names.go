package handles

import (
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// A setter is a function that sets an object's name: the kind of the object, and the names of its parameters for the
// object and for the name.
type setter struct {
	of           kind
	object, name string
}

var setters = map[string]*setter{
	"MPI_Comm_set_name": {comm, "comm", "comm_name"},
	"MPI_Win_set_name":  {window, "win", "win_name"},
	"MPI_Type_set_name": {datatype, "datatype", "type_name"},
}

// maxNamed is the largest number of a stream's calls of setters that are read.
const maxNamed = 1 << 16

// A naming is a call that sets an object's name, as MPI_Comm_set_name does.
type naming struct {
	of     kind
	object *trace.Value
	binding[string]
}

// namings yields the calls of a rank that set names of objects. It ends after an error.
func (t *Table) namings(k *trace.Rank) iter.Seq2[naming, error] {
	return func(yield func(naming, error) bool) {
		c := t.class(k)
		for stream := range k.Streams() {
			if len(c.setters) == 0 {
				return
			}
			calls := k.Occurrences(stream, func(t int) bool { return c.setters[t] != nil })
			for i := range min(calls.Total(), maxNamed) {
				index, n := calls.Nth(i)
				call, err := k.Call(stream, index)
				if err != nil {
					yield(naming{}, err)
					return
				}
				s := c.setters[n]
				object, name := call.Param(s.object), call.Param(s.name)
				if object == nil || name == nil {
					continue
				}
				if !yield(naming{s.of, &object.In, binding[string]{stream, index, name.In.Text}}, nil) {
					return
				}
			}
		}
	}
}

// nameComms sets Name of the communicators: the first name that the lowest rank gave to each.
func (t *Table) nameComms(comms *Comms) error {
	for k, err := range t.ranks(func(c *class) bool { return len(c.setters) > 0 }) {
		if err != nil {
			return err
		}
		for n, err := range t.namings(k) {
			if err != nil {
				return err
			}
			if n.of != comm || n.object.Type != trace.TypeHandle {
				continue
			}
			if c := comms.At(k.Number(), n.stream, n.index, n.object.Num); c != nil && c.Name == "" {
				c.Name = n.to
			}
		}
	}
	return nil
}

// ObjectNames are the names that the program gave to the communicators, windows and datatypes of one rank.
type ObjectNames struct {
	past map[key]history[string]
}

// Names returns the names that the program gave to the communicators, windows and datatypes of a rank. If a freed
// object's number is used for a new object, the new object does not inherit the name.
func (t *Table) Names(k *trace.Rank) (*ObjectNames, error) {
	names := &ObjectNames{past: make(map[key]history[string])}
	for n, err := range t.namings(k) {
		if err != nil {
			return nil, err
		}
		if id, ok := own(n.of, n.object); ok {
			k := key{n.of, id}
			names.past[k] = append(names.past[k], n.binding)
		}
	}
	if len(names.past) == 0 {
		return names, nil
	}
	x, err := t.Rank(k)
	if err != nil {
		return nil, err
	}
	for stream, list := range x.makings(func(o *object) extent {
		if len(names.past[o.name]) > 0 && o.total > 1 && o.total <= maxBindings {
			return allOf
		}
		return noneOf
	}) {
		for _, at := range list {
			k := x.made[at.maker].name
			names.past[k] = append(names.past[k], binding[string]{stream: stream, index: at.index})
		}
	}
	for _, list := range names.past {
		slices.SortFunc(list, order)
	}
	return names, nil
}

// Empty reports whether no object has a name.
func (n *ObjectNames) Empty() bool { return n == nil || len(n.past) == 0 }

// EachNamed calls f for each named object that a call passes or creates. handle is the text of its handle, name the
// name that it has at the time of the call. A nil ObjectNames has no names.
func (n *ObjectNames) EachNamed(c *trace.Call, f func(handle, name string)) {
	if n.Empty() {
		return
	}
	seen := make(map[key]bool)
	look := func(of kind, v *trace.Value) {
		id, ok := own(of, v)
		if k := (key{of, id}); ok && !seen[k] {
			seen[k] = true
			if b, ok := n.past[k].at(c.Stream, c.Index); ok && b.to != "" && (b.stream != c.Stream || b.index <= c.Index) {
				f(v.Render(mpiKinds[of]), b.to)
			}
		}
	}
	for i := range c.Params {
		p := &c.Params[i]
		of, ok := kindOf(p)
		if !ok || of == request || of == file {
			continue
		}
		for _, v := range []*trace.Value{&p.In, &p.Out} {
			look(of, v)
			for j := range v.Elems {
				look(of, &v.Elems[j])
			}
		}
	}
}
