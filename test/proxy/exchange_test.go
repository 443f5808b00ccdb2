package proxy

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// TestExchanges: programs that poll while they send and receive are one loop, on any number of ranks, that sends the same messages.
func TestExchanges(t *testing.T) {
	for _, m := range installed(t) {
		search, arrivals := filepath.Join(t.TempDir(), "search"), filepath.Join(t.TempDir(), "arrivals")
		for binary, source := range map[string]string{search: "testdata/search.c", arrivals: "testdata/arrivals.c"} {
			if err := m.Compile(binary, source); err != nil {
				t.Fatal(err)
			}
		}
		lines := make(map[string]int) // those that aren't in tables
		for _, x := range []struct {
			name    string
			ranks   []int
			command []string
		}{
			{"search", []int{4, 8, 16}, []string{search, "10", "6"}},
			{"iprobe", []int{4, 8, 16}, []string{arrivals, "iprobe", "20"}},
			{"probe", []int{4}, []string{arrivals, "probe", "20"}},
			{"test", []int{4}, []string{arrivals, "test", "20"}},
			{"testany", []int{4}, []string{arrivals, "testany", "20"}},
			{"waitany", []int{4, 8, 16}, []string{arrivals, "waitany", "40"}},
			{"pool", []int{4, 8, 16}, []string{arrivals, "pool", "20"}},
			{"testsome", []int{4, 8, 16}, []string{arrivals, "testsome", "20"}},
		} {
			for _, ranks := range x.ranks {
				if ranks > 4 && m.Family == "mpich" {
					continue // it spins, on more ranks than processors
				}
				t.Run(fmt.Sprint(m.Name, " ", x.name, ranks), func(t *testing.T) {
					a := traced(t, m, t.TempDir(), "a.spoor", ranks, x.command...)
					p, err := proxy.GenerateProgram(a, proxy.Options{Code: code(t, a)})
					if err != nil {
						t.Fatal(err)
					}
					text := string(p.Files["proxy.c"])
					n := strings.Count(table.ReplaceAllString(text, ""), "\n")
					if p.RankVariants != 1 || n > 120 || p.Lines > 2000 || lines[x.name] > 0 && n > lines[x.name]+8 || strings.Contains(text, "EXCHANGE(") == (x.name == "waitany") {
						t.Fatalf("%d programs of %d lines, %d beside tables, on fewer ranks %d", p.RankVariants, p.Lines, n, lines[x.name])
					}
					lines[x.name] = max(lines[x.name], n)
					dir := t.TempDir()
					if err := p.Write(dir); err != nil {
						t.Fatal(err)
					}
					b := traced(t, m, dir, "b.spoor", ranks, compiled(t, m, dir))
					for rank := range ranks {
						want, got := traffic(t, a, rank), traffic(t, b, rank)
						if len(want["MPI_Isend"]) == 0 {
							t.Errorf("rank %d sends nothing", rank)
						}
						for f := range want {
							if !slices.Equal(want[f], got[f]) {
								t.Errorf("rank %d: %s: %d calls, want %d, or others:\n%.300q\n%.300q", rank, f, len(got[f]), len(want[f]), got[f], want[f])
							}
						}
						if len(want) != len(got) {
							t.Errorf("rank %d calls %d functions, want %d", rank, len(got), len(want))
						}
					}
				})
			}
		}
	}
}

var table = regexp.MustCompile(`(?m)^static const [^\n]*\btable\d+\[\] = \{[^}]*\};\n`)

// traffic lists the calls of a rank by function, in order, by what goes in; those that receive what came first in any order, and those
// that test not at all.
func traffic(t *testing.T, r *trace.Reader, rank int) map[string][]string {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[string][]string)
	for c, err := range k.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		def, _ := mpi.CallByID(c.Func.ID)
		is := meaning.WaitBehaviourOf(def)
		if is.Completes || is.Probes {
			continue
		}
		text := ""
		for i := range c.Params {
			if v := c.Params[i].In; v.Type == trace.TypeInt || v.Type == trace.TypeHandle {
				text += fmt.Sprint(" ", v.Num)
			}
		}
		list[c.Name()] = append(list[c.Name()], text)
	}
	slices.Sort(list["MPI_Recv"])
	return list
}
