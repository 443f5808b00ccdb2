package proxy

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/trace"
)

// Copy callbacks of the original may have made values of their own, which their
// stand-ins don't know. Where the trace shows such a value, the program puts it
// there before it asks.

// An attributeCall is a function that sets or gets attributes.
type attributeCall struct{ setter, object string }

var attributeCalls = map[string]attributeCall{
	"MPI_Comm_get_attr": {"MPI_Comm_set_attr", "comm"}, "MPI_Attr_get": {"MPI_Attr_put", "comm"},
	"MPI_Win_get_attr": {"MPI_Win_set_attr", "win"}, "MPI_Type_get_attr": {"MPI_Type_set_attr", "type"},
}

// attribute writes what comes before a call that found a value which none of the
// variant's calls has set.
func (w *writer) attribute() {
	a, ok := attributeCalls[w.c.f.Name]
	if !ok {
		return
	}
	const object, key, value = 0, 1, 2 // parameters of all of them
	got := &w.c.out[value]
	if flag, ok := w.out("flag"); !ok || flag == 0 || got.typ != trace.Address || signature.SegClass(w.c.vals[0][got.at]) == signature.SegSpecial {
		return
	}
	number := w.c.vals[0][w.c.in[key].at]
	if name("keyval", number) != "" {
		// In Fortran values are numbers. One that the program uses too, be it by
		// chance, is what this MPI says.
		if w.v.passes(w.c.vals[0][got.at]) {
			w.after = append(w.after, w.giving("gave", got.at, ", pointer, -1"))
		}
		return
	}
	if !same(w.c.column(w.c.in[key].at)) {
		return
	}
	for _, c := range w.v.calls {
		if c.f.Name != a.setter && !(a.object == "comm" && (c.f.Name == "MPI_Attr_put" || c.f.Name == "MPI_Comm_set_attr")) {
			continue
		}
		set := &c.in[value]
		if c.vals[0][c.in[key].at] == number && c.vals[0][set.at] == w.c.vals[0][got.at] && c.vals[0][set.at+1] == w.c.vals[0][got.at+1] {
			return
		}
	}
	w.first = append(w.first, fmt.Sprintf("%s_attribute(%s, %s, %s);", a.object, w.argument(object), w.argument(key), w.memory(got.at, "NULL")))
}

// passes reports whether a call of the variant passes an address in an unknown place.
func (v *variant) passes(segment int64) bool {
	if trace.AddressClass(signature.SegClass(segment)) != trace.UnknownPlace {
		return false
	}
	for _, c := range v.calls {
		for i := range c.in {
			if n := &c.in[i]; n.typ == trace.Address && c.vals[0][n.at] == segment {
				return true
			}
		}
	}
	return false
}
