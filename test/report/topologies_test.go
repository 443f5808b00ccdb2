package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/report"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// The page draws the topologies that a program made: grids by coordinates, graphs as nodes and edges.
func TestTopologies(t *testing.T) {
	const ranks = 9
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			program, file := filepath.Join(dir, "topologies"), filepath.Join(dir, "t.spoor")
			if err := m.Compile(program, filepath.Join("testdata", "topologies.c")); err != nil {
				t.Fatal(err)
			}
			line := append([]string{mpis.NeedSpoor(t), "run", "-o", file}, m.Command(ranks, program)...)
			if r := (mpis.Job{MPI: m, Dir: dir, Temp: t.TempDir()}).Run(line...); r.Err != nil {
				t.Fatal(r)
			}
			r, err := trace.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			d, err := report.CollectData(r, report.Options{SiteNaming: sites.NamingByAddress(func(string, trace.Site) symbolise.Place { return symbolise.Place{} })})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(made(ranks, 3), d.Topologies); diff != "" {
				t.Fatal(diff)
			}
			drawn(t, d)
		})
	}
}

// made is what the program makes, on a square number of ranks.
func made(ranks, side int) []report.Topology {
	all := make([]int, ranks)
	var mesh, star [][2]int
	for a := range ranks {
		all[a] = a
		for b := range ranks {
			down, right := b/side-a/side, b%side-a%side
			if a != b && down*down <= 1 && right*right <= 1 && down*right <= 0 {
				mesh = append(mesh, [2]int{a, b})
			}
			if a != b && (a == 0 || b == 0) {
				star = append(star, [2]int{a, b})
			}
		}
	}
	return []report.Topology{
		{Name: "MPI_Cart_create", Dims: []int{side, side}, Periodic: []bool{true, false}, WorldRanks: all},
		{Name: "MPI_Dist_graph_create_adjacent", WorldRanks: all, Edges: mesh},
		{Name: "spokes", WorldRanks: all, Edges: star},
	}
}

func drawn(t *testing.T, d *report.Data) {
	var b strings.Builder
	if err := report.WritePage(&b, d); err != nil {
		t.Fatal(err)
	}
	p := open(t, 1280, 900, false)
	p.load(written(t, []byte(b.String())))
	choose := func(n int) string {
		return p.eval(fmt.Sprintf(`(() => { const s = document.querySelector("#topologies"); s.selectedIndex = %d; s.dispatchEvent(new Event("change")); return document.querySelector("#topology").getAttribute("aria-label"); })()`, n))
	}
	var pictures []string
	for n, want := range []string{"3 × 3 ranks by their place in the grid", "9 ranks and 32 edges of the graph between them", "9 ranks and 16 edges of the graph between them"} {
		if got := choose(n); !strings.HasPrefix(got, want) {
			t.Errorf("topology %d is called %q", n, got)
		}
		pictures = append(pictures, p.eval(`document.querySelector("#topology").toDataURL()`))
	}
	if slices.Sort(pictures); len(slices.Compact(pictures)) != 3 {
		t.Error("topologies that differ look alike")
	}
	// By keys from rank to rank, each of which is told.
	p.eval(`document.querySelector("#topology").focus()`)
	for _, want := range []string{"rank 0", "rank 1"} {
		p.key("ArrowRight")
		if got := p.eval(`document.querySelector("#tip").textContent`); !strings.HasPrefix(got, want) {
			t.Errorf("told %q, not of %s", got, want)
		}
	}
	if list := p.complaints(); len(list) > 0 {
		t.Error(list)
	}
}
