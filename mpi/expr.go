package mpi

import (
	"fmt"
	"strconv"
	"strings"
)

// An Expr is the length of an array, as a tree: one of NumExpr, ParamExpr, LimitExpr, NullTerminated, *PropertyExpr,
// *SumExpr and *ProductExpr. calls.txt explains them.
type Expr interface {
	String() string
	expr()
}

type (
	// NumExpr is a literal.
	NumExpr int64

	// ParamExpr is the value of the parameter with that name: of an output the value on exit. For an inout parameter it
	// is the smaller of both, as the input is the capacity and the output the required size. A negative value
	// counts as 0.
	ParamExpr string

	// LimitExpr is the MPI's value of a named constant such as
	// MPI_MAX_ERROR_STRING.
	LimitExpr string

	// NullTerminated means that a null pointer ends the array.
	NullTerminated struct{}

	// PropertyExpr is a property of another parameter.
	PropertyExpr struct {
		Property Property
		Param    string
		Rank     string // for PropertyGraphNeighbors only: parameter with the rank whose neighbours are meant
	}

	// SumExpr adds its terms.
	SumExpr struct{ Terms []Expr }

	// ProductExpr multiplies its factors.
	ProductExpr struct{ Factors []Expr }
)

func (NumExpr) expr()        {}
func (ParamExpr) expr()      {}
func (LimitExpr) expr()      {}
func (NullTerminated) expr() {}
func (*PropertyExpr) expr()  {}
func (*SumExpr) expr()       {}
func (*ProductExpr) expr()   {}

func (n NumExpr) String() string      { return strconv.FormatInt(int64(n), 10) }
func (r ParamExpr) String() string    { return string(r) }
func (l LimitExpr) String() string    { return string(l) }
func (NullTerminated) String() string { return "null" }
func (o *PropertyExpr) String() string {
	if o.Rank != "" {
		return o.Property.String() + "(" + o.Param + "," + o.Rank + ")"
	}
	return o.Property.String() + "(" + o.Param + ")"
}
func (s *SumExpr) String() string { return joinExprs(s.Terms, "+") }
func (p *ProductExpr) String() string {
	return joinExprs(p.Factors, "*")
}

func joinExprs(list []Expr, sep string) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = e.String()
	}
	return strings.Join(parts, sep)
}

// A Property is a number derived from a parameter.
type Property uint8

// The properties.
const (
	PropertyCommSize              Property = iota // of a communicator: group size; of an intercommunicator the size of the remote group
	PropertyCommLocalSize                         // of a communicator: size of the local group
	PropertyInDegree                              // of a communicator: number of neighbours it receives from
	PropertyOutDegree                             // of a communicator: number of neighbours it sends to
	PropertyCommDims                              // of a communicator: number of dimensions of its cartesian topology
	PropertyGraphNodes                            // of a communicator: number of nodes of its graph
	PropertyGraphEdges                            // of a communicator: number of edges of its graph
	PropertyGraphNeighbors                        // of a communicator and a rank: neighbours in its graph
	PropertyInWeights                             // of a communicator: PropertyInDegree if its edges have weights
	PropertyOutWeights                            // of a communicator: PropertyOutDegree if its edges have weights
	PropertyTypeIntegers                          // of a datatype: number of integers that its constructor was given
	PropertyTypeAddresses                         // of a datatype: number of addresses that its constructor was given
	PropertyTypeLargeCounts                       // of a datatype: number of large counts that its constructor was given
	PropertyTypeDatatypes                         // of a datatype: number of datatypes that its constructor was given
	PropertyCategoryCvars                         // of a category of the tool interface: control variables in it
	PropertyCategoryPvars                         // of a category: performance variables
	PropertyCategoryEventTypes                    // of a category: event types
	PropertyCategorySubcategories                 // of a category: categories
	PropertyArraySum                              // of an array: sum of its elements
	PropertyArrayLast                             // of an array: its last element, 0 if it has none
	PropertyArrayOwnElement                       // of an array: the element of the own rank; only in data() and memory()
)

var propertyNames = [...]string{"size", "localsize", "indegree", "outdegree", "dims", "nodes", "edges", "neighbors", "inweights", "outweights",
	"integers", "addresses", "largecounts", "datatypes", "cvars", "pvars", "events", "categories", "sum", "last", "own"}

func (p Property) String() string { return propertyNames[p] }

// OfArray reports whether the property is one of arrays, not of objects.
func (p Property) OfArray() bool { return p >= PropertyArraySum }

// of returns the kind of the parameters that have the property, unless they are arrays.
func (p Property) of() Kind {
	switch {
	case p >= PropertyCategoryCvars:
		return KindInt
	case p >= PropertyTypeIntegers:
		return KindDatatype
	}
	return KindComm
}

// parseExpr reads a sum of products. There are no parentheses: no length in
// the standard needs them.
func parseExpr(text string) (Expr, error) {
	var terms []Expr
	for _, term := range strings.Split(text, "+") {
		var factors []Expr
		for _, factor := range strings.Split(term, "*") {
			e, err := parseAtom(strings.TrimSpace(factor))
			if err != nil {
				return nil, fmt.Errorf("length %q: %w", text, err)
			}
			factors = append(factors, e)
		}
		terms = append(terms, one(factors, func(l []Expr) Expr { return &ProductExpr{l} }))
	}
	return one(terms, func(l []Expr) Expr { return &SumExpr{l} }), nil
}

func one(list []Expr, wrap func([]Expr) Expr) Expr {
	if len(list) == 1 {
		return list[0]
	}
	return wrap(list)
}

func parseAtom(s string) (Expr, error) {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return NumExpr(n), nil
	}
	if s == "null" {
		return NullTerminated{}, nil
	}
	if name, arg, ok := strings.Cut(s, "("); ok {
		arg, closed := strings.CutSuffix(arg, ")")
		arg, rank, two := strings.Cut(arg, ",")
		if !closed || !isName(arg) || two && !isName(rank) {
			return nil, fmt.Errorf("%q is no property(parameter)", s)
		}
		for p, n := range propertyNames {
			if n != name {
				continue
			}
			if two != (Property(p) == PropertyGraphNeighbors) {
				return nil, fmt.Errorf("%q: neighbors alone has a communicator and a rank", s)
			}
			return &PropertyExpr{Property(p), arg, rank}, nil
		}
		return nil, fmt.Errorf("unknown property %q", name)
	}
	if !isName(s) {
		return nil, fmt.Errorf("%q is neither number nor name", s)
	}
	if strings.HasPrefix(s, "MPI_") {
		return LimitExpr(s), nil
	}
	return ParamExpr(s), nil
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// WalkExpr calls f for e and every expression inside it.
func WalkExpr(e Expr, f func(Expr)) {
	if e == nil {
		return
	}
	f(e)
	switch e := e.(type) {
	case *SumExpr:
		for _, t := range e.Terms {
			WalkExpr(t, f)
		}
	case *ProductExpr:
		for _, t := range e.Factors {
			WalkExpr(t, f)
		}
	}
}
