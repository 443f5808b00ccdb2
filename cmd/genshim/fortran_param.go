package main

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
)

// A fortran is a Fortran procedure for which a C wrapper is written. For each parameter of MPI's C function, the
// wrapper declares a variable of the same name. The wrapper's own parameters, which Fortran passes, have the prefix f_,
// and the lengths of strings l_.
type fortran struct {
	*call
	early   []string // C statements before the call that convert parameters that are no arrays
	late    []string // C statements after early that convert arrays, whose lengths may depend on such parameters
	after   []string // C statements after the call that convert outputs for the record
	pool    bool
	request string // name of the parameter that is the address of the program's request variable; "": none
}

func newFortran(c *mpi.Call) *fortran { return &fortran{call: newCall(c)} }

// visible lists the parameters that the procedure has in Fortran.
func (g *fortran) visible() []*mpi.Param {
	var list []*mpi.Param
	for _, p := range g.params {
		if !g.implicit(p) {
			list = append(list, p)
		}
	}
	return list
}

// implicit reports whether only C has the parameter, such as argc and argv.
func (g *fortran) implicit(p *mpi.Param) bool {
	switch p.Kind {
	case mpi.KindArgc, mpi.KindArgv, mpi.KindVarargs:
		return true
	}
	return g.Name == "MPI_Info_create_env" && p.Kind != mpi.KindInfo
}

// narrow reports whether the procedure's addresses and attribute values are INTEGERs of 32 bits, as before MPI-2.
func (g *fortran) narrow() bool {
	switch g.Name {
	case "MPI_Keyval_create", "MPI_Keyval_free", "MPI_Attr_put", "MPI_Attr_get", "MPI_Attr_delete":
		return true
	}
	return g.Has(mpi.AttrRemoved)
}

func (g *fortran) convert() error {
	for _, p := range g.params {
		if err := g.param(p); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	if g.Name == "MPI_Buffer_attach" {
		g.after = append(g.after, "sp_f_attached = (void *)buffer;")
	}
	return nil
}

func (g *fortran) before(format string, args ...any) {
	g.early = append(g.early, fmt.Sprintf(format, args...))
}

func (g *fortran) then(format string, args ...any) {
	g.after = append(g.after, fmt.Sprintf(format, args...))
}

// param adds C statements that declare a variable for a parameter of MPI's C function, and that convert Fortran's
// value.
func (g *fortran) param(p *mpi.Param) error {
	if p.Kind == mpi.KindVarargs {
		return nil
	}
	typ := declare(ctype(g.Call, p), p.Name)
	switch {
	case g.implicit(p):
		g.before("%s = 0;", typ)
		return nil
	case p.Array:
		return g.array(p, typ)
	}
	f := "f_" + p.Name
	switch p.Kind.ValueForm() {
	case mpi.ValueFormString:
		return g.text(p, typ)
	case mpi.ValueFormStatus, mpi.ValueFormFunction:
		g.before("%s = %s;", typ, f)
	case mpi.ValueFormHandle:
		g.handle(p, typ)
	case mpi.ValueFormAddress:
		g.address(p, typ)
	case mpi.ValueFormInt:
		g.integer(p, typ)
	default:
		return fmt.Errorf("no Fortran for %s", p.Kind)
	}
	return nil
}

func (g *fortran) integer(p *mpi.Param, typ string) {
	f := "f_" + p.Name
	value := fmt.Sprintf("%s(%s)", g.load(p), f)
	switch {
	case p.Kind == mpi.KindLogical:
		value = fmt.Sprintf("sp_f_logical(%s)", f)
	case p.Kind == mpi.KindIndex && p.Dir == mpi.DirOut && p.Name == "index":
		value = fmt.Sprintf("sp_f_index(%s, count, form_)", f)
	case g.Name == "MPI_Info_get_string" && p.Name == "buflen": // in C, but not in Fortran, buflen counts the final NUL
		value += " + 1"
	case p.IsPassedByAddress() && !g.narrowed(p):
		g.before("%s = %s;", typ, f)
		return
	}
	if !p.IsPassedByAddress() {
		g.before("%s = (%s)%s;", typ, intType(g.Width(p)), value)
		return
	}
	g.copy(p, typ, intType(g.Width(p)), value)
}

// copy adds C statements that declare a variable with Fortran's value (0 for outputs), and a pointer to it, as C passes
// the parameter by address. For an output, it also adds a statement that reads Fortran's value after the call.
func (g *fortran) copy(p *mpi.Param, typ, element, value string) {
	start := "0"
	if p.Dir != mpi.DirOut {
		start = value
	}
	g.before("%s = %s;", declare(element, "v_"+p.Name), start)
	g.before("%s = &v_%s;", typ, p.Name)
	if p.Dir == mpi.DirOut || p.Dir == mpi.DirInOut {
		g.then("v_%s = (%s)%s;", p.Name, element, value)
	}
}

// narrowed reports whether the parameter has 32 bits in Fortran and 64 in C.
func (g *fortran) narrowed(p *mpi.Param) bool {
	return g.narrow() && (p.Kind == mpi.KindAint || p.Kind.ValueForm() == mpi.ValueFormAddress && p.Kind != mpi.KindBuffer)
}

func (g *fortran) load(p *mpi.Param) string {
	if g.narrowed(p) {
		return "sp_ld32"
	}
	return load(g.Width(p))
}

func (g *fortran) handle(p *mpi.Param, typ string) {
	value := handleValue(p, "f_"+p.Name)
	if !p.IsPassedByAddress() {
		g.before("%s = %s;", typ, value)
		return
	}
	g.copy(p, typ, "intptr_t", value)
	if p.Kind == mpi.KindRequest {
		g.request = p.Name
	}
}

func handleValue(p *mpi.Param, variable string) string {
	if p.Kind == mpi.KindFile {
		return fmt.Sprintf("sp_f_file(%s)", variable)
	}
	return fmt.Sprintf("sp_f_handle(%s, %s)", variable, f2c(p.Kind))
}

func f2c(k mpi.Kind) string {
	if k == mpi.KindDatatype {
		return "SP_ID_MPI_Type_f2c"
	}
	name := k.Name()
	return fmt.Sprintf("SP_ID_MPI_%s_f2c", strings.ToUpper(name[:1])+name[1:])
}

func (g *fortran) address(p *mpi.Param, typ string) {
	f := "f_" + p.Name
	switch {
	case p.Kind == mpi.KindBuffer:
		g.before("%s = sp_f_buffer(%s, form_);", typ, f)
	case p.Dir == mpi.DirIn && p.Kind == mpi.KindAddress:
		g.before("%s = (int64_t)sp_ld64(%s);", typ, f)
	case p.Dir == mpi.DirIn: // e.g. an attribute's value: an INTEGER in Fortran, a pointer in C
		g.before("%s = (const void *)(uintptr_t)%s(%s);", typ, g.load(p), f)
	case g.narrowed(p):
		g.copy(p, typ, "int64_t", fmt.Sprintf("sp_ld32(%s)", f))
	case g.Name == "MPI_Buffer_detach":
		// In mpif.h the parameter is a buffer, in which the MPI stores no address; the wrapper knows the attached one.
		g.before("%s = form_ == SP_F_PLAIN ? (void *)&sp_f_attached : %s;", typ, f)
	default:
		g.before("%s = %s;", typ, f)
	}
}

// text adds C statements that convert a parameter that is one string.
func (g *fortran) text(p *mpi.Param, typ string) error {
	g.pool = true
	if p.Dir == mpi.DirIn {
		strip := "SP_F_INPUT"
		if strings.HasPrefix(g.Name, "MPI_Info_") {
			strip = "SP_F_INFO"
		}
		g.before("%s = sp_f_string(&pool_, f_%s, l_%s, %s);", typ, p.Name, p.Name, strip)
		return nil
	}
	g.before("%s = NULL;", typ)
	g.then("%s = sp_f_string(&pool_, f_%s, l_%s, SP_F_OUTPUT);", p.Name, p.Name, p.Name)
	return nil
}

// array adds C statements that declare an array for a parameter. It is a converted copy of Fortran's array if the
// elements have a different type in C.
func (g *fortran) array(p *mpi.Param, typ string) error {
	f := "f_" + p.Name
	n, err := g.extent(p, leaving)
	if err != nil {
		return err
	}
	copied, direct := "", f
	switch form := p.Kind.ValueForm(); {
	case form == mpi.ValueFormStatus:
		if p.Dir != mpi.DirIn {
			g.then("%s = sp_f_statuses(%s, rc_);", p.Name, p.Name)
		}
	case form == mpi.ValueFormString:
		return g.strings(p, typ, n)
	case form == mpi.ValueFormHandle && p.Kind != mpi.KindFile:
		copied = fmt.Sprintf("sp_f_handles(&pool_, %s, %s, %s)", f, n, f2c(p.Kind))
		if p.Kind == mpi.KindRequest {
			g.request = p.Name
		}
	case p.Kind == mpi.KindLogical:
		copied = fmt.Sprintf("sp_f_logicals(&pool_, %s, %s)", f, n)
	case p.Name == "array_of_indices":
		copied = fmt.Sprintf("sp_f_indices(&pool_, %s, %s, incount, form_)", f, n)
	case g.narrowed(p):
		copied = fmt.Sprintf("sp_f_widened(&pool_, %s, %s)", f, n)
	case form == mpi.ValueFormInt && (strings.Contains(p.Name, "weights") || p.Kind == mpi.KindError):
		direct = fmt.Sprintf("sp_f_array(%s)", f)
	case form != mpi.ValueFormInt:
		return fmt.Errorf("no array of %s", p.Kind)
	}
	switch {
	case copied == "":
		g.late = append(g.late, fmt.Sprintf("%s = %s;", typ, direct))
	case p.Dir == mpi.DirOut:
		g.pool = true
		g.late = append(g.late, fmt.Sprintf("%s = %s;", typ, direct))
		g.then("%s = %s;", p.Name, copied)
	default:
		g.pool = true
		g.late = append(g.late, fmt.Sprintf("%s = %s;", typ, copied))
	}
	return nil
}

// strings adds C statements that convert a parameter that is an array of strings, or of arrays of strings. n is a C
// expression of its length.
func (g *fortran) strings(p *mpi.Param, typ, n string) error {
	g.pool = true
	args := fmt.Sprintf("&pool_, f_%s, l_%s", p.Name, p.Name)
	switch {
	case p.Dir != mpi.DirIn:
		return fmt.Errorf("no array of strings that comes out")
	case p.InnerLen != nil:
		g.late = append(g.late, fmt.Sprintf("%s = sp_f_argvs(%s, %s);", typ, args, n))
	case p.Len == mpi.Expr(mpi.NullTerminatedExpr{}):
		g.late = append(g.late, fmt.Sprintf("%s = sp_f_argv(%s, (%s) == SP_TO_NULL);", typ, args, n))
	default:
		g.late = append(g.late, fmt.Sprintf("%s = sp_f_strings(%s, %s);", typ, args, n))
	}
	return nil
}
