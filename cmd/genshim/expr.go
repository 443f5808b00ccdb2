package main

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
)

// side says which record of a call is written: ENTER (entering) or LEAVE (leaving), which has the outputs.
type side bool

const (
	entering side = false
	leaving  side = true
)

// length is the C expression of an array's number of elements, or of a string's capacity.
func (g *call) length(e mpi.Expr) (string, error) {
	switch e := e.(type) {
	case nil:
		return "INT64_MAX", nil
	case mpi.NumExpr:
		return e.String(), nil
	case mpi.MPIConstantExpr:
		return "INT64_MAX", nil // strings whose length has only an upper limit end with a NUL
	case mpi.NullTerminatedExpr:
		return "SP_TO_NULL", nil
	case mpi.ParamExpr:
		return g.value(string(e))
	case *mpi.PropertyExpr:
		return g.property(e)
	case *mpi.SumExpr:
		return g.join(e.Terms, " + ")
	case *mpi.ProductExpr:
		return g.join(e.Factors, " * ")
	}
	return "", fmt.Errorf("no C for length %v", e)
}

func (g *call) join(list []mpi.Expr, op string) (string, error) {
	var parts []string
	for _, e := range list {
		s, err := g.length(e)
		if err != nil {
			return "", err
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, op), nil
}

func (g *call) value(name string) (string, error) {
	i := g.Index(name)
	if i < 0 {
		return "", fmt.Errorf("no parameter %q", name)
	}
	p := &g.Params[i]
	if p.Kind.ValueForm() != mpi.ValueFormInt || p.Array {
		return "", fmt.Errorf("%q is no number", name)
	}
	v := "(int64_t)" + name
	if p.IsPassedByAddress() {
		v = fmt.Sprintf("(int64_t)%s(%s)", load(g.Width(p)), name)
	}
	for _, room := range g.rooms() {
		if room == p {
			v = fmt.Sprintf("sp_smaller(had_%s, %s)", name, v)
		}
	}
	return "sp_at_least_0(" + v + ")", nil
}

// extent returns a C expression of an array's or string's length in the ENTER or LEAVE record. Of an output in LEAVE it
// is the length that the MPI wrote.
func (g *call) extent(p *mpi.Param, at side) (string, error) {
	n, err := g.length(p.Len)
	if err == nil && p.WrittenLen != nil && at == leaving {
		var written string
		written, err = g.length(p.WrittenLen)
		n = fmt.Sprintf("sp_smaller(%s, %s)", n, written)
	}
	if err != nil {
		return "", err
	}
	return g.guarded(p, n, at)
}

func (g *call) property(e *mpi.PropertyExpr) (string, error) {
	if e.Rank != "" {
		return fmt.Sprintf("sp_%s(%s, %s)", e.Property, e.Param, e.Rank), nil
	}
	if !e.Property.IsOfArray() {
		return fmt.Sprintf("sp_%s(%s)", e.Property, e.Param), nil
	}
	i := g.Index(e.Param)
	if i < 0 || !g.Params[i].Array || g.Width(&g.Params[i]) != mpi.Width32 {
		return "", fmt.Errorf("%s(%s): no array of 32 bits", e.Property, e.Param)
	}
	n, err := g.length(g.Params[i].Len)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("sp_%s32(%s, %s)", e.Property, e.Param, n), nil
}

// guarded returns a C expression that is length n if array p is valid in this call, else SP_LEN_ABSENT: for example, a
// receive buffer's counts are valid only at the root.
func (g *call) guarded(p *mpi.Param, n string, at side) (string, error) {
	if p.IgnoredIfInPlace != "" {
		n = fmt.Sprintf("%s == sp_fl.in_place ? SP_LEN_ABSENT : %s", p.IgnoredIfInPlace, n)
	}
	if p.OnlyRoot {
		root, comm := g.Index("root"), g.Index("comm")
		if root < 0 || comm < 0 {
			return "", fmt.Errorf("%s: only-root without root and comm", p.Name)
		}
		n = fmt.Sprintf("!sp_at_root(root, comm) ? SP_LEN_ABSENT : %s", n)
	}
	if p.ValidIfNonZero != "" && at == leaving {
		n = fmt.Sprintf("!sp_ld32(%s) ? SP_LEN_ABSENT : %s", p.ValidIfNonZero, n)
	}
	return n, nil
}

func load(w mpi.Width) string {
	if w == mpi.Width64 || w == mpi.WidthPointer {
		return "sp_ld64"
	}
	return "sp_ld32"
}
