package reissue

import (
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// MadeHandleSet is the handles that calls of a rank make. The value is true if some call other than a conversion from
// an integer makes the handle.
type MadeHandleSet map[handle]bool

type handle struct {
	kind mpi.Kind
	num  int64
}

// MadeHandles collects the handles that the distinct calls of a rank make. It lacks handles made while tracing was
// off, by libraries that call PMPI, and from files whose opening was not recorded.
func MadeHandles(calls []*trace.Call) MadeHandleSet {
	lost := make(map[*trace.Call]bool)
	for {
		made := make(MadeHandleSet)
		for _, c := range calls {
			if lost[c] {
				continue
			}
			for i := range c.Params {
				made.note(c.Params[i].Kind(), &c.Params[i].Out, true)
			}
			made.note(c.Func.ReturnKind, &c.Result, !ConvertsInteger(c.Name()))
		}
		known := len(lost)
		for _, c := range calls {
			if c.Func.Has(trace.AttrPosix) && (whyFile(c) != "" || made.ObstacleText(c, false) != "") {
				lost[c] = true
			}
		}
		if len(lost) == known {
			return made
		}
	}
}

func (h MadeHandleSet) note(kind mpi.Kind, v *trace.Value, made bool) {
	switch v.Type {
	case trace.TypeHandle, trace.TypeMPITObject:
		at := handle{kind, v.Num}
		h[at] = h[at] || made
	case trace.TypeArray:
		for i := range v.Elems {
			h.note(kind, &v.Elems[i], made)
		}
	}
}

// ConvertsInteger reports whether a function converts an integer to a handle.
func ConvertsInteger(name string) bool {
	return strings.HasSuffix(name, "_f2c") || strings.HasSuffix(name, "_fromint")
}

// InverseConversion returns the function for the opposite direction of a conversion between integer and handle.
func InverseConversion(name string) string {
	if of, ok := strings.CutSuffix(name, "_f2c"); ok {
		return of + "_c2f"
	}
	return strings.TrimSuffix(name, "_fromint") + "_toint"
}

// ObstacleText returns the reason why c can't be made again because no call in h makes a handle that it uses; "" if
// it can. foreign: it would be made on an MPI of another flavour. Then an integer that c converts to a handle must
// come from a handle that some call makes.
func (h MadeHandleSet) ObstacleText(c *trace.Call, foreign bool) string {
	if r := &c.Result; foreign && ConvertsInteger(c.Name()) && (r.Type != trace.TypeHandle || r.Num == trace.UnknownHandle ||
		r.Num >= trace.FirstCreatedHandle && !h[handle{c.Func.ReturnKind, r.Num}]) {
		return "integers used as handles belong to one MPI"
	}
	for i := range c.Params {
		p := &c.Params[i]
		list := []trace.Value{p.In}
		if p.In.Type == trace.TypeArray {
			list = p.In.Elems
		}
		for k := range list {
			v := &list[k]
			if (v.Type == trace.TypeHandle || v.Type == trace.TypeMPITObject) && v.Num >= trace.FirstCreatedHandle {
				if _, ok := h[handle{p.Kind(), v.Num}]; !ok {
					if c.Func.Has(trace.AttrPosix) {
						return notSeen(p)
					}
					return "a handle that was made while tracing was off (" + p.Name() + ")"
				}
			}
		}
	}
	return ""
}
