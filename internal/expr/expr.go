// Package expr has formulas: values as functions of the rank, the number of ranks, the iteration of a loop and the
// place in a list.
//
// A formula is a tree. Parse makes it of C text, Eval computes it, and CText writes it for programs and people. What a
// formula may call is defined by formulas, too (functions.go); CHeader writes these definitions for C programs.
package expr

import (
	"fmt"
	"math"
	"slices"
)

// A Variable is an input of formulas.
type Variable uint8

// The variables of formulas.
const (
	VariableRankCount     Variable = iota // number of ranks in MPI_COMM_WORLD
	VariableRank                          // rank in MPI_COMM_WORLD
	VariableLoopIteration                 // iteration, from 0, of the innermost loop whose trip count differs between runs
	VariableLoopTripCount                 // trip count of the loop that VariableLoopIteration is about
	// iteration, from 0, of the next outer loop whose trip count differs between runs
	VariableOuterIteration
	VariableListIndex      // index in a list, from 0
	VariableListLength     // length of the list that VariableListIndex is about
	VariableFixedIteration // iteration, from 0, of a loop whose trip count is equal in all runs
	NumVariables           // number of variables
)

// names are the variables' names in the text of formulas.
var names = [NumVariables]string{"ranks", "rank", "i", "n", "j", "k", "m", "t"}

func (v Variable) String() string { return names[v] }

// A VariableValues has the value of each variable.
type VariableValues [NumVariables]int64

// NoValue is the value of a formula that is undefined.
const NoValue = math.MinInt64

// An op is an operator of formulas.
type op uint8

const (
	opNumber op = iota
	opVariable
	opParameter // parameter of the function whose definition the formula is
	opCall
	opIf
	opOr
	opAnd
	opXor // bitwise
	opMask
	opEqual
	opUnequal
	opLess
	opAtMost
	opMore
	opAtLeast
	opPlus
	opMinus
	opTimes
	opOver
	opModulo // as in C: with the sign of the dividend
	opNegative
	opNot
	opExternal // name that the C program around the formula defines
)

// An Expr is a formula. It does not change.
type Expr struct {
	op   op
	n    int64  // value of a number; else index of the variable or parameter
	name string // C name of a number, or of what the program defines
	call *call
	args []*Expr
}

// A call is a call of a function in a formula. open are the arguments that compiled takes. In the definitions of
// functions, compiled is nil.
type call struct {
	fn       *function
	compiled *compiled
	open     []*Expr
}

// Number returns the formula that is the number n.
func Number(n int64) *Expr { return &Expr{n: n} }

// NamedNumber returns the formula that is the number n, written as a name in C.
func NamedNumber(name string, n int64) *Expr { return &Expr{n: n, name: name} }

// VariableExpr returns the formula that is a variable.
func VariableExpr(v Variable) *Expr { return variables[v] }

var variables = func() (list [NumVariables]*Expr) {
	for v := range list {
		list[v] = &Expr{op: opVariable, n: int64(v)}
	}
	return list
}()

func two(o op, a, b *Expr) *Expr { return &Expr{op: o, args: []*Expr{a, b}} }

// Sum returns the sum of formulas, without terms that are 0.
func Sum(terms ...*Expr) *Expr {
	var sum *Expr
	for _, t := range terms {
		switch {
		case t.IsNumber(0):
		case sum == nil:
			sum = t
		default:
			sum = two(opPlus, sum, t)
		}
	}
	if sum == nil {
		return Number(0)
	}
	return sum
}

// Product returns the product of formulas, without factors that are 1.
func Product(factors ...*Expr) *Expr {
	var product *Expr
	for _, f := range factors {
		switch {
		case f.IsNumber(0):
			return f
		case f.IsNumber(1):
		case f.op == opTimes && product != nil:
			product = Product(product, f.args[0], f.args[1])
		case product == nil:
			product = f
		case product.IsNumber(-1):
			product = &Expr{op: opNegative, args: []*Expr{f}}
		default:
			product = two(opTimes, product, f)
		}
	}
	if product == nil {
		return Number(1)
	}
	return product
}

// Quotient is a / b, rounded towards 0.
func Quotient(a, b *Expr) *Expr { return two(opOver, a, b) }

// Remainder is a % b as in C, with the sign of a.
func Remainder(a, b *Expr) *Expr { return two(opModulo, a, b) }

// Xor is the bitwise exclusive or of a and b.
func Xor(a, b *Expr) *Expr { return two(opXor, a, b) }

// Equal is 1 if a and b are equal, else 0.
func Equal(a, b *Expr) *Expr { return two(opEqual, a, b) }

// Unequal is 1 if a and b differ, else 0.
func Unequal(a, b *Expr) *Expr { return two(opUnequal, a, b) }

// Less is 1 if a < b, else 0.
func Less(a, b *Expr) *Expr { return two(opLess, a, b) }

// Greater is 1 if a > b, else 0.
func Greater(a, b *Expr) *Expr { return two(opMore, a, b) }

// AtLeast is 1 if a ≥ b, else 0.
func AtLeast(a, b *Expr) *Expr { return two(opAtLeast, a, b) }

// And is 1 if neither a nor b is 0, else 0.
func And(a, b *Expr) *Expr { return two(opAnd, a, b) }

// Or is 1 if a or b is not 0, else 0.
func Or(a, b *Expr) *Expr { return two(opOr, a, b) }

// Not is 1 if a is 0, else 0.
func Not(a *Expr) *Expr { return &Expr{op: opNot, args: []*Expr{a}} }

// Conditional is the C expression condition ? then : otherwise.
func Conditional(condition, then, otherwise *Expr) *Expr {
	return &Expr{op: opIf, args: []*Expr{condition, then, otherwise}}
}

// CallFunction returns a call of a function that functions.go defines. It panics if there is no such function.
func CallFunction(name string, args ...*Expr) *Expr {
	define()
	e, err := called(name, args, false)
	if err != nil {
		panic(err)
	}
	return e
}

// FunctionNamed returns a function of formulas as a Go function; functions of grids are not supported. Arguments after
// its last parameter are ignored.
func FunctionNamed(name string) func(a, b, c int64) int64 {
	define()
	f := functions[name].whole
	return func(a, b, c int64) int64 { return f.run(nil, slots{a: a, b: b, c: c}) }
}

func called(name string, args []*Expr, definition bool) (*Expr, error) {
	f := functions[name]
	switch {
	case f == nil:
		return nil, fmt.Errorf("there is no %s", name)
	case len(f.parameters) != len(args):
		return nil, fmt.Errorf("%s has %d parameters", name, len(f.parameters))
	case f.ofGrid() && args[0].op != opNumber && args[0].op != opParameter:
		return nil, fmt.Errorf("%s is of %s, which is no grid", name, args[0])
	}
	c := &call{fn: f}
	switch {
	case definition:
	case f.ofGrid():
		compiling.Lock()
		c.compiled, c.open = f.compile(args, 0)
		compiling.Unlock()
	default:
		c.compiled, c.open = f.whole, args
	}
	return &Expr{op: opCall, call: c, args: args}, nil
}

// External is a name that the C program around the formula defines: a function if there are args, else a variable. Eval
// cannot compute it.
func External(name string, args ...*Expr) *Expr {
	return &Expr{op: opExternal, name: name, args: args}
}

// TableElement is the element at index i of an array that the C program around the formula defines.
func TableElement(table string, i *Expr) *Expr {
	return &Expr{op: opExternal, n: 1, name: table, args: []*Expr{i}}
}

// Replace returns the formula in which of(v) takes the place of each variable v.
func (e *Expr) Replace(of func(v Variable) *Expr) *Expr {
	if e.op == opVariable {
		return of(Variable(e.n))
	}
	if len(e.args) == 0 {
		return e
	}
	out := *e
	out.args = make([]*Expr, len(e.args))
	for i, a := range e.args {
		out.args[i] = a.Replace(of)
	}
	if e.op == opCall {
		return CallFunction(e.call.fn.name, out.args...)
	}
	return &out
}

// Constant returns the formula's value if it is a number without name; else false.
func (e *Expr) Constant() (int64, bool) { return e.n, e.op == opNumber && e.name == "" }

// IsNumber reports whether the formula is the unnamed number n.
func (e *Expr) IsNumber(n int64) bool { return e.op == opNumber && e.n == n && e.name == "" }

// Walk calls f for a formula and its subexpressions, until f returns false. It returns false if f did.
func (e *Expr) Walk(f func(*Expr) bool) bool {
	return f(e) && !slices.ContainsFunc(e.args, func(a *Expr) bool { return !a.Walk(f) })
}

// UsesVariable reports whether one of the variables occurs in the formula.
func (e *Expr) UsesVariable(list ...Variable) bool {
	return !e.Walk(func(e *Expr) bool { return e.op != opVariable || !slices.Contains(list, Variable(e.n)) })
}

// shares are the functions that divide a total into parts. Their first two parameters are the total and the number of
// parts.
var shares = []string{"share", "floor_share", "rest_share", "late_share", "chunk", "floor_div", "ceil_div"}

// CallsShareFunction reports whether the formula calls any of the functions named by, which divide a total; without names, any
// of shares.
func (e *Expr) CallsShareFunction(by ...string) bool {
	if len(by) == 0 {
		by = shares
	}
	return !e.Walk(func(e *Expr) bool { return e.op != opCall || !slices.Contains(by, e.call.fn.name) })
}

// DividedTotal returns the total that the formula divides, if the formula is a call of one of shares and the total a
// number.
func (e *Expr) DividedTotal() (int64, bool) {
	if e.op != opCall || !slices.Contains(shares, e.call.fn.name) {
		return 0, false
	}
	return e.args[0].Constant()
}

// DivisibilityCondition returns a formula that is 1 if the formula's divisions have no remainders: its shares of a
// total are equal, and its quotients by numbers exact.
func (e *Expr) DivisibilityCondition() *Expr {
	all := Number(1)
	e.Walk(func(e *Expr) bool {
		if e.op == opOver && e.args[1].op == opNumber || e.op == opCall && slices.Contains(shares, e.call.fn.name) {
			if exact := Equal(Remainder(e.args[0], e.args[1]), Number(0)); all.IsNumber(1) {
				all = exact
			} else {
				all = And(all, exact)
			}
		}
		return true
	})
	return all
}

// DescriptionBits is the formula's description length, as programs write it. A share counts as a division: the part's
// number adds nothing. Neither do names of numbers.
func (e *Expr) DescriptionBits() (bits float64) {
	const ofWord, ofDivision = 4, 2
	args := e.args
	switch {
	case e.op == opNumber && e.name == "":
		bits = math.Log2(1 + math.Abs(float64(e.n)))
	case e.op == opCall && slices.Contains(shares, e.call.fn.name):
		bits, args = ofDivision, args[:2]
	// How many elements two blocks have in common.
	case e.op == opCall && e.call.fn.name == "overlap" && len(e.args[0].args) > 1 && len(e.args[2].args) > 1:
		bits, args = 2*ofDivision, append(e.args[0].args[:2:2], e.args[2].args[1])
	case e.op == opVariable || e.op == opCall:
		bits = ofWord
	}
	for _, a := range args {
		bits += a.DescriptionBits()
	}
	return bits
}

// Eval computes the formula. It returns false if the value is undefined.
func (e *Expr) Eval(at *VariableValues) (int64, bool) {
	v := e.eval(at)
	return v, v != NoValue
}

// eval walks the formula's tree, as most formulas are evaluated only once or twice. Functions that it calls are
// compiled.
func (e *Expr) eval(at *VariableValues) int64 {
	switch e.op {
	case opNumber:
		return e.n
	case opVariable:
		return at[e.n]
	case opCall:
		var v [4]int64
		for i, a := range e.call.open {
			if v[i] = a.eval(at); v[i] == NoValue {
				return NoValue
			}
		}
		return e.call.compiled.run(at, slots{v[0], v[1], v[2], v[3]})
	case opExternal:
		return NoValue
	}
	a := e.args[0].eval(at)
	switch e.op {
	case opIf:
		switch a {
		case NoValue:
			return NoValue
		case 0:
			return e.args[2].eval(at)
		}
		return e.args[1].eval(at)
	case opNegative, opNot:
		return unary(e.op, a)
	case opAnd, opOr:
		if a != NoValue && (a != 0) == (e.op == opAnd) {
			a = e.args[1].eval(at)
		}
		return unary(opNot, unary(opNot, a))
	}
	return binary(e.op, a, e.args[1].eval(at))
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
