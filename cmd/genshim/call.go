package main

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
)

// A call is an MPI function for which the shim's C code is written.
type call struct {
	*mpi.Call
	params []*mpi.Param // the parameters that the function has, without those that only large-count functions (_c) have
}

func newCall(c *mpi.Call) *call {
	g := &call{Call: c}
	for i := range c.Params {
		if !skipped(c, &c.Params[i]) {
			g.params = append(g.params, &c.Params[i])
		}
	}
	return g
}

func (g *call) returnType() string {
	switch {
	case g.ReturnKind == mpi.KindError || g.ReturnKind == mpi.KindFint:
		return "int"
	case g.ReturnKind.IsHandle():
		return "intptr_t"
	case g.ReturnKind == mpi.KindTime:
		return "double"
	}
	return "int64_t"
}

// returnsCode reports whether the function returns an error code.
func (g *call) returnsCode() bool { return g.ReturnKind == mpi.KindError }

// returns names the C constant for the result's type. The shim needs it to return an error itself if the MPI lacks the
// function.
func (g *call) returns() string {
	switch {
	case g.returnsCode():
		return "SP_RETURNS_CODE"
	case g.ReturnKind == mpi.KindTime:
		return "SP_RETURNS_TIME"
	}
	return "SP_RETURNS_VALUE"
}

func (g *call) prototype() string {
	list := g.declarations()
	if len(list) == 0 {
		return "void"
	}
	return strings.Join(list, ", ")
}

func (g *call) declarations() []string {
	var list []string
	for _, p := range g.params {
		list = append(list, declare(ctype(g.Call, p), p.Name))
	}
	return list
}

func (g *call) arguments() []string {
	var list []string
	for _, p := range g.params {
		if p.Kind != mpi.KindVarargs {
			list = append(list, p.Name)
		}
	}
	return list
}

// recorded lists the C declarations of the parameters that are passed to the functions that record the call.
func (g *call) recorded() []string {
	var list []string
	for _, d := range g.declarations() {
		if d != "..." {
			list = append(list, d)
		}
	}
	return list
}

// asNumbers returns C expressions of the arguments as 64-bit numbers, separated by commas, for plugins.
func (g *call) asNumbers() string {
	var list []string
	for _, a := range g.arguments() {
		list = append(list, "(int64_t)(intptr_t)"+a)
	}
	if len(list) == 0 {
		return "0"
	}
	return strings.Join(list, ", ")
}

func (g *call) short() string { return strings.TrimPrefix(g.Name, "MPI_") }

func (g *call) enterHead() string {
	args := append([]string{"struct sp_thread *t_", "const void *site_", "unsigned flags_"}, g.recorded()...)
	return fmt.Sprintf("void sp_enter_%s(%s)", g.short(), strings.Join(args, ", "))
}

func (g *call) leaveHead() string {
	args := append([]string{"struct sp_thread *t_", declare(g.returnType(), "rc_")}, g.recorded()...)
	if g.ignorable() != nil {
		args = append(args, "int ignored_")
	}
	for _, p := range g.rooms() {
		args = append(args, "int64_t had_"+p.Name)
	}
	return fmt.Sprintf("void sp_leave_%s(%s)", g.short(), strings.Join(args, ", "))
}

// ignorable returns the output parameter for which the program may pass MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE; nil:
// the function has none.
func (g *call) ignorable() *mpi.Param {
	if strings.HasPrefix(g.Name, "MPI_Status_") {
		return nil
	}
	for _, p := range g.params {
		if p.Kind == mpi.KindStatus && p.Dir == mpi.DirOut {
			return p
		}
	}
	return nil
}

// rooms lists the parameters that on entry hold the capacity of an output (e.g. a string), and on return the size that
// the output needs.
func (g *call) rooms() []*mpi.Param {
	var list []*mpi.Param
	for _, p := range g.params {
		if p.Dir != mpi.DirInOut || p.Kind.ValueForm() != mpi.ValueFormInt || p.Array {
			continue
		}
		for _, q := range g.params {
			if q.Dir == mpi.DirOut && refersTo(q.Len, p.Name) {
				list = append(list, p)
				break
			}
		}
	}
	return list
}

func refersTo(e mpi.Expr, name string) bool {
	found := false
	mpi.WalkExpr(e, func(e mpi.Expr) { found = found || e == mpi.ParamExpr(name) })
	return found
}

// handles is 1 if the call makes, frees or completes handles. The shim follows such calls even while tracing is
// switched off.
func (g *call) handles() int {
	const attrs = mpi.AttrNonblocking | mpi.AttrPersistent | mpi.AttrCompletes | mpi.AttrStarts | mpi.AttrCreatesComm | mpi.AttrCreatesType | mpi.AttrCreatesWin
	if g.Attrs&attrs != 0 || g.ReturnKind.IsHandle() {
		return 1
	}
	for _, p := range g.params {
		if p.Dir != mpi.DirIn && (p.Kind.IsHandle() || p.Kind.IsTool()) {
			return 1
		}
	}
	return 0
}

// skipped reports whether function c lacks a parameter because only large-count functions (_c) have it.
func skipped(c *mpi.Call, p *mpi.Param) bool { return p.LargeOnly && !c.Large }

// ctype is the C type of a parameter in the shim, which doesn't use mpi.h. Handles and opaque values have the size of
// a pointer; pointers to handles or statuses are void pointers.
func ctype(c *mpi.Call, p *mpi.Param) string {
	switch p.Kind.ValueForm() {
	case mpi.ValueFormInt:
		base := intType(c.Width(p))
		if !p.IsPassedByAddress() {
			return base
		}
		return constIf(p) + base + " *"
	case mpi.ValueFormDouble:
		return "double"
	case mpi.ValueFormHandle:
		if !p.IsPassedByAddress() {
			return "intptr_t"
		}
		return constIf(p) + "void *"
	case mpi.ValueFormToolObject:
		if !p.IsPassedByAddress() {
			return "void *"
		}
		return "void **"
	case mpi.ValueFormString:
		if p.Array && p.InnerLen != nil {
			return "char ***"
		}
		if p.Array {
			return "char **"
		}
		return constIf(p) + "char *"
	case mpi.ValueFormAddress:
		if p.Kind == mpi.KindAddress && !p.IsPassedByAddress() {
			return "int64_t"
		}
		return constIf(p) + "void *"
	case mpi.ValueFormStatus:
		return constIf(p) + "void *"
	case mpi.ValueFormFunction:
		return "void *"
	}
	switch p.Kind {
	case mpi.KindArgc:
		return "int *"
	case mpi.KindArgv:
		return "char ***"
	case mpi.KindVarargs:
		return "..."
	}
	panic(fmt.Sprintf("%s: %s: no type in C for %s", c.Name, p.Name, p.Kind))
}

func constIf(p *mpi.Param) string {
	if p.Dir == mpi.DirIn {
		return "const "
	}
	return ""
}

func intType(w mpi.Width) string {
	if w == mpi.Width64 {
		return "int64_t"
	}
	return "int"
}

// declare returns the C declaration of a variable.
func declare(typ, name string) string {
	if typ == "..." {
		return typ
	}
	if strings.HasSuffix(typ, "*") {
		return typ + name
	}
	return typ + " " + name
}
