package proxy

import (
	"debug/elf"
	"path"
	"strings"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/trace"
)

// stands are the stand-ins of runtime/runtime.h.
var stands = [...]string{
	reissue.StandInNothing: "(void *)stand_in", reissue.StandInCopy: "(void *)stand_in_copy", reissue.StandInNoCopy: "(void *)stand_in_no_copy",
	reissue.StandInQuery: "stand_in_query", reissue.StandInExtent: "stand_in_extent",
}

// predefined callbacks of the parameters, for a null pointer and by the words
// in the names that libraries give them.
var predefined = map[string]struct{ null, dup string }{
	"comm_copy_attr_fn": {"MPI_COMM_NULL_COPY_FN", "MPI_COMM_DUP_FN"}, "comm_delete_attr_fn": {"MPI_COMM_NULL_DELETE_FN", ""},
	"type_copy_attr_fn": {"MPI_TYPE_NULL_COPY_FN", "MPI_TYPE_DUP_FN"}, "type_delete_attr_fn": {"MPI_TYPE_NULL_DELETE_FN", ""},
	"win_copy_attr_fn": {"MPI_WIN_NULL_COPY_FN", "MPI_WIN_DUP_FN"}, "win_delete_attr_fn": {"MPI_WIN_NULL_DELETE_FN", ""},
	"read_conversion_fn": {"MPI_CONVERSION_FN_NULL", ""}, "write_conversion_fn": {"MPI_CONVERSION_FN_NULL", ""},
	"copy_fn": {"MPI_NULL_COPY_FN", "MPI_DUP_FN"}, "delete_fn": {"MPI_NULL_DELETE_FN", ""},
}

// function is a callback.
func (w *writer) function(p *trace.ParamDef, in *node) string {
	known := predefined[p.Name]
	v := w.c.vals[0][in.at]
	if v == 0 {
		if strings.HasSuffix(w.c.f.Name, "_c") && strings.HasSuffix(p.Name, "conversion_fn") {
			return "MPI_CONVERSION_FN_NULL_C"
		}
		if known.null != "" {
			return known.null
		}
		return "NULL"
	}
	kind, _ := reissue.StandInFor(p.Name, false)
	if known.null == "" || strings.HasSuffix(w.c.f.Name, "_c") {
		return stands[kind]
	}
	for i := range w.c.c.Params {
		q := &w.c.c.Params[i]
		if q.Def.Name != p.Name || q.In.Site == nil {
			continue
		}
		switch n := strings.ToUpper(w.g.symbol(q.In.Site)); {
		case known.dup != "" && strings.Contains(n, "DUP"):
			return known.dup
		case strings.Contains(n, "NULL") && w.g.flavour == "mpich":
			// In C these are null pointers there, and no functions as in Fortran.
			kind, _ = reissue.StandInFor(p.Name, true)
		case strings.Contains(n, "NULL"):
			return known.null
		}
	}
	return stands[kind]
}

// symbol names a function of an MPI library that is still where it was.
func (g *generator) symbol(s *trace.Site) string {
	if !strings.HasPrefix(path.Base(s.Module), "libmpi") {
		return ""
	}
	f, err := elf.Open(s.Module)
	if err != nil {
		return ""
	}
	defer f.Close()
	list, err := f.DynamicSymbols()
	if err != nil {
		return ""
	}
	for _, x := range list {
		if x.Value == s.Offset && elf.ST_TYPE(x.Info) == elf.STT_FUNC {
			return x.Name
		}
	}
	return ""
}
