package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/spoor-hpc/spoor/mpi"
)

//go:embed fortran.tmpl
var fortranText string

var fortranWrapper = template.Must(template.New("fortran").Parse(fortranText))

const fortranHead = banner + `#include "flavour.h"
#include "fortran.h"
`

// fortranFiles adds the C files with the wrappers of the Fortran procedures to files, by name.
func fortranFiles(calls []*mpi.Call, files map[string][]byte) error {
	chapters := map[string]*bytes.Buffer{}
	for _, c := range calls {
		if !hasFortran(c) {
			continue
		}
		text, err := newFortran(c).emit()
		if err != nil {
			return fmt.Errorf("%s in Fortran: %w", c.Name, err)
		}
		name := strings.Replace(chapter(c), "wrap", "fortran", 1)
		if chapters[name] == nil {
			chapters[name] = bytes.NewBufferString(fortranHead)
		}
		chapters[name].WriteString(text)
	}
	for name, b := range chapters {
		files[name] = b.Bytes()
	}
	files["fortran_tables.c"] = fortranTables()
	return nil
}

// hasFortran reports whether the call has a Fortran binding. The tool interface, conversions between the languages
// and the queries of the ABI have none.
func hasFortran(c *mpi.Call) bool {
	if c.WrapperClass == mpi.WrapperAbsent || c.Has(mpi.AttrTool) {
		return false
	}
	return !slices.ContainsFunc([]string{"_f2c", "_c2f", "_fromint", "_toint", "_c2f08", "_f082c", "_f2f08", "_f082f"}, func(end string) bool { return strings.HasSuffix(c.Name, end) })
}

// A nameForm is one of the ways in which libraries name Fortran procedures: a constant of enum sp_f_form, and its
// suffix (e.g. _f08_).
type nameForm struct {
	Form, Suffix string
	Mangled      bool // the name follows the compiler's convention for external procedures (e.g. mpi_send_, MPI_SEND)
}

// forms lists the forms of names under which libraries define the procedure.
func (g *fortran) forms() []nameForm {
	choice := false // the procedure has a buffer of any type, so there may be a form that gets array descriptors
	for _, p := range g.params {
		choice = choice || p.Kind == mpi.KindBuffer
	}
	var list []nameForm
	if g.Large {
		list = append(list, nameForm{Form: "SP_F_08_LARGE", Suffix: "_f08_large_"}, nameForm{Form: "SP_F_08_C", Suffix: "_c_f08_"})
		if choice {
			list = append(list, nameForm{Form: "SP_F_08TS_LARGE", Suffix: "_f08ts_large_"}, nameForm{Form: "SP_F_08TS_C", Suffix: "_c_f08ts_"})
		}
		switch g.Name {
		case "MPI_Type_get_contents_c", "MPI_Type_get_envelope_c":
			list = append(list, nameForm{Form: "SP_F_08_LAST_C", Suffix: "_f08_c_"})
		}
		return list
	}
	list = append(list, nameForm{Form: "SP_F_PLAIN", Mangled: true})
	switch g.Name {
	case "MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query":
		list = append(list, nameForm{Form: "SP_F_CPTR", Suffix: "_cptr", Mangled: true})
	case "MPI_Comm_attach_buffer", "MPI_Session_attach_buffer":
		list = append(list, nameForm{Form: "SP_F_TS", Suffix: "_fts_"})
	}
	if g.Has(mpi.AttrDeprecated) && g.narrow() || g.Has(mpi.AttrRemoved) {
		return list // procedures older than mpi_f08 have no other forms
	}
	list = append(list, nameForm{Form: "SP_F_08", Suffix: "_f08_"})
	if choice {
		list = append(list, nameForm{Form: "SP_F_08TS", Suffix: "_f08ts_"})
	}
	return list
}

// name is the procedure's name, in lower case and without suffix.
func (g *fortran) name() string {
	return strings.ToLower(strings.TrimSuffix(g.Name, "_c"))
}

type fortranPage struct {
	ID                  uint16
	Name, Short         string
	Returns             string // C type of the function's result; "" for a subroutine
	Params, Types, Args string // C parameters, their types, their names; ierror and lengths of strings are among them
	Record              string // arguments of the recording functions, each after a comma
	Code, Handwritten   bool
	Pool                bool
	Before, After       []string
	Rooms               []room
	Status              *status
	Request             string
	Forms               []nameForm
}

func (g *fortran) emit() (string, error) {
	if err := g.convert(); err != nil {
		return "", err
	}
	p := fortranPage{
		ID: g.ID, Name: g.name(), Short: g.short(),
		Code: g.returnsCode(), Handwritten: handwritten[g.Name], Pool: g.pool,
		Before: append(g.early, g.late...), After: g.after, Request: g.request, Forms: g.forms(),
	}
	if !p.Code {
		p.Returns = g.returnType()
	}
	var params, types, args []string
	add := func(typ, name string) {
		params = append(params, declare(typ, name))
		types = append(types, strings.TrimSpace(typ))
		args = append(args, name)
	}
	for _, q := range g.visible() {
		add("void *", "f_"+q.Name)
	}
	if p.Code {
		add("void *", "f_ierror")
	}
	for _, q := range g.visible() {
		if q.Kind == mpi.KindString {
			add("size_t", "l_"+q.Name)
		}
	}
	p.Params, p.Types, p.Args = strings.Join(params, ", "), strings.Join(types, ", "), strings.Join(args, ", ")
	if len(params) == 0 {
		p.Params, p.Types = "void", "void"
	}
	for _, q := range g.params {
		if q.Kind != mpi.KindVarargs {
			p.Record += ", " + q.Name
		}
	}
	for _, r := range g.rooms() {
		p.Rooms = append(p.Rooms, room{r.Name, load(g.Width(r))})
	}
	if s := g.ignorable(); s != nil {
		p.Status = &status{Name: s.Name, Array: s.Array}
		if s.Array {
			var err error
			if p.Status.Count, err = g.statuses(s); err != nil {
				return "", err
			}
		}
	}
	var b strings.Builder
	if err := fortranWrapper.Execute(&b, p); err != nil {
		return "", err
	}
	return b.String(), nil
}

// fortranTables returns a C file with the table of Fortran's special addresses, such as MPI_BOTTOM, by flavour.
func fortranTables() []byte {
	var b bytes.Buffer
	b.WriteString(banner)
	b.WriteString("#include \"flavour.h\"\n#include \"fortran.h\"\n\n")
	b.WriteString("const struct sp_sentinel sp_f_sentinels[SP_FLAVOURS][2][SP_F_SPECIALS] = {\n")
	for _, f := range mpi.Flavours() {
		for i, s := range mpi.LayoutOf(f).FortranSentinels {
			fmt.Fprintf(&b, "\t[%d][%d] = {\n", f, i)
			for _, e := range []struct {
				name  string
				value mpi.Sentinel
			}{
				{"BOTTOM", s.Bottom}, {"IN_PLACE", s.InPlace}, {"AUTOMATIC", s.BufferAutomatic},
				{"STATUS", s.StatusIgnore}, {"STATUSES", s.StatusesIgnore},
				{"UNWEIGHTED", s.Unweighted}, {"WEIGHTS_EMPTY", s.WeightsEmpty},
				{"ERRCODES", s.ErrcodesIgnore}, {"ARGV", s.ArgvNull}, {"ARGVS", s.ArgvsNull},
			} {
				if e.value.Form != mpi.SentinelNone {
					fmt.Fprintf(&b, "\t\t[SP_F_%s] = {%d, 0, \"%s\"},\n", e.name, e.value.Form, e.value.Symbol)
				}
			}
			b.WriteString("\t},\n")
		}
	}
	b.WriteString("};\n")
	return b.Bytes()
}
