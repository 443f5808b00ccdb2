package proxy

import (
	"os"
	"slices"
	"testing"

	"spoor/internal/inspect"
	"spoor/internal/proxy"
	"spoor/internal/reissue"
)

// TestOtherMPI runs proxies of traces that were made under the other MPI. What
// an MPI answers differs there; the calls must be possible and end. Programs whose
// answers don't matter must be equal. SPOOR_TEST_PROXY=other takes all programs.
func TestOtherMPI(t *testing.T) {
	list := installed(t)
	if len(list) < 2 {
		skip(t, "only one MPI is installed")
	}
	names := []string{"collectives.c", "datatypes.c", "vectors.c"}
	var total count
	t.Run("programs", func(t *testing.T) {
		for _, p := range programs(t) {
			if !slices.Contains(names, p.name) && os.Getenv("SPOOR_TEST_PROXY") != "other" {
				continue
			}
			for i, m := range list[:2] {
				other := list[1-i]
				pair := m.Name + " to " + other.Name
				if !slices.Contains(p.mpis, m.Name) || !slices.Contains(p.ranks, "2") || known(pair, p.name, "2") {
					continue
				}
				t.Run(p.name+"/"+m.Name+"-"+other.Name, func(t *testing.T) {
					t.Parallel()
					slots <- struct{}{}
					defer func() { <-slots }()
					if late() {
						t.Skip("the time is up")
					}
					has, err := inspect.FunctionsOf(other.Name)
					if err != nil || has == nil {
						t.Fatalf("functions of %s: %v", other.Name, err)
					}
					dir := t.TempDir()
					a := traced(t, &m, dir, "a.spoor", "2", append([]string{build(t, &m, &p, dir)}, p.args...)...)
					target := reissue.Target{Flavour: other.Name, Has: func(name string) bool { return has[name] }}
					got, why := proxied(t, &other, a, "2", proxy.Options{Target: target})
					total.add(got)
					note(t, pair, p.name, "2", got, why)
					if slices.Contains(names, p.name) && got != equal && got != anyOrder {
						t.Errorf("%s\n%s", got, why)
					}
				})
			}
		}
	})
	t.Logf("%v", total.of)
}
