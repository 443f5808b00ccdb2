package expr

import (
	"strconv"
	"sync"
)

// slots are the arguments that a compiled function takes.
type slots struct{ a, b, c, d int64 }

// A code computes a formula, given the variables and the arguments of the function that the formula is part of.
type code func(at *VariableValues, x slots) int64

// A compiled is a compiled function of formulas. It may be specialised for constant arguments.
type compiled struct{ run code }

// compiling is held while specialised functions are compiled.
var compiling sync.Mutex

func (f *function) ofGrid() bool { return f.parameters[0] == "g" }

// prepared returns the function, compiled for a call with args. open are those of args that the compiled function still
// takes.
func (f *function) prepared(args []*Expr, depth int) (c *compiled, open []*Expr) {
	if !f.ofGrid() {
		return f.whole, args
	}
	return f.compile(args, depth)
}

// mostCompiled is the recursion depth up to which calls are specialised for constant arguments: a function may call
// itself without end.
const mostCompiled = 24

// compile compiles a function for a call with args. open are those of args that the compiled function still takes.
// Functions of grids are specialised for constant arguments, such as the grid itself. The constants of other functions
// differ too often.
func (f *function) compile(args []*Expr, depth int) (c *compiled, open []*Expr) {
	key := "" // constants of the call, "x" for others: what the variant is stored under
	bound := make([]*Expr, len(args))
	for i, a := range args {
		bound[i] = a
		if a.op != opNumber || depth > mostCompiled {
			bound[i] = &Expr{op: opParameter, n: int64(len(open))}
			open = append(open, a)
			key += "x "
		} else {
			key += strconv.FormatInt(a.n, 10) + " "
		}
	}
	if c = f.variants[key]; c == nil {
		c = &compiled{} // stored before its code is made, as the function may call itself
		f.variants[key] = c
		c.run = f.code(bound, depth+1)
	}
	return c, open
}

// code returns the code of the function. args are constants or parameters, whose values are in slots when the code
// runs.
func (f *function) code(args []*Expr, depth int) code {
	if f.body != nil {
		return f.body.with(args).code(depth)
	}
	native := f.native
	var n [3]int64
	var of [3]code
	numbers := true
	for i := range of {
		e := Number(0)
		if i < len(args) {
			e = args[i]
		}
		numbers = numbers && e.op == opNumber
		n[i], of[i] = e.n, e.code(depth)
	}
	a, b, c := of[0], of[1], of[2]
	switch {
	case numbers:
		return func(at *VariableValues, _ slots) int64 { return native(at, n[0], n[1], n[2]) }
	case len(args) < 3:
		return func(at *VariableValues, x slots) int64 { return native(at, a(at, x), b(at, x), 0) }
	}
	return func(at *VariableValues, x slots) int64 { return native(at, a(at, x), b(at, x), c(at, x)) }
}

// with replaces each parameter in a formula by the element of parameters with its number, and evaluates parts that
// become constant.
func (e *Expr) with(parameters []*Expr) *Expr {
	if e.op == opParameter {
		return parameters[e.n]
	}
	if len(e.args) == 0 {
		return e
	}
	out := *e
	out.args = make([]*Expr, len(e.args))
	numbers := e.op != opCall
	for i, a := range e.args {
		// The condition is constant: the branch not taken is left out, as expanding it might not end.
		if e.op == opIf && i == 1 && out.args[0].op == opNumber {
			if out.args[0].n != 0 {
				return a.with(parameters)
			}
			return e.args[2].with(parameters)
		}
		out.args[i] = a.with(parameters)
		numbers = numbers && out.args[i].op == opNumber
	}
	if numbers {
		v, _ := out.Eval(&VariableValues{})
		return Number(v)
	}
	return &out
}

// code compiles a formula of parameters, whose values are in slots when the code runs. depth is that of specialised
// calls around it.
func (e *Expr) code(depth int) code {
	switch n := e.n; e.op {
	case opNumber:
		return func(*VariableValues, slots) int64 { return n }
	case opVariable:
		return func(at *VariableValues, _ slots) int64 { return at[n] }
	case opExternal:
		return func(*VariableValues, slots) int64 { return NoValue }
	case opParameter:
		return [...]code{
			func(_ *VariableValues, x slots) int64 { return x.a },
			func(_ *VariableValues, x slots) int64 { return x.b },
			func(_ *VariableValues, x slots) int64 { return x.c },
			func(_ *VariableValues, x slots) int64 { return x.d },
		}[n]
	case opCall:
		f, open := e.call.fn.prepared(e.args, depth)
		var args [4]code
		for i, a := range open {
			args[i] = a.code(depth)
		}
		return f.call(args, len(open))
	}
	a := e.args[0].code(depth)
	switch o := e.op; o {
	case opNegative, opNot:
		return func(at *VariableValues, x slots) int64 { return unary(o, a(at, x)) }
	case opIf:
		b, c := e.args[1].code(depth), e.args[2].code(depth)
		return func(at *VariableValues, x slots) int64 {
			switch a(at, x) {
			case 0:
				return c(at, x)
			case NoValue:
				return NoValue
			}
			return b(at, x)
		}
	case opAnd, opOr:
		b := e.args[1].code(depth)
		return func(at *VariableValues, x slots) int64 {
			if v := a(at, x); v == NoValue || (v != 0) == (o == opOr) {
				return unary(opNot, unary(opNot, v))
			}
			return unary(opNot, unary(opNot, b(at, x)))
		}
	default:
		b := e.args[1].code(depth)
		return func(at *VariableValues, x slots) int64 { return binary(o, a(at, x), b(at, x)) }
	}
}

// call returns the code that evaluates the first n of args and calls the compiled function with their values.
func (f *compiled) call(args [4]code, n int) code {
	a, b, c, d := args[0], args[1], args[2], args[3]
	switch n {
	case 0:
		return func(at *VariableValues, _ slots) int64 { return f.run(at, slots{}) }
	case 1:
		return func(at *VariableValues, x slots) int64 {
			v := a(at, x)
			if v == NoValue {
				return NoValue
			}
			return f.run(at, slots{a: v})
		}
	}
	return func(at *VariableValues, x slots) int64 {
		s := slots{a: a(at, x), b: b(at, x)}
		if n > 2 {
			s.c = c(at, x)
		}
		if n > 3 {
			s.d = d(at, x)
		}
		if s.a == NoValue || s.b == NoValue || s.c == NoValue || s.d == NoValue {
			return NoValue
		}
		return f.run(at, s)
	}
}

// unary applies opNegative or opNot to a.
func unary(o op, a int64) int64 {
	switch {
	case a == NoValue:
		return NoValue
	case o == opNegative:
		return -a
	}
	return truth(a == 0)
}

// binary applies an operator to two operands. The result is NoValue if C leaves it undefined, as in a division by 0.
func binary(o op, a, b int64) int64 {
	if a == NoValue || b == NoValue {
		return NoValue
	}
	switch o {
	case opXor:
		return a ^ b
	case opMask:
		return a & b
	case opEqual:
		return truth(a == b)
	case opUnequal:
		return truth(a != b)
	case opLess:
		return truth(a < b)
	case opAtMost:
		return truth(a <= b)
	case opMore:
		return truth(a > b)
	case opAtLeast:
		return truth(a >= b)
	case opPlus:
		return a + b
	case opMinus:
		return a - b
	case opTimes:
		return a * b
	case opOver:
		if b != 0 {
			return a / b
		}
	case opModulo:
		if b != 0 {
			return a % b
		}
	}
	return NoValue
}
