package proxy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A call that is another in each round of a loop, such as a wait for two requests more
// each time, is one line if all that differs are numbers that go up or down by a step.

// A template is the text of a line without its numbers.
type template struct {
	text    string // what is left, a mark for each number
	numbers []int64
}

const (
	gapMark    = "\x01"
	numberMark = "\x02"
)

var literals = regexp.MustCompile(`[\w.]*\w`)

// template takes a line apart.
func (l *line) template() *template {
	if l.apart != nil {
		return l.apart
	}
	l.apart = &template{}
	text := l.text(gapMark)
	if !strings.ContainsAny(text, "\"'") { // or numbers may be in texts
		text = literals.ReplaceAllStringFunc(text, func(word string) string {
			n, err := strconv.ParseInt(word, 10, 32)
			if err != nil || strconv.FormatInt(n, 10) != word {
				return word
			}
			l.apart.numbers = append(l.apart.numbers, n)
			return numberMark
		})
	}
	l.apart.text = text
	return l.apart
}

// inRounds returns the line for rounds that begin with l and go on with next, of which
// the template is the same.
func (g *generator) inRounds(l, next *line) *line {
	t, u := l.template(), next.template()
	if slices.Equal(t.numbers, u.numbers) {
		return l
	}
	parts := strings.Split(t.text, numberMark)
	text := parts[0]
	for i, n := range t.numbers {
		e := strconv.FormatInt(n, 10)
		if more := u.numbers[i] - n; more != 0 {
			if e += plus(more); !alone(parts[i], parts[i+1]) {
				e = "(" + e + ")"
			}
		}
		text += e + parts[i+1]
	}
	out := &line{site: l.site, skip: l.skip, text: func(gap string) string { return strings.ReplaceAll(text, gapMark, gap) }}
	return g.shared(out)
}

// alone reports whether what stands between two texts is an argument.
func alone(before, behind string) bool {
	before = strings.TrimRight(before, " ")
	return before != "" && behind != "" && strings.ContainsRune("(,{", rune(before[len(before)-1])) && strings.ContainsRune("),}", rune(behind[0]))
}

// shared returns the line that says the same as l, l itself if it's the first.
func (g *generator) shared(l *line) *line {
	key := l.text("") + l.site
	if old := g.lines[key]; old != nil {
		return old
	}
	l.order = len(g.lines)
	g.lines[key] = l
	return l
}

// goesOn reports whether the numbers of c come after those of b as these after those of a.
func goesOn(a, b, c *line) bool {
	x, y, z := a.template().numbers, b.template().numbers, c.template().numbers
	for i := range x {
		if z[i]-y[i] != y[i]-x[i] {
			return false
		}
	}
	return true
}
