package profile

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/show"
)

// fit returns a row's text, shortened to width characters. It shortens the names of the functions in the row's chain
// first.
func (x *row) fit(names *show.NameShortener, width int) string {
	if text := x.whole(); utf8.RuneCountInString(text) <= width || len(x.chain) == 0 {
		return cut(text, width)
	}
	const least = 16 // characters that remain for the text after the functions
	room := width - min(least, utf8.RuneCountInString(x.after))
	// All names of a chain are shortened equally, except that the last one, the function that calls, keeps more. If
	// that doesn't suffice, functions without a name are left out, then the outer ones.
	fits := func(chain []string) (text string, ok bool) {
		most := 0
		for _, f := range chain {
			most = max(most, len(names.ShorterForms(f)))
		}
		short := make([]string, len(chain))
		innermost := len(chain) - 1
		if innermost > 0 && chain[innermost] == "…" {
			innermost--
		}
		for last := range most {
			for others := last; others < most; others++ {
				for i, f := range chain {
					k := others
					if i == innermost {
						k = last
					}
					forms := names.ShorterForms(f)
					short[i] = forms[min(k, len(forms)-1)]
				}
				if text = x.text + chained(short); utf8.RuneCountInString(text) <= room {
					return text, true
				}
			}
		}
		return text, false
	}
	named := withNames(x.chain)
	chains := [][]string{x.chain, named}
	for from := 1; from < len(named); from++ {
		if rest := named[from:]; rest[0] != "…" && !slices.Equal(rest, []string{"…"}) {
			if from > 1 {
				chains = append(chains, slices.Concat(named[:1], []string{"…"}, rest))
			}
			chains = append(chains, slices.Concat([]string{"…"}, rest))
		}
	}
	if n := len(named); n > 1 && named[n-1] == "…" {
		chains = append(chains, named[n-2:n-1])
	} else {
		chains = append(chains, named[n-1:])
	}
	text, ok := "", false
	for i := 0; i < len(chains) && !ok; i++ {
		text, ok = fits(chains[i])
	}
	if ok {
		return cut(text+x.after, width)
	}
	return text
}

// withNames replaces consecutive functions without a name by "…". If no function of the chain has a name, it keeps the
// last one.
func withNames(chain []string) []string {
	var out []string
	for _, f := range chain {
		if strings.HasPrefix(f, "fn@0x") {
			f = "…"
		}
		if len(out) == 0 || f != "…" || out[len(out)-1] != "…" {
			out = append(out, f)
		}
	}
	if slices.Equal(out, []string{"…"}) {
		return slices.Concat(out, chain[len(chain)-1:])
	}
	return out
}

// chained writes a chain of functions, each of which calls the next: a() > b() > c().
func chained(functions []string) string {
	var b strings.Builder
	for i, f := range functions {
		if i > 0 {
			b.WriteString(" > ")
		}
		if b.WriteString(f); f != "…" && f != symbolise.InterpretedFrameName && !strings.HasPrefix(f, symbolise.PythonImportPrefix) {
			b.WriteString("()")
		}
	}
	return b.String()
}
