package proxy

import (
	"debug/elf"
	"path"
	"strings"

	"github.com/spoor-hpc/spoor/trace"
)

// stands are the stand-ins for callbacks, by parameter.
var stands = map[string]string{
	"user_fn": "stand_in_op", "comm_copy_attr_fn": "stand_in_copy", "comm_delete_attr_fn": "stand_in_delete",
	"copy_fn": "stand_in_copy", "delete_fn": "stand_in_delete",
	"type_copy_attr_fn": "stand_in_type_copy", "type_delete_attr_fn": "stand_in_type_delete",
	"win_copy_attr_fn": "stand_in_win_copy", "win_delete_attr_fn": "stand_in_win_delete",
	"comm_errhandler_fn": "stand_in_comm_errors", "handler_fn": "stand_in_comm_errors",
	"win_errhandler_fn": "stand_in_win_errors", "file_errhandler_fn": "stand_in_file_errors", "session_errhandler_fn": "stand_in_session_errors",
	"read_conversion_fn": "stand_in_convert", "write_conversion_fn": "stand_in_convert", "dtype_file_extent_fn": "stand_in_extent",
	"query_fn": "stand_in_query", "free_fn": "stand_in_free", "cancel_fn": "stand_in_cancel",
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
	stand := stands[p.Name]
	if stand == "" {
		return "NULL"
	}
	if strings.HasSuffix(w.c.f.Name, "_c") && strings.HasSuffix(p.Name, "conversion_fn") {
		return "(void *)" + stand
	}
	if known.null == "" {
		if strings.HasSuffix(w.c.f.Name, "_c") && p.Name == "user_fn" {
			return "(void *)" + stand
		}
		return stand
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
			return strings.Replace(stand, "copy", "no_copy", 1)
		case strings.Contains(n, "NULL"):
			return known.null
		}
	}
	return stand
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
