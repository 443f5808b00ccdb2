package proxy

import (
	"os"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

// TestOtherMPI runs proxies of traces that were made under the other MPI. What
// an MPI answers differs there; the calls must be possible and end. Programs whose
// answers don't matter must be equal. SPOOR_TEST_PROXY=other takes all programs.
func TestOtherMPI(t *testing.T) {
	list := installed(t)
	if len(list) < 2 {
		need.Absent(t, "only one MPI is installed")
	}
	names := []string{"collectives.c", "datatypes.c", "vectors.c"}
	everything := os.Getenv("SPOOR_TEST_PROXY") == "other"
	var total count
	t.Run("programs", func(t *testing.T) {
		for i, m := range list[:2] {
			other := list[1-i]
			pair := m.Name + " to " + other.Name
			flavour, _ := mpi.FlavourNamed(other.Name)
			has, err := launch.MPIFunctionsOf(flavour)
			if err != nil || has == nil {
				t.Fatalf("functions of %s: %v", other.Name, err)
			}
			// One that is recorded under m.
			across := func(name string, record func(t *testing.T) *trace.Reader) {
				if results.Known(pair, name, 2) {
					return
				}
				t.Run(name+"/"+m.Name+"-"+other.Name, func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					results.InTime(t)
					flavour, _ := mpi.FlavourNamed(other.Name)
					target := reissue.TargetMPI{Flavour: other.Name, HasFunction: func(name string) bool { return has[name] || flavour.HasMacro(name) }}
					got, why := proxied(t, other, record(t), 2, proxy.Options{Target: target})
					total.add(got)
					results.Note(t, pair, name, 2, string(got), why)
					if slices.Contains(names, name) && got != equal && got != anyOrder {
						t.Errorf("%s\n%s", got, why)
					}
				})
			}
			for _, p := range mpis.NeedPrograms(t) {
				if p.RunsOn(m) && slices.Contains(p.Ranks, 2) && (everything || slices.Contains(names, p.Name)) {
					across(p.Name, func(t *testing.T) *trace.Reader {
						dir := t.TempDir()
						return traced(t, m, dir, "a.spoor", 2, append([]string{build(t, m, p, dir)}, p.Args...)...)
					})
				}
			}
			for _, app := range compile.All {
				if everything {
					across(app.Name, func(t *testing.T) *trace.Reader {
						dir := t.TempDir()
						binary, err := app.Build(m, dir)
						if err != nil {
							t.Fatal(err)
						}
						return traced(t, m, dir, "a.spoor", 2, append([]string{binary}, app.Quick...)...)
					})
				}
			}
			for _, x := range realPrograms {
				if everything && m.Family == "openmpi" {
					across(x.name, func(t *testing.T) *trace.Reader { return recordedReal(t, m, 2, x.line) })
				}
			}
		}
	})
	t.Logf("%v", total.of)
}
