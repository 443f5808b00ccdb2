package proxy

import (
	"strings"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// The names of the functions of runtime/runtime.h that replace callbacks.
var stands = [...]string{
	reissue.StandInNoOp: "(void *)stand_in", reissue.StandInCopy: "(void *)stand_in_copy", reissue.StandInNoCopy: "(void *)stand_in_no_copy",
	reissue.StandInQuery: "stand_in_query", reissue.StandInExtent: "stand_in_extent",
}

// function writes a callback argument.
func (w *writer) function(p *trace.ParamDef, in *node) string {
	v := w.c.vals[0][in.at]
	name := mpi.CallbackName(p.Name, v)
	switch {
	case strings.HasSuffix(name, "FN_NULL") && strings.HasSuffix(w.c.f.Name, "_c"):
		return name + "_C"
	case name != "":
		return name
	case v == mpi.CallbackNull:
		return "NULL"
	}
	kind, _ := reissue.StandInFor(p.Name, false)
	return stands[kind]
}
