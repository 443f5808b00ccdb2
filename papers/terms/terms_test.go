package terms

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A document's braces, brackets and dollars are in pairs, and nothing in it is
// special to TeX by accident.
func TestLaTeX(t *testing.T) {
	p, err := profile.RankProfile(mergetest.Run(t, 4, tracktest.Stencil(10)), 0, calltree.Options{Locate: func(string, trace.Site) symbolise.Place {
		return symbolise.Place{Module: "/opt/a_b#1 %&~^{}$\\π<→", Offset: 17}
	}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	Write(&b, p, LaTeX, profile.View{ExpandedLoopDepth: -1})
	text := strings.NewReplacer(`\{`, "", `\}`, "", `\$`, "", `\_`, "", `\%`, "", `\&`, "", `\#`, "", `\^`, "", `\~`, "").Replace(b.String())
	depth, math := 0, false
	for i, c := range text {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == '$':
			math = !math
		case (c == '_' || c == '^') && !math, c == '#', c == '&', c == '%', c == '~', c > 126:
			t.Errorf("%q in %q", c, text[max(0, i-20):min(len(text), i+20)])
		}
		if depth < 0 {
			t.Fatalf("unbalanced at %q", text[max(0, i-20):i+1])
		}
	}
	if depth != 0 || math {
		t.Errorf("unbalanced: %d, math %v", depth, math)
	}
	for _, want := range []string{`\mathrm{Irecv}_{2}`, `)[\mathrm{10}]`, `\end{document}`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
}
