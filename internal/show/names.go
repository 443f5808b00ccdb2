package show

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/once"
	"unicode"
)

// NameShortener shortens the names of functions that are shown together. It first removes template arguments, then
// namespaces, never the function's own name. Arguments in which two of the names differ stay as long as there is
// room.
type NameShortener struct {
	list  []string
	known map[string]*shortened
	alike map[string][]*name // by name without arguments: the names that differ in arguments only
}

// A shortened is the forms that a name is shortened to, longest first. scoped is the one with the fewest arguments
// but all scopes.
type shortened struct {
	forms  []string
	scoped string
}

// NewNameShortener returns a shortener for names that are shown together. It analyses them when the first name does not
// fit.
func NewNameShortener(list []string) *NameShortener {
	return &NameShortener{list: list, known: make(map[string]*shortened)}
}

// FitWidth returns the longest form of the name text with at most width columns, else the shortest form.
func (n *NameShortener) FitWidth(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	forms := n.ShorterForms(text)
	for _, form := range forms {
		if utf8.RuneCountInString(form) <= width {
			return form
		}
	}
	return forms[len(forms)-1]
}

// ShorterForms returns the forms that the name text is shortened to, longest first.
func (n *NameShortener) ShorterForms(text string) []string {
	return n.of(text).forms
}

func (n *NameShortener) of(text string) *shortened {
	return once.GetOrMake(n.known, text, func() *shortened { return n.shortened(text) })
}

func (n *NameShortener) shortened(text string) *shortened {
	x := parseName(text)
	s := &shortened{forms: []string{text}, scoped: text}
	add := func(form string) {
		if utf8.RuneCountInString(form) < utf8.RuneCountInString(s.forms[len(s.forms)-1]) {
			s.forms = append(s.forms, form)
		}
	}
	add(x.toDepth(x.depth())) // the whole name without blanks next to brackets
	if len(x.scopes) == 1 && x.lists() == 0 {
		return s
	}
	n.group()
	first, last := 0, len(x.scopes)-1
	none := func(int) (text string, ok bool) { return "", false }
	short, least := none, none
	if group := n.alike[x.skeleton(0)]; len(group) < 2 {
		for depth := x.depth() - 1; depth > 0; depth-- {
			add(x.toDepth(depth))
		}
	} else {
		for chain := allLevels; chain >= onlyDifference; chain-- {
			c := tell(x, group, chain)
			short, first = c.list(x), c.first
			add(x.render(0, short))
		}
		least, first = tell(x, group, leastDifference).list(x), min(first, last)
	}
	// The arguments that still remain stay as long as namespaces can be removed instead, from the outermost one on.
	add(x.render(0, short))
	s.scoped = s.forms[len(s.forms)-1]
	if first == 0 {
		first = last
	}
	for from := 1; from <= first; from++ {
		add(x.render(from, short))
	}
	add(x.render(first, least))
	for from := range last + 1 {
		if from >= first || from == last {
			add(x.render(from, none))
		}
	}
	add(x.render(last, func(int) (string, bool) { return "", true }))
	add(strings.TrimPrefix(s.forms[len(s.forms)-1], "…"))
	return s
}

// group fills alike: it groups the names that are equal without their arguments.
func (n *NameShortener) group() {
	if n.alike != nil {
		return
	}
	n.alike = make(map[string][]*name)
	seen := make(map[string]bool)
	for _, text := range n.list {
		if seen[text] {
			continue
		}
		seen[text] = true
		x := parseName(text)
		if key := x.skeleton(0); x.lists() > 0 {
			n.alike[key] = append(n.alike[key], x)
		}
	}
}

// A name is a parsed name of a function or type. It consists of scopes (namespaces, classes, the function), each of
// words and lists in brackets. Lists are numbered from 0 over all scopes.
type name struct {
	text   string
	scopes [][]scopePart
}

// A scopePart is a word of a scope, or a list of template arguments or parameters.
type scopePart struct {
	word string
	list []*name
	open byte // opening bracket of a list, < or (; 0 for a word
}

// longStrings matches the names under which compilers write std::string.
var longStrings = regexp.MustCompile(`std::(__cxx11::)?basic_string<char, std::char_traits<char>, std::allocator<char> ?>`)

func parseName(text string) *name {
	p := nameParser{text: longStrings.ReplaceAllString(text, "std::string")}
	var x *name
	if p.tooDeep = len(text) > longest; !p.tooDeep {
		x = p.name(0)
	}
	if p.tooDeep {
		return &name{p.text, [][]scopePart{{{word: p.text}}}}
	}
	return x
}

// Names with more than longest bytes, or with deeper nested lists than deepest, are not taken apart.
const (
	longest = 1 << 14
	deepest = 64 // levels of lists within lists
)

type nameParser struct {
	text    string
	at      int
	depth   int
	tooDeep bool
}

// operators are C++ operators that contain brackets, commas or angle brackets.
var operators = []string{"()", "[]", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<", ">", ","}

// name parses a name. In a list, whose opening bracket is open, it ends with the list's element. With open 0 it ends
// with the text.
func (p *nameParser) name(open byte) *name {
	x := &name{scopes: [][]scopePart{nil}}
	from, word := p.at, p.at
	converts := false // the rest of the scope is the type of a conversion operator
	scope := func() *[]scopePart { return &x.scopes[len(x.scopes)-1] }
	flush := func() {
		if p.at > word {
			*scope() = append(*scope(), scopePart{word: p.text[word:p.at]})
		}
	}
	end := func() *name {
		flush()
		if l := *scope(); open != 0 && len(l) > 0 { // a blank before the closing bracket, as in a<b<c> >
			l[len(l)-1].word = strings.TrimRight(l[len(l)-1].word, " ")
		}
		x.text = strings.TrimRight(p.text[from:p.at], " ")
		return x
	}
	braces := 0
	for p.at < len(p.text) {
		c := p.text[p.at]
		rest := p.text[p.at:]
		identifier := p.at > from && inIdentifier(p.text[p.at-1])
		switch {
		case !identifier && strings.HasPrefix(rest, "operator") && (len(rest) == 8 || !inIdentifier(rest[8])):
			p.at += 8
			for _, symbol := range operators {
				if strings.HasPrefix(p.text[p.at:], symbol) {
					p.at += len(symbol)
					break
				}
			}
			if strings.HasPrefix(p.text[p.at:], " <") {
				p.at++ // the blank in operator<< <T>
			} else if converts = strings.HasPrefix(p.text[p.at:], " "); converts {
				p.at++
			}
			if p.at < len(p.text) && p.text[p.at] == '<' {
				flush()
				p.list(scope())
				word = p.at
			}
		case c == '{', c == '(' && (p.at == word || p.text[p.at-1] == '.') && (p.at == 0 || p.text[p.at-1] != ' ' && p.text[p.at-1] != '>' && p.text[p.at-1] != ')'):
			braces++ // bracket of a lambda, of a namespace without a name, of a cast, or of a method of Go
			p.at++
		case (c == '}' || c == ')') && braces > 0:
			braces--
			p.at++
		case c == '<' && (identifier || p.at > from && p.text[p.at-1] == ']'), c == '(':
			flush()
			p.list(scope())
			word = p.at
		case (open == '<' && c == '>' || open == '(' && c == ')') && p.text[max(0, p.at-1)] != '-', open != 0 && c == ',' && braces == 0:
			return end()
		case strings.HasPrefix(rest, "::") && braces == 0 && !converts:
			flush()
			if p.at += 2; len(x.scopes) > 1 || len(*scope()) > 0 {
				x.scopes = append(x.scopes, nil)
			}
			word = p.at
		default:
			p.at++
		}
	}
	return end()
}

// list parses a list in brackets and adds it to scope. If the name was cut off, the closing bracket may be missing.
func (p *nameParser) list(scope *[]scopePart) {
	l := scopePart{open: p.text[p.at]}
	p.depth++
	p.tooDeep = p.tooDeep || p.depth > deepest
	for more := true; more && p.at+1 < len(p.text) && !p.tooDeep; {
		p.at++
		p.at += len(p.text[p.at:]) - len(strings.TrimLeft(p.text[p.at:], " "))
		l.list = append(l.list, p.name(l.open))
		more = p.at < len(p.text) && p.text[p.at] == ','
	}
	p.at = min(p.at+1, len(p.text))
	p.depth--
	*scope = append(*scope, l)
}

func inIdentifier(c byte) bool {
	return c == '_' || c >= 0x80 || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
}

// lists returns the number of lists in brackets in a name, without nested ones.
func (x *name) lists() (n int) {
	for _, scope := range x.scopes {
		for _, p := range scope {
			if p.open != 0 {
				n++
			}
		}
	}
	return n
}

// arguments returns the elements of one of the name's lists, by the list's number from 0.
func (x *name) arguments(list int) []*name {
	for _, scope := range x.scopes {
		for _, p := range scope {
			if p.open != 0 {
				if list == 0 {
					return p.list
				}
				list--
			}
		}
	}
	return nil
}

// depth returns how deep the name's lists nest: 0 without lists, 1 if none contains another.
func (x *name) depth() (most int) {
	for k := range x.lists() {
		most = max(most, 1)
		for _, a := range x.arguments(k) {
			most = max(most, 1+a.depth())
		}
	}
	return most
}

// render returns the name from the scope with index from on. list returns the text of a list, with its brackets, by
// the list's number; ok is false for a list to be left out.
func (x *name) render(from int, list func(k int) (text string, ok bool)) string {
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	k, out := 0, false // number of the next list, and whether the list before it was left out
	for i, scope := range x.scopes {
		if i > from {
			b.WriteString("::")
		}
		var before scopePart
		for _, p := range scope {
			text := p.word
			if p.open != 0 {
				var ok bool
				if text, ok = list(k); !ok {
					text = left(p, before)
				}
				k, out = k+1, !ok
			} else if before.open == '(' && out && strings.HasPrefix(text, " const") {
				text = text[len(" const"):]
			}
			if before = p; i >= from {
				b.WriteString(text)
			}
		}
	}
	return b.String()
}

// left returns the text that replaces list p if it is left out. before is the part before it.
func left(p, before scopePart) string {
	switch {
	case len(p.list) == 0:
		return ""
	case p.open == '<':
		return "<…>"
	case strings.HasSuffix(before.word, " "): // parameters in the type of a function
		return "(…)"
	}
	return ""
}

// skeleton returns the name without its lists, from the scope with index from on.
func (x *name) skeleton(from int) string {
	return x.render(from, func(int) (string, bool) { return "", false })
}

// toDepth returns the name without lists that are nested deeper than depth.
func (x *name) toDepth(depth int) string {
	return x.render(0, func(k int) (string, bool) {
		if depth == 0 {
			return "", false
		}
		var texts []string
		for _, a := range x.arguments(k) {
			texts = append(texts, a.toDepth(depth-1))
		}
		return x.brackets(k, strings.Join(texts, ", ")), true
	})
}

// brackets returns a text in the brackets, <> or (), of one of the name's lists, by the list's number.
func (x *name) brackets(list int, text string) string {
	for _, scope := range x.scopes {
		for _, p := range scope {
			if p.open == 0 {
				continue
			}
			if list == 0 && p.open == '<' {
				return "<" + text + ">"
			} else if list == 0 {
				return "(" + text + ")"
			}
			list--
		}
	}
	return text
}

// How much of the enclosing arguments is shown with the arguments in which two names differ, from least to most.
const (
	leastDifference = iota // the innermost argument that differs, even if others differ too
	onlyDifference
	innermostLevel // the argument that differs, with the name that it is an argument of
	allLevels      // the argument that differs, with all names around it
)

// A choice is the arguments that distinguish a name from others: their text by number of the list and index in it.
type choice struct {
	shown map[[2]int]string
	first int  // index of the first scope of the name that has such an argument
	leaf  bool // the arguments themselves differ, not only arguments nested in them
}

// tell finds the arguments that distinguish x from the other names of its group, which have the same skeleton. It
// takes those first that distinguish most names. chain is how much of the enclosing arguments is shown:
// leastDifference or a later constant.
func tell(x *name, group []*name, chain int) choice {
	c := choice{shown: make(map[[2]int]string), first: len(x.scopes), leaf: true}
	text := func(n *name, at [2]int) string {
		if list := n.arguments(at[0]); at[1] < len(list) {
			return list[at[1]].text
		}
		return ""
	}
	for {
		var best [2]int
		most := 1
		for k := range x.lists() {
			longest := 0
			for _, n := range group {
				longest = max(longest, len(n.arguments(k)))
			}
			for i := range longest {
				different := make(map[string]bool)
				for _, n := range group {
					different[text(n, [2]int{k, i})] = true
				}
				if len(different) > most {
					best, most = [2]int{k, i}, len(different)
				}
			}
		}
		if most == 1 {
			return c
		}
		own := text(x, best)
		if list := x.arguments(best[0]); best[1] < len(list) {
			others := make(map[string]*name)
			for _, n := range group {
				if list := n.arguments(best[0]); best[1] < len(list) {
					others[list[best[1]].text] = list[best[1]]
				}
			}
			c.shown[best], c.leaf = argument(list[best[1]], others, chain)
			c.first = min(c.first, x.scopeOf(best[0]))
		}
		group = slices.DeleteFunc(slices.Clone(group), func(n *name) bool { return text(n, best) != own })
	}
}

// argument returns the text of an argument x, shortened to what distinguishes it from the arguments in its place in
// other names. leaf reports that x itself differs, not only an argument nested in it.
func argument(x *name, others map[string]*name, chain int) (text string, leaf bool) {
	var same []*name
	from := len(x.scopes) - 1
	skeleton := x.skeleton(0)
	for _, n := range others {
		if n.skeleton(0) == skeleton {
			same = append(same, n)
			continue
		}
		for from > 0 && n.skeleton(max(0, len(n.scopes)-len(x.scopes)+from)) == x.skeleton(from) {
			from--
		}
	}
	slices.SortFunc(same, func(a, b *name) int { return strings.Compare(a.text, b.text) })
	leaf = len(same) < len(others) || len(same) < 2
	inner := tell(x, same, chain)
	if len(inner.shown) == 1 && (chain == leastDifference || !leaf && (chain == onlyDifference || chain == innermostLevel && !inner.leaf)) {
		for _, text := range inner.shown {
			return "…" + strings.Trim(text, "…") + "…", inner.leaf && chain <= onlyDifference
		}
	}
	return strings.TrimPrefix(x.render(min(from, inner.first), inner.list(x)), "…"), leaf
}

// list returns a function for render. It returns the text of one of x's lists, by the list's number, with only the
// chosen arguments.
func (c choice) list(x *name) func(k int) (string, bool) {
	return func(k int) (string, bool) {
		var texts []string
		any := false
		for i := range x.arguments(k) {
			text, shown := c.shown[[2]int{k, i}]
			if !shown {
				text = "…"
			}
			any = any || shown
			last := len(texts) - 1
			switch {
			case last >= 0 && strings.HasSuffix(texts[last], "…") && text == "…":
			case last >= 0 && texts[last] == "…" && strings.HasPrefix(text, "…"):
				texts[last] = text
			default:
				texts = append(texts, text)
			}
		}
		return x.brackets(k, strings.Join(texts, ", ")), any
	}
}

// scopeOf returns the index of the scope that contains one of the name's lists, by the list's number.
func (x *name) scopeOf(list int) int {
	for i, scope := range x.scopes {
		for _, p := range scope {
			if p.open != 0 {
				if list == 0 {
					return i
				}
				list--
			}
		}
	}
	return len(x.scopes)
}
