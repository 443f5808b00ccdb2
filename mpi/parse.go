package mpi

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// A calls is the parsed functions of calls.txt or io.txt, or of a part of it.
type calls struct {
	list   []*Call // in the order of the file
	byName map[string]*Call
}

// callParser reads calls.txt line by line. Grammar:
//
//	section NUMBER TITLE…
//	call ID NAME CLASS ["REASON"] [ATTR…] [returns KIND]
//	  NAME DIR KIND[LEN[,LEN]] [only-root] [large-only] [if(PARAM)] [unless-inplace(PARAM)]
//	    [written(LEN)] [data(CONTENT) | memory(CONTENT)] [at(PARAM)] [inplace] [varies]
//	large ID NAME [CLASS ["REASON"]]
//
// where "#" starts a comment and a large form shares the parameters of the
// call above it.
type callParser struct {
	file  string
	line  int
	table *calls

	section, title string
	call           *Call       // call that the following lines of parameters belong to
	at             map[int]int // by id of a call: number of the line where it begins
	system         bool        // the file is io.txt: functions of POSIX and C
}

func parseCalls(file, text string) (*calls, error) {
	p := newCallParser(file, 0)
	if err := p.parseText(text); err != nil {
		return nil, err
	}
	return p.table, nil
}

func newCallParser(file string, line int) *callParser {
	return &callParser{file: file, line: line, table: &calls{byName: make(map[string]*Call)}, at: make(map[int]int)}
}

// parseText parses text, whose first line is the one after line p.line of the file.
func (p *callParser) parseText(text string) error {
	for line := range strings.SplitSeq(text, "\n") {
		p.line++
		if err := p.parseLine(line); err != nil {
			return p.errorf("%w", err)
		}
	}
	p.line++
	if err := p.finish(); err != nil {
		return p.errorf("%w", err)
	}
	return nil
}

func (p *callParser) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: "+format, append([]any{p.file, p.line}, args...)...)
}

func (p *callParser) parseLine(line string) error {
	indented := strings.HasPrefix(line, "  ")
	words, err := splitWords(line)
	switch {
	case err != nil:
		return err
	case len(words) == 0:
		return nil
	case indented && p.call == nil:
		return fmt.Errorf("parameter %q outside a call", words[0])
	case indented && p.call.Large:
		return fmt.Errorf("parameter %q after a large form, which shares the small form's", words[0])
	case indented:
		return p.parseParam(words)
	}
	if err := p.finishCall(); err != nil {
		return err
	}
	switch words[0] {
	case "section":
		if len(words) < 3 {
			return fmt.Errorf("section needs a number and a title")
		}
		p.call, p.section, p.title = nil, words[1], strings.Join(words[2:], " ")
		return nil
	case "call":
		return p.parseCall(words[1:])
	case "large":
		return p.parseLarge(words[1:])
	case "form":
		return p.parseForm(words[1:])
	}
	return fmt.Errorf("unknown line %q: want section, call, large or form", words[0])
}

// splitWords splits a line at blanks, without a comment at its end. "Quoted text" and [brackets] remain one word.
func splitWords(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeft(line, " \t\r")
		if line == "" || line[0] == '#' {
			return words, nil
		}
		if line[0] == '"' {
			text, rest, ok := strings.Cut(line[1:], `"`)
			if !ok {
				return nil, fmt.Errorf("unterminated quote")
			}
			words, line = append(words, `"`+text), rest
			continue
		}
		depth, n := 0, 0
		for n < len(line) && (depth > 0 || !strings.ContainsRune(" \t\r", rune(line[n]))) {
			switch line[n] {
			case '[', '(':
				depth++
			case ']', ')':
				depth--
			}
			n++
		}
		if depth != 0 {
			return nil, fmt.Errorf("unbalanced brackets in %q", line[:n])
		}
		words, line = append(words, line[:n]), line[n:]
	}
}

func (p *callParser) parseCall(words []string) error {
	if len(words) < 3 {
		return fmt.Errorf("call needs an id, a name and a class")
	}
	c := &Call{Section: p.section, SectionTitle: p.title, ReturnKind: KindError}
	if p.system {
		c.ReturnKind, c.Attrs = KindNone, AttrPosix
	}
	rest, err := p.parseHead(c, words)
	if err != nil {
		return err
	}
	for len(rest) > 0 {
		word := rest[0]
		rest = rest[1:]
		if word == "returns" {
			if len(rest) == 0 {
				return fmt.Errorf("returns what?")
			}
			kind, ok := KindNamed(rest[0])
			if !ok || !kind.IsParam() {
				return fmt.Errorf("unknown kind %q", rest[0])
			}
			c.ReturnKind, rest = kind, rest[1:]
			continue
		}
		a, ok := attrNamed(word)
		if !ok {
			return fmt.Errorf("unknown attribute %q", word)
		}
		c.Attrs |= a
	}
	if c.Section == "" {
		return fmt.Errorf("%s is in no section", c.Name)
	}
	p.call = c
	return p.add(c)
}

// parseHead parses id, name, class and reason of a call, and returns the words that follow these.
func (p *callParser) parseHead(c *Call, words []string) ([]string, error) {
	id, err := strconv.ParseUint(words[0], 10, 16)
	if err != nil || id == 0 {
		return nil, fmt.Errorf("%q is no id", words[0])
	}
	c.ID, c.Name = uint16(id), words[1]
	if !isName(c.Name) || !p.system && !strings.HasPrefix(c.Name, "MPI_") {
		return nil, fmt.Errorf("%q is no MPI function", c.Name)
	}
	words = words[2:]
	if len(words) == 0 {
		return nil, nil
	}
	class := -1
	for i, name := range classNames {
		if name == words[0] {
			class = i
		}
	}
	if class < 0 {
		return nil, fmt.Errorf("unknown class %q", words[0])
	}
	c.WrapperClass, words = WrapperClass(class), words[1:]
	quoted := len(words) > 0 && strings.HasPrefix(words[0], `"`)
	if quoted != (c.WrapperClass == WrapperAbsent) {
		return nil, fmt.Errorf("%s: an unwrapped call, and no other, has a quoted reason", c.Name)
	}
	if quoted {
		c.UnwrappedReason, words = words[0][1:], words[1:]
	}
	return words, nil
}

func (p *callParser) parseLarge(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("large needs an id and a name")
	}
	small := p.call
	if small == nil || small.Large {
		return fmt.Errorf("%s: a large form follows the call it widens", words[1])
	}
	c := *small
	c.Large, c.SmallForm = true, small
	rest, err := p.parseHead(&c, words)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("unexpected %q", rest[0])
	}
	if c.Name != small.Name+"_c" {
		return fmt.Errorf("%s is not the large form of %s", c.Name, small.Name)
	}
	small.LargeForm = &c
	p.call = &c
	return p.add(&c)
}

func (p *callParser) add(c *Call) error {
	if line, ok := p.at[int(c.ID)]; ok {
		return fmt.Errorf("id %d of %s is taken by line %d", c.ID, c.Name, line)
	}
	if _, ok := p.table.byName[c.Name]; ok {
		return fmt.Errorf("%s appears twice", c.Name)
	}
	p.at[int(c.ID)] = p.line
	p.table.byName[c.Name] = c
	p.table.list = append(p.table.list, c)
	return nil
}

func (p *callParser) parseParam(words []string) error {
	if len(words) < 3 {
		return fmt.Errorf("parameter needs a name, a direction and a kind")
	}
	q := Param{Name: words[0]}
	if !isName(q.Name) {
		return fmt.Errorf("%q is no parameter name", q.Name)
	}
	if p.call.Index(q.Name) >= 0 {
		return fmt.Errorf("parameter %s appears twice", q.Name)
	}
	dir := -1
	for i, name := range dirNames {
		if name == words[1] {
			dir = i
		}
	}
	if dir < 0 {
		return fmt.Errorf("%s: unknown direction %q", q.Name, words[1])
	}
	q.Dir = Dir(dir)
	if err := parseKind(&q, words[2]); err != nil {
		return fmt.Errorf("%s: %w", q.Name, err)
	}
	for _, mod := range words[3:] {
		if err := parseModifier(&q, mod); err != nil {
			return fmt.Errorf("%s: %w", q.Name, err)
		}
	}
	p.call.Params = append(p.call.Params, q)
	return nil
}

func parseKind(q *Param, word string) error {
	name, length, bracket := strings.Cut(word, "[")
	kind, ok := KindNamed(name)
	if !ok || !kind.IsParam() {
		return fmt.Errorf("unknown kind %q", name)
	}
	q.Kind = kind
	if q.Dir == DirFree && !kind.IsHandle() && !kind.IsTool() {
		return fmt.Errorf("only handles can be freed, not a %s", kind)
	}
	if !bracket {
		return nil
	}
	length, ok = strings.CutSuffix(length, "]")
	if !ok {
		return fmt.Errorf("missing ] in %q", word)
	}
	outer, inner, nested := strings.Cut(length, ",")
	var err error
	if q.Len, err = parseExpr(outer); err != nil {
		return err
	}
	if nested {
		if q.InnerLen, err = parseExpr(inner); err != nil {
			return err
		}
	}
	// The length of a single output string is its capacity, so the string is no array.
	q.Array = !(kind == KindString && q.Dir != DirIn && !nested)
	return nil
}

func parseModifier(q *Param, word string) error {
	name, arg, _ := strings.Cut(word, "(")
	arg, _ = strings.CutSuffix(arg, ")")
	switch {
	case word == "only-root":
		q.OnlyRoot = true
	case word == "large-only":
		q.LargeOnly = true
	case word == "inplace":
		q.BufferContent.AbsentIfInPlace = true
	case word == "varies":
		q.VariesByDeclaration = true
	case name == "data" || name == "memory":
		e, err := parseExpr(arg)
		q.content, q.BufferContent.Transferred = e, name == "data"
		return err
	case name == "written":
		e, err := parseExpr(arg)
		q.WrittenLen = e
		return err
	case name == "at" && isName(arg):
		q.BufferContent.Displs = arg
	case name == "if" && isName(arg):
		q.ValidIfNonZero = arg
	case name == "unless-inplace" && isName(arg):
		q.IgnoredIfInPlace = arg
	default:
		return fmt.Errorf("unknown modifier %q", word)
	}
	return nil
}

func (p *callParser) finish() error {
	if err := p.finishCall(); err != nil {
		return err
	}
	t := p.table
	if len(t.list) == 0 {
		return fmt.Errorf("no calls")
	}
	sort.Slice(t.list, func(i, j int) bool { return t.list[i].ID < t.list[j].ID })
	for _, c := range t.list {
		if c.Large {
			continue
		}
		if err := splitLargeOnly(c); err != nil {
			return fmt.Errorf("%s (line %d): %w", c.Name, p.at[int(c.ID)], err)
		}
	}
	return nil
}

// finishCall checks the current call for what depends on several of its parameters.
func (p *callParser) finishCall() error {
	c := p.call
	if c == nil || c.Large {
		return nil
	}
	for i := range c.Params {
		q := &c.Params[i]
		if err := checkParam(c, q); err != nil {
			return fmt.Errorf("%s (line %d): %s: %w", c.Name, p.at[int(c.ID)], q.Name, err)
		}
	}
	return nil
}

func checkParam(c *Call, q *Param) error {
	if err := newContent(c, q); err != nil {
		return err
	}
	if q.ValidIfNonZero != "" {
		if i := c.Index(q.ValidIfNonZero); i < 0 || !c.Params[i].HasLeavePart() {
			return fmt.Errorf("if(%s) names no output", q.ValidIfNonZero)
		}
	}
	if q.IgnoredIfInPlace != "" {
		if i := c.Index(q.IgnoredIfInPlace); i < 0 || c.Params[i].Kind != KindBuffer {
			return fmt.Errorf("unless-inplace(%s) names no buffer", q.IgnoredIfInPlace)
		}
	}
	if q.Kind == KindString && q.Dir != DirIn && q.Len == nil {
		return fmt.Errorf("an output string needs a capacity")
	}
	var bad error
	if q.WrittenLen != nil && (!q.Array || q.Dir != DirOut) {
		return fmt.Errorf("written(%s), but this is no array that comes out", q.WrittenLen)
	}
	check := func(e Expr) {
		name := ""
		switch e := e.(type) {
		case ParamExpr:
			name = string(e)
		case *PropertyExpr:
			name = e.Param
		default:
			return
		}
		i := c.Index(name)
		if i < 0 {
			bad = fmt.Errorf("length names no parameter %q", name)
			return
		}
		r := &c.Params[i]
		of, isOf := e.(*PropertyExpr)
		switch {
		case !isOf && (r.Array || r.Kind.ValueForm() != ValueFormInt && r.Kind != KindArgc):
			bad = fmt.Errorf("length %s is no integer", name)
		case isOf && of.Property.IsOfArray() && !r.Array:
			bad = fmt.Errorf("length %s: %s is no array", e, name)
		case isOf && !of.Property.IsOfArray() && (r.Array || r.Kind != of.Property.of()):
			bad = fmt.Errorf("length %s: %s is no %s", e, name, of.Property.of())
		case isOf && of.Rank != "" && (c.Index(of.Rank) < 0 || c.Params[c.Index(of.Rank)].Kind != KindRank):
			bad = fmt.Errorf("length %s: %s is no rank", e, of.Rank)
		}
	}
	WalkExpr(q.Len, check)
	WalkExpr(q.InnerLen, check)
	WalkExpr(q.WrittenLen, check)
	return bad
}

// splitLargeOnly removes the parameters that only the large form has from the small form.
func splitLargeOnly(small *Call) error {
	keep := make([]Param, 0, len(small.Params))
	for _, q := range small.Params {
		switch {
		case !q.LargeOnly:
			keep = append(keep, q)
		case small.LargeForm == nil:
			return fmt.Errorf("%s: large-only, but there is no large form", q.Name)
		}
	}
	small.Params = keep
	return nil
}
