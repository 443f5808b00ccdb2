package profile

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/calltree"
)

// An import is one row unless something in it takes a hundredth of the run, or all rows are asked for.
func TestImportsInOneRow(t *testing.T) {
	call := func(ns float64) *calltree.Node {
		return &calltree.Node{Kind: "call", SiteNumber: 1, Entries: 1, Rounds: 1, LeastRounds: 1, MostRounds: 1, Sums: calltree.Sums{Calls: 1, MPINs: ns}}
	}
	imported := func(name string, ns float64) *calltree.Node {
		return &calltree.Node{Kind: "function", Function: name, CallerPlace: "main.py:3", Sums: calltree.Sums{Calls: 2, MPINs: 2 * ns}, Body: []*calltree.Node{call(ns), call(ns)}}
	}
	body := []*calltree.Node{imported("import small", 1000), imported("import large", 20000), imported("step", 1000), call(1e6)}
	p := &Profile{&calltree.Tree{TimesKind: "mean", Sites: []calltree.Site{{Function: "MPI_Barrier", Text: "main.py:9"}}, Threads: []calltree.Thread{{Body: body}}}}
	for least, want := range map[float64][]string{
		-1: {"import small: … MPI_Barrier main.py:3", "import large main.py:3", "MPI_Barrier main.py:9", "MPI_Barrier main.py:9", "step() main.py:3",
			"MPI_Barrier main.py:9", "MPI_Barrier main.py:9", "MPI_Barrier main.py:9"},
		0: {"import small main.py:3", "MPI_Barrier main.py:9", "MPI_Barrier main.py:9", "import large main.py:3", "MPI_Barrier main.py:9", "MPI_Barrier main.py:9",
			"step() main.py:3", "MPI_Barrier main.py:9", "MPI_Barrier main.py:9", "MPI_Barrier main.py:9"},
	} {
		var b strings.Builder
		p.lines(&b, "title", body, 1e6+44000, View{Width: 100, MinTimeNs: least, ExpandedLoopDepth: -1})
		var got []string
		for line := range strings.Lines(b.String()) {
			words := strings.Fields(line)
			for i, w := range words {
				if w == "import" || w == "MPI_Barrier" || w == "step()" {
					got = append(got, strings.Join(words[i:], " "))
					break
				}
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("from %v ns on, the rows are\n%s", least, b.String())
		}
	}
}
