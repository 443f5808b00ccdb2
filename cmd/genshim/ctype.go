package main

import (
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
)

// skipped reports whether a parameter doesn't exist in this form of the call.
func skipped(c *mpi.Call, p *mpi.Param) bool { return p.LargeOnly && !c.Large }

// ctype is the C type of a parameter as the shim sees it, without mpi.h:
// handles and everything opaque have the size of a pointer, what points to
// handles or statuses points to anything.
func ctype(c *mpi.Call, p *mpi.Param) string {
	switch p.Kind.Form() {
	case mpi.FormInt:
		base := intType(c.Width(p))
		if !p.ByAddress() {
			return base
		}
		return constIf(p) + base + " *"
	case mpi.FormDouble:
		return "double"
	case mpi.FormHandle:
		if !p.ByAddress() {
			return "intptr_t"
		}
		return constIf(p) + "void *"
	case mpi.FormObject:
		if !p.ByAddress() {
			return "void *"
		}
		return "void **"
	case mpi.FormString:
		if p.Array && p.Inner != nil {
			return "char ***"
		}
		if p.Array {
			return "char **"
		}
		return constIf(p) + "char *"
	case mpi.FormAddress:
		if p.Kind == mpi.KindAddress && !p.ByAddress() {
			return "int64_t"
		}
		return constIf(p) + "void *"
	case mpi.FormStatus:
		return constIf(p) + "void *"
	}
	switch p.Kind {
	case mpi.KindArgc:
		return "int *"
	case mpi.KindArgv:
		return "char ***"
	case mpi.KindVarargs:
		return "..."
	}
	return "void *"
}

func constIf(p *mpi.Param) string {
	if p.Dir == mpi.In {
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

// declare joins type and name.
func declare(typ, name string) string {
	if typ == "..." {
		return typ
	}
	if strings.HasSuffix(typ, "*") {
		return typ + name
	}
	return typ + " " + name
}
