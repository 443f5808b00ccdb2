// Package expr has formulas: values as functions of the rank, the number of ranks, the iteration of a loop and the place in a list.
//
// A formula is a tree. Parse makes it of C text, Eval computes it, and C writes it for programs and people. What a formula may call is defined by
// formulas, too (functions.go); Header writes these definitions for C programs.
package expr

import (
	"fmt"
	"math"
	"slices"
)

// A Variable is what formulas depend on.
type Variable uint8

// The variables.
const (
	Ranks              Variable = iota // size of the world
	Rank                               // rank in it
	LoopIteration                      // of the innermost loop whose length differs between runs
	LoopLength                         // of that loop
	OuterIteration                     // iteration of the next such loop around it
	ListElement                        // place in a list
	ListLength                         // length of that list
	EqualLoopIteration                 // iteration of a loop that is equally long in all runs
	VariableCount                      // how many there are
)

// names are those of variables in formulas.
var names = [VariableCount]string{"ranks", "rank", "i", "n", "j", "k", "m", "t"}

func (v Variable) String() string { return names[v] }

// An VariableValues has the value of each variable.
type VariableValues [VariableCount]int64

// NoValue is the value of a formula where it has none.
const NoValue = math.MinInt64

// An op is what a formula does with its operands.
type op uint8

const (
	opNumber op = iota
	opVariable
	opParameter // of a function, in its definition
	opCall
	opIf
	opOr
	opAnd
	opXor // of bits
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
	opExternal // what the program that the formula is for defines
)

// An Expr is a formula. It does not change.
type Expr struct {
	op   op
	n    int64  // of a number; of variables and parameters which
	name string // of a number, if it has one
	call *call
	args []*Expr
}

// A call is of a function. What it is compiled to takes the arguments that are open; in definitions it is not compiled.
type call struct {
	fn       *function
	compiled *compiled
	open     []*Expr
}

// Number is a number.
func Number(n int64) *Expr { return &Expr{n: n} }

// NamedNumber is a number that has a name in C.
func NamedNumber(name string, n int64) *Expr { return &Expr{n: n, name: name} }

// VariableExpr is the value of a variable.
func VariableExpr(v Variable) *Expr { return variables[v] }

var variables = func() (list [VariableCount]*Expr) {
	for v := range list {
		list[v] = &Expr{op: opVariable, n: int64(v)}
	}
	return list
}()

func two(o op, a, b *Expr) *Expr { return &Expr{op: o, args: []*Expr{a, b}} }

// Sum adds its terms; those that are 0 are left out.
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

// Product multiplies its factors; those that are 1 are left out.
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

// Quotient rounds towards 0.
func Quotient(a, b *Expr) *Expr { return two(opOver, a, b) }

// Remainder has the sign of the dividend.
func Remainder(a, b *Expr) *Expr { return two(opModulo, a, b) }

// Xor has the bits in which both differ.
func Xor(a, b *Expr) *Expr { return two(opXor, a, b) }

// Equal is 1 if both are.
func Equal(a, b *Expr) *Expr { return two(opEqual, a, b) }

// Unequal is 1 if they differ.
func Unequal(a, b *Expr) *Expr { return two(opUnequal, a, b) }

// Less is 1 if the first is the smaller one.
func Less(a, b *Expr) *Expr { return two(opLess, a, b) }

// Greater is 1 if the first is the larger one.
func Greater(a, b *Expr) *Expr { return two(opMore, a, b) }

// AtLeast is 1 if the first is not smaller.
func AtLeast(a, b *Expr) *Expr { return two(opAtLeast, a, b) }

// And is 1 if both are not 0.
func And(a, b *Expr) *Expr { return two(opAnd, a, b) }

// Or is 1 if one is not 0.
func Or(a, b *Expr) *Expr { return two(opOr, a, b) }

// Not is 1 for 0, else 0.
func Not(a *Expr) *Expr { return &Expr{op: opNot, args: []*Expr{a}} }

// Conditional chooses by a condition.
func Conditional(condition, then, otherwise *Expr) *Expr {
	return &Expr{op: opIf, args: []*Expr{condition, then, otherwise}}
}

// CallFunction is a call of a function that functions.go defines.
func CallFunction(name string, args ...*Expr) *Expr {
	define()
	e, err := called(name, args, false)
	if err != nil {
		panic(err)
	}
	return e
}

// FunctionNamed is a function of three numbers alone.
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

// External is what a program defines, by its name in C, or calls with arguments. Eval knows nothing of it.
func External(name string, args ...*Expr) *Expr {
	return &Expr{op: opExternal, name: name, args: args}
}

// TableElement is an element of a table that a program defines.
func TableElement(table string, i *Expr) *Expr {
	return &Expr{op: opExternal, n: 1, name: table, args: []*Expr{i}}
}

// Replace puts formulas in the place of variables.
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

// Constant is the number that a formula is, if it is one.
func (e *Expr) Constant() (int64, bool) { return e.n, e.op == opNumber && e.name == "" }

// IsNumber reports whether a formula is a number.
func (e *Expr) IsNumber(n int64) bool { return e.op == opNumber && e.n == n && e.name == "" }

// Walk calls f for a formula and all within it, until f returns false.
func (e *Expr) Walk(f func(*Expr) bool) bool {
	return f(e) && !slices.ContainsFunc(e.args, func(a *Expr) bool { return !a.Walk(f) })
}

// UsesVariable reports whether one of some variables occurs in the formula as it is written.
func (e *Expr) UsesVariable(list ...Variable) bool {
	return !e.Walk(func(e *Expr) bool { return e.op != opVariable || !slices.Contains(list, Variable(e.n)) })
}

// shares are the functions that share a total out among parts, their first two parameters.
var shares = []string{"share", "floor_share", "rest_share", "late_share", "chunk", "floor_div", "ceil_div"}

// ContainsShare reports whether something is shared out, by one of some functions; none: by any of those that do that.
func (e *Expr) ContainsShare(by ...string) bool {
	if len(by) == 0 {
		by = shares
	}
	return !e.Walk(func(e *Expr) bool { return e.op != opCall || !slices.Contains(by, e.call.fn.name) })
}

// SharedTotal is what a formula shares out, if it is a share of a number.
func (e *Expr) SharedTotal() (int64, bool) {
	if e.op != opCall || !slices.Contains(shares, e.call.fn.name) {
		return 0, false
	}
	return e.args[0].Constant()
}

// DividesEvenly is a formula of whether nothing is left over: all shares of a total are equal, and quotients by a number are exact.
func (e *Expr) DividesEvenly() *Expr {
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

// DescriptionBits is how long the formula is, as programs write it: a share is a division, and whose share it is goes without saying. Names of numbers count for
// nothing.
func (e *Expr) DescriptionBits() (bits float64) {
	const ofWord, ofDivision = 4, 2
	args := e.args
	switch {
	case e.op == opNumber && e.name == "":
		bits = math.Log2(1 + math.Abs(float64(e.n)))
	case e.op == opCall && slices.Contains(shares, e.call.fn.name):
		bits, args = ofDivision, args[:2]
	case e.op == opCall && e.call.fn.name == "overlap" && len(e.args[0].args) > 1 && len(e.args[2].args) > 1: // of two blocks
		bits, args = 2*ofDivision, append(e.args[0].args[:2:2], e.args[2].args[1])
	case e.op == opVariable || e.op == opCall:
		bits = ofWord
	}
	for _, a := range args {
		bits += a.DescriptionBits()
	}
	return bits
}

// Eval computes the formula. It is false where there is no value.
func (e *Expr) Eval(at *VariableValues) (int64, bool) {
	v := e.eval(at)
	return v, v != NoValue
}

// eval walks the tree: most formulas are tried once or twice. Functions are compiled.
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
