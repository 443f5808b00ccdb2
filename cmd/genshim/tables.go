package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
)

// tables returns a C file with tables of the MPI functions (names, results, parameters) and of the flavours.
func tables(calls []*mpi.Call) []byte {
	var b bytes.Buffer
	b.WriteString(banner)
	b.WriteString("#include \"calls.h\"\n#include \"flavour.h\"\n\n")
	b.WriteString("const char *const sp_names[SP_NCALLS] = {\n")
	for _, c := range calls {
		fmt.Fprintf(&b, "\t[%d] = \"P%s\",\n", c.ID, c.Name)
	}
	b.WriteString("};\n\nconst uint8_t sp_returns[SP_NCALLS] = {\n")
	for _, c := range calls {
		fmt.Fprintf(&b, "\t[%d] = %s,\n", c.ID, newCall(c).returns())
	}
	b.WriteString("};\n\n")
	params(&b, calls)
	moved(&b, calls)
	b.WriteString("const struct sp_layout sp_layouts[SP_FLAVOURS] = {\n")
	for _, f := range mpi.Flavours() {
		layout(&b, f)
	}
	b.WriteString("};\n\nconst struct sp_predefined sp_predefined[] = {\n")
	n := 0
	for _, c := range mpi.AllConstants() {
		for _, k := range c.Kinds {
			if k.IsHandle() {
				predefined(&b, k, &c)
				n++
			}
		}
	}
	fmt.Fprintf(&b, "};\nconst int sp_npredefined = %d;\n", n)
	return b.Bytes()
}

// moved writes a table that has, for each function, the numbers of the parameters that give the size of the first
// buffer sent or received: buffer, count, datatype, communicator and root. Buffers with a count for each block are left
// out.
func moved(b *bytes.Buffer, calls []*mpi.Call) {
	b.WriteString("const struct sp_moved sp_moved[SP_NCALLS] = {\n")
	for _, c := range calls {
		i := slices.IndexFunc(c.Params, func(p mpi.Param) bool { return p.BufferContent.Transferred })
		if i < 0 {
			continue
		}
		x := &c.Params[i].BufferContent
		count, datatype := c.Index(x.Count), c.Index(x.Type)
		if count < 0 || datatype < 0 || c.Params[count].Array || c.Params[datatype].Array || x.Partitions != "" || x.IsOwnElementOnly {
			continue
		}
		times, root := "SP_ONCE", -1
		if x.Comm != "" {
			times = map[mpi.Property]string{mpi.PropertyCommSize: "SP_TIMES_SIZE", mpi.PropertyInDegree: "SP_TIMES_INDEGREE", mpi.PropertyOutDegree: "SP_TIMES_OUTDEGREE"}[x.Multiplicity]
		}
		if c.Params[count].OnlyRoot {
			root = c.Index("root")
		}
		fmt.Fprintf(b, "\t[%d] = {%d, %d, %d, %d, %d, %s},\n", c.ID, i+1, count+1, datatype+1, c.Index("comm")+1, root+1, times)
	}
	b.WriteString("};\n\n")
}

// params writes the names and kinds of all parameters as one C string. A table of pointers to strings would need
// relocations, which take private memory in each process.
func params(b *bytes.Buffer, calls []*mpi.Call) {
	var text, at, count bytes.Buffer
	n := 0
	for _, c := range calls {
		g := newCall(c)
		fmt.Fprintf(&at, "\t[%d] = %d,\n", c.ID, n)
		fmt.Fprintf(&count, "\t[%d] = %d,\n", c.ID, len(g.arguments()))
		for _, p := range g.params {
			if p.Kind != mpi.KindVarargs {
				fmt.Fprintf(&text, "\t\"%s\\0%s\\0\"\n", p.Name, p.Kind)
				n += len(p.Name) + len(p.Kind.String()) + 2
			}
		}
	}
	fmt.Fprintf(b, "const char sp_params[] =\n%s\t\"\";\n\nconst uint32_t sp_params_at[SP_NCALLS] = {\n%s};\n\n", text.String(), at.String())
	fmt.Fprintf(b, "const uint8_t sp_params_n[SP_NCALLS] = {\n%s};\n\n", count.String())
}

func layout(b *bytes.Buffer, f mpi.Flavour) {
	l := mpi.LayoutOf(f)
	s := l.Status
	fmt.Fprintf(b, "\t[%d] = {\n\t\t.name = \"%s\",\n\t\t.handle_size = %d,\n", f, f, l.HandleSize(mpi.KindComm))
	fmt.Fprintf(b, "\t\t.status_size = %d, .st_source = %d, .st_tag = %d, .st_error = %d, .st_count = %d,\n",
		s.SizeBytes, s.SourceOffset, s.TagOffset, s.ErrorOffset, s.CountForm)
	for _, c := range [][2]string{
		{"any_source", "MPI_ANY_SOURCE"}, {"any_tag", "MPI_ANY_TAG"}, {"proc_null", "MPI_PROC_NULL"}, {"root", "MPI_ROOT"},
		{"undefined", "MPI_UNDEFINED"}, {"err_in_status", "MPI_ERR_IN_STATUS"}, {"unsupported", "MPI_ERR_UNSUPPORTED_OPERATION"},
		{"cart", "MPI_CART"}, {"graph", "MPI_GRAPH"}, {"dist_graph", "MPI_DIST_GRAPH"},
	} {
		fmt.Fprintf(b, "\t\t.%s = %d,\n", c[0], number(c[1], f))
	}
	for _, s := range []struct {
		field string
		value mpi.Sentinel
	}{
		{"bottom", l.CSentinels.Bottom}, {"in_place", l.CSentinels.InPlace}, {"buffer_automatic", l.CSentinels.BufferAutomatic},
		{"status_ignore", l.CSentinels.StatusIgnore}, {"statuses_ignore", l.CSentinels.StatusesIgnore},
		{"unweighted", l.CSentinels.Unweighted}, {"weights_empty", l.CSentinels.WeightsEmpty},
	} {
		fmt.Fprintf(b, "\t\t.%s = {%d, %d, \"%s\"},\n", s.field, s.value.Form, s.value.Value, s.value.Symbol)
	}
	b.WriteString("\t},\n")
}

// number returns a constant's value in a flavour. Package mpi's tests ensure that all constants exist.
func number(name string, f mpi.Flavour) int64 {
	c, ok := mpi.ConstantNamed(name)
	if !ok {
		panic("genshim: no constant " + name)
	}
	v, ok := c.ValueIn(f)
	if !ok {
		panic("genshim: no value of " + name + " for " + f.String())
	}
	return v
}

func predefined(b *bytes.Buffer, k mpi.Kind, c *mpi.Constant) {
	fmt.Fprintf(b, "\t{\"%s\", \"%s\", %d, {", k, c.Name, c.Value)
	for i, f := range mpi.Flavours() {
		v, _ := c.ValueIn(f)
		fmt.Fprintf(b, "%s%#x", comma(i), v)
	}
	b.WriteString("}, {")
	for i, f := range mpi.Flavours() {
		symbol := "NULL"
		if c.KnownIn(f) {
			symbol = `"` + c.SymbolIn(f) + `"`
		}
		fmt.Fprintf(b, "%s%s", comma(i), symbol)
	}
	b.WriteString("}},\n")
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ", "
}
