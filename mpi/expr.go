package mpi

import (
	"fmt"
	"strconv"
	"strings"
)

// An Expr is an expression for the length of an array, as a tree: a NumExpr, ParamExpr, MPIConstantExpr,
// NullTerminatedExpr, *PropertyExpr, *SumExpr or *ProductExpr. The syntax is in calls.txt.
type Expr interface {
	String() string
	expr()
}

type (
	// NumExpr is a number.
	NumExpr int64

	// ParamExpr is the value of the named parameter, for an output after the call. For a parameter that is read and
	// written it is the smaller of both values, as the input is the capacity and the output the required size. A
	// negative value counts as 0.
	ParamExpr string

	// MPIConstantExpr is the value that a named constant, such as MPI_MAX_ERROR_STRING, has in the MPI library.
	MPIConstantExpr string

	// NullTerminatedExpr means that a null pointer ends the array.
	NullTerminatedExpr struct{}

	// PropertyExpr is a property of the value of parameter Param.
	PropertyExpr struct {
		Property Property
		Param    string
		// For PropertyGraphNeighbors only: the parameter with the rank whose neighbours are counted; else "".
		Rank string
	}

	// SumExpr adds its terms.
	SumExpr struct{ Terms []Expr }

	// ProductExpr multiplies its factors.
	ProductExpr struct{ Factors []Expr }
)

func (NumExpr) expr()            {}
func (ParamExpr) expr()          {}
func (MPIConstantExpr) expr()    {}
func (NullTerminatedExpr) expr() {}
func (*PropertyExpr) expr()      {}
func (*SumExpr) expr()           {}
func (*ProductExpr) expr()       {}

func (n NumExpr) String() string          { return strconv.FormatInt(int64(n), 10) }
func (r ParamExpr) String() string        { return string(r) }
func (l MPIConstantExpr) String() string  { return string(l) }
func (NullTerminatedExpr) String() string { return "null" }
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

// A Property is a number derived from the value of a parameter.
type Property uint8

// The properties, by what the parameter is.
const (
	// Of a communicator: size of its group; of an intercommunicator: size of its remote group.
	PropertyCommSize      Property = iota
	PropertyCommLocalSize          // of a communicator: size of its own group, also for an intercommunicator
	PropertyInDegree               // of a communicator: number of neighbours that the rank receives from
	PropertyOutDegree              // of a communicator: number of neighbours that the rank sends to
	PropertyCommDims               // of a communicator: number of dimensions of its cartesian topology
	PropertyGraphNodes             // of a communicator: number of nodes of its graph topology
	PropertyGraphEdges             // of a communicator: number of edges of its graph topology
	// Of a communicator and a rank: number of the rank's neighbours in the graph topology.
	PropertyGraphNeighbors
	PropertyInWeights       // of a communicator: PropertyInDegree if its edges have weights, else 0
	PropertyOutWeights      // of a communicator: PropertyOutDegree if its edges have weights, else 0
	PropertyTypeIntegers    // of a datatype: number of integers that its constructor was given
	PropertyTypeAddresses   // of a datatype: number of addresses that its constructor was given
	PropertyTypeLargeCounts // of a datatype: number of large counts that its constructor was given
	PropertyTypeDatatypes   // of a datatype: number of datatypes that its constructor was given
	PropertyCategoryCvars   // of a category of the tools interface: number of control variables in it
	// Of a category of the tools interface: number of performance variables in it.
	PropertyCategoryPvars
	PropertyCategoryEventTypes    // of a category of the tools interface: number of event types in it
	PropertyCategorySubcategories // of a category of the tools interface: number of categories in it
	PropertyArraySum              // of an array: sum of its elements
	PropertyArrayLast             // of an array: its last element; 0 for an empty array
	// Of an array: the element with the index of the calling rank; only in data() and memory().
	PropertyArrayOwnElement
)

var propertyNames = [...]string{"size", "localsize", "indegree", "outdegree", "dims", "nodes", "edges", "neighbors", "inweights", "outweights",
	"integers", "addresses", "largecounts", "datatypes", "cvars", "pvars", "events", "categories", "sum", "last", "own"}

func (p Property) String() string { return propertyNames[p] }

// IsOfArray reports whether the property is one of arrays.
func (p Property) IsOfArray() bool { return p >= PropertyArraySum }

// of returns the kind of parameter that has the property. It must not be called for properties of arrays.
func (p Property) of() Kind {
	switch {
	case p >= PropertyCategoryCvars:
		return KindInt
	case p >= PropertyTypeIntegers:
		return KindDatatype
	}
	return KindComm
}

// parseExpr parses a sum of products. There are no parentheses, as no length in the standard needs them.
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
		return NullTerminatedExpr{}, nil
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
		return MPIConstantExpr(s), nil
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

// WalkExpr calls f for e and for every expression in it, e first.
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
