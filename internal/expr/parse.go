package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Parse parses the C text of a formula.
func Parse(text string) (e *Expr, err error) {
	define()
	return parse(text, nil)
}

// MustParse parses a formula that is part of the program; it panics on errors.
func MustParse(format string, args ...any) *Expr {
	e, err := Parse(fmt.Sprintf(format, args...))
	if err != nil {
		panic(err)
	}
	return e
}

// A parser is the tokens of a formula that have not been parsed. It reports errors by panicking.
type parser struct {
	tokens     []string
	parameters []string
}

func parse(text string, parameters []string) (e *Expr, err error) {
	p := parser{parameters: parameters}
	defer func() {
		if why, ok := recover().(syntax); ok {
			err = fmt.Errorf("formula %q: %s", text, string(why))
		}
	}()
	for text := strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		n := strings.IndexFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		switch {
		case n < 0:
			n = len(text)
		case n == 0 && len(text) > 1 && slices.Contains(pairs, text[:2]):
			n = 2
		case n == 0:
			n = 1
		}
		p.tokens = append(p.tokens, text[:n])
		text = text[n:]
	}
	e = p.condition()
	if len(p.tokens) > 0 {
		panic(syntax("nothing is expected before " + p.tokens[0]))
	}
	return e, nil
}

type syntax string

// pairs are operators of two characters.
var pairs = []string{"==", "!=", "<=", ">=", "&&", "||"}

// is consumes the next token if it equals token, and reports whether it did.
func (p *parser) is(token string) bool {
	ok := len(p.tokens) > 0 && p.tokens[0] == token
	if ok {
		p.tokens = p.tokens[1:]
	}
	return ok
}

func (p *parser) need(token string) {
	if !p.is(token) {
		panic(syntax(token + " is missing"))
	}
}

func (p *parser) condition() *Expr {
	e := p.binary(signs[opIf].bind + 1)
	if !p.is("?") {
		return e
	}
	then := p.condition()
	p.need(":")
	return Conditional(e, then, p.condition())
}

// binary parses an expression of binary operators that bind at least as tightly as precedence least.
func (p *parser) binary(least int) *Expr {
	e := p.unary()
	for {
		o := opOr
		for o < opNegative && (len(p.tokens) == 0 || signs[o].text != p.tokens[0] || signs[o].bind < least) {
			o++
		}
		if o == opNegative {
			return e
		}
		p.tokens = p.tokens[1:]
		e = two(o, e, p.binary(signs[o].bind+1))
	}
}

func (p *parser) unary() *Expr {
	switch {
	case p.is("-"):
		e := p.unary()
		if e.op == opNumber && e.name == "" {
			return Number(-e.n)
		}
		return &Expr{op: opNegative, args: []*Expr{e}}
	case p.is("!"):
		return Not(p.unary())
	case p.is("("):
		e := p.condition()
		p.need(")")
		return e
	case len(p.tokens) == 0:
		panic(syntax("something is missing at its end"))
	}
	word := p.tokens[0]
	p.tokens = p.tokens[1:]
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return Number(n)
	}
	if i := slices.Index(p.parameters, word); i >= 0 {
		return &Expr{op: opParameter, n: int64(i)}
	}
	if i := slices.Index(names[:], word); i >= 0 {
		return VariableExpr(Variable(i))
	}
	if n, ok := numbers[word]; ok {
		return NamedNumber(word, n)
	}
	if !p.is("(") {
		panic(syntax("there is no " + word))
	}
	var args []*Expr
	for !p.is(")") {
		if len(args) > 0 {
			p.need(",")
		}
		args = append(args, p.condition())
	}
	e, err := called(word, args, p.parameters != nil)
	if err != nil {
		panic(syntax(err.Error()))
	}
	return e
}
