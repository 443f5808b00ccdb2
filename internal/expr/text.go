package expr

import (
	"strconv"
	"strings"
)

// signs are the operators' texts and precedences in C. A larger precedence binds more tightly.
var signs = [...]struct {
	text string
	bind int
}{
	opIf: {"?", 1}, opOr: {"||", 2}, opAnd: {"&&", 3}, opXor: {"^", 4}, opMask: {"&", 5}, opEqual: {"==", 6}, opUnequal: {"!=", 6},
	opLess: {"<", 7}, opAtMost: {"<=", 7}, opMore: {">", 7}, opAtLeast: {">=", 7},
	opPlus: {"+", 9}, opMinus: {"-", 9}, opTimes: {"*", 10}, opOver: {"/", 10}, opModulo: {"%", 10}, opNegative: {"-", 11}, opNot: {"!", 11},
}

// tightest is the precedence of operands that never need parentheses.
const tightest = 12

func (e *Expr) bind() int {
	switch {
	case e.op > opCall && e.op < opExternal:
		return signs[e.op].bind
	case e.op == opNumber && e.n < 0 && e.name == "":
		return signs[opNegative].bind
	}
	return tightest
}

// A CStyle is how numbers and variables of formulas are written in C. Text in the zero CStyle can be read by Parse.
type CStyle struct {
	Number   func(n int64) string
	Factor   func(n int64) string // how to write a number that is a factor; nil: like other numbers
	Variable func(v Variable) string
}

// String returns the formula as text that Parse can read.
func (e *Expr) String() string { return e.CText(CStyle{}) }

// CText returns the formula as C text in a style.
func (e *Expr) CText(s CStyle) string {
	w := writer{style: s.complete()}
	w.expr(e, 0)
	return w.b.String()
}

func (s CStyle) complete() CStyle {
	if s.Number == nil {
		s.Number = func(n int64) string { return strconv.FormatInt(n, 10) }
	}
	if s.Factor == nil {
		s.Factor = s.Number
	}
	if s.Variable == nil {
		s.Variable = Variable.String
	}
	return s
}

// CTextAsOperand returns the formula in C, in parentheses if it binds less tightly than a sum.
func (e *Expr) CTextAsOperand(s CStyle) string {
	w := writer{style: s.complete()}
	w.expr(e, signs[opPlus].bind)
	return w.b.String()
}

type writer struct {
	style CStyle
	b     strings.Builder
	fn    *function // function whose definition is being written; it has the names of parameters
}

// expr writes a formula, in parentheses if its precedence is below least.
func (w *writer) expr(e *Expr, least int) {
	if e.bind() < least {
		w.b.WriteByte('(')
		defer w.b.WriteByte(')')
	}
	switch e.op {
	case opNumber:
		text := e.name
		if text == "" {
			text = w.style.Number(e.n)
		}
		w.b.WriteString(text)
	case opVariable:
		w.b.WriteString(w.style.Variable(Variable(e.n)))
	case opParameter:
		w.b.WriteString(w.fn.parameters[e.n])
	case opCall:
		w.list(e.call.fn.name+"(", e.args, ")")
	case opExternal:
		switch {
		case e.n == 1:
			w.list(e.name+"[", e.args, "]")
		case len(e.args) == 0:
			w.b.WriteString(e.name)
		default:
			w.list(e.name+"(", e.args, ")")
		}
	case opIf:
		w.expr(e.args[0], signs[opIf].bind+1)
		w.b.WriteString(" ? ")
		w.expr(e.args[1], signs[opIf].bind+1)
		w.b.WriteString(" : ")
		w.expr(e.args[2], signs[opIf].bind)
	case opNegative, opNot:
		w.b.WriteString(signs[e.op].text)
		w.expr(e.args[0], tightest)
	default:
		w.two(e)
	}
}

func (w *writer) list(before string, list []*Expr, after string) {
	w.b.WriteString(before)
	for i, e := range list {
		if i > 0 {
			w.b.WriteString(", ")
		}
		w.expr(e, 0)
	}
	w.b.WriteString(after)
}

// two writes an operator and its operands. It adds parentheses where compilers would otherwise warn.
func (w *writer) two(e *Expr) {
	sign, bind := signs[e.op].text, signs[e.op].bind
	left, right := bind, bind+1
	second := e.args[1]
	switch e.op {
	case opOr, opXor, opMask:
		left, right = signs[opEqual].bind, signs[opEqual].bind
		if e.op != opOr {
			left, right = tightest, tightest
		}
	case opEqual, opUnequal, opLess, opAtMost, opMore, opAtLeast:
		left, right = signs[opPlus].bind, signs[opPlus].bind
	case opAnd:
		left, right = bind, bind
	case opPlus:
		right = bind
		if n, ok := second.negated(); ok {
			sign, second, right = "-", n, bind+1
		}
	}
	if first := e.args[0]; e.op == opTimes && first.op == opNumber && first.name == "" {
		w.b.WriteString(w.style.Factor(first.n))
	} else {
		w.expr(first, left)
	}
	w.b.WriteString(" " + sign + " ")
	w.expr(second, right)
}

// negated returns -e if e is written with a leading minus sign; else false.
func (e *Expr) negated() (*Expr, bool) {
	switch {
	case e.op == opNumber && e.n < 0 && e.n != NoValue && e.name == "":
		return Number(-e.n), true
	case e.op == opNegative:
		return e.args[0], true
	case e.op == opTimes:
		if n, ok := e.args[0].negated(); ok {
			return Product(n, e.args[1]), true
		}
	}
	return nil, false
}
