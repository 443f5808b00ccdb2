package mpi

import (
	"fmt"
	"strconv"
	"strings"
)

// An Expr is the length of an array, as a tree: one of Num, Ref, Limit, Null,
// *Of, *Sum and *Product. calls.txt explains them.
type Expr interface {
	String() string
	expr()
}

type (
	// Num is a literal.
	Num int64

	// Ref is the value of the parameter with that name: of an output the
	// value on exit; of one that is read and written the smaller of both,
	// since it was the room and is the need. A negative value counts as 0.
	Ref string

	// Limit is the MPI's value of a named constant such as
	// MPI_MAX_ERROR_STRING.
	Limit string

	// Null means that a null pointer ends the array.
	Null struct{}

	// Of is a property of another parameter.
	Of struct {
		Property Property
		Param    string
		Rank     string // parameter that says which rank's, of Neighbors alone
	}

	// Sum adds its terms.
	Sum struct{ Terms []Expr }

	// Product multiplies its factors.
	Product struct{ Factors []Expr }
)

func (Num) expr()      {}
func (Ref) expr()      {}
func (Limit) expr()    {}
func (Null) expr()     {}
func (*Of) expr()      {}
func (*Sum) expr()     {}
func (*Product) expr() {}

func (n Num) String() string   { return strconv.FormatInt(int64(n), 10) }
func (r Ref) String() string   { return string(r) }
func (l Limit) String() string { return string(l) }
func (Null) String() string    { return "null" }
func (o *Of) String() string {
	if o.Rank != "" {
		return o.Property.String() + "(" + o.Param + "," + o.Rank + ")"
	}
	return o.Property.String() + "(" + o.Param + ")"
}
func (s *Sum) String() string { return joinExprs(s.Terms, "+") }
func (p *Product) String() string {
	return joinExprs(p.Factors, "*")
}

func joinExprs(list []Expr, sep string) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = e.String()
	}
	return strings.Join(parts, sep)
}

// A Property is what Of asks of a parameter.
type Property uint8

// The properties.
const (
	Size        Property = iota // of a communicator: group size, of the remote group if there is one
	LocalSize                   // of a communicator: size of the local group
	InDegree                    // of a communicator: number of neighbours it receives from
	OutDegree                   // of a communicator: number of neighbours it sends to
	Dims                        // of a communicator: dimensions of its cartesian topology
	Nodes                       // of a communicator: nodes of its graph
	Edges                       // of a communicator: edges of its graph
	Neighbors                   // of a communicator and a rank: neighbours in its graph
	InWeights                   // of a communicator: InDegree if its edges have weights
	OutWeights                  // of a communicator: OutDegree if its edges have weights
	Integers                    // of a datatype: integers that its constructor was given
	Addresses                   // of a datatype: addresses
	LargeCounts                 // of a datatype: large counts
	Datatypes                   // of a datatype: datatypes
	Cvars                       // of a category of the tool interface: control variables in it
	Pvars                       // of a category: performance variables
	Events                      // of a category: event types
	Categories                  // of a category: categories
	SumOf                       // of an array: sum of its elements
	LastOf                      // of an array: its last element, 0 if it has none
	OwnOf                       // of an array: the element of the own rank; only in contents
)

var propertyNames = [...]string{"size", "localsize", "indegree", "outdegree", "dims", "nodes", "edges", "neighbors", "inweights", "outweights",
	"integers", "addresses", "largecounts", "datatypes", "cvars", "pvars", "events", "categories", "sum", "last", "own"}

func (p Property) String() string { return propertyNames[p] }

// OfArray reports whether the property is one of arrays, not of objects.
func (p Property) OfArray() bool { return p >= SumOf }

// of returns the kind of the parameters that have the property, unless they are arrays.
func (p Property) of() Kind {
	switch {
	case p >= Cvars:
		return KindInt
	case p >= Integers:
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
		terms = append(terms, one(factors, func(l []Expr) Expr { return &Product{l} }))
	}
	return one(terms, func(l []Expr) Expr { return &Sum{l} }), nil
}

func one(list []Expr, wrap func([]Expr) Expr) Expr {
	if len(list) == 1 {
		return list[0]
	}
	return wrap(list)
}

func parseAtom(s string) (Expr, error) {
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return Num(n), nil
	}
	if s == "null" {
		return Null{}, nil
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
			if two != (Property(p) == Neighbors) {
				return nil, fmt.Errorf("%q: neighbors alone has a communicator and a rank", s)
			}
			return &Of{Property(p), arg, rank}, nil
		}
		return nil, fmt.Errorf("unknown property %q", name)
	}
	if !isName(s) {
		return nil, fmt.Errorf("%q is neither number nor name", s)
	}
	if strings.HasPrefix(s, "MPI_") {
		return Limit(s), nil
	}
	return Ref(s), nil
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

// Walk calls f for e and every expression inside it.
func Walk(e Expr, f func(Expr)) {
	if e == nil {
		return
	}
	f(e)
	switch e := e.(type) {
	case *Sum:
		for _, t := range e.Terms {
			Walk(t, f)
		}
	case *Product:
		for _, t := range e.Factors {
			Walk(t, f)
		}
	}
}
