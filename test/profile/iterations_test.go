package profile

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// TestIterationsOfBranches: the tree, its JSON and the page say in which iterations a way is gone that is gone every few, and of functions
// that are called in it, too.
func TestIterationsOfBranches(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := traceWith(t, m, "iterations.c", nil, "-g", "-O0")
			want := []string{
				"either (10 of 40 iterations: 0, 4 … 36)", "or (30 of 40 iterations)",
				"either (20 of 60 iterations)", "or (10 of 60 iterations: 0, 6 … 54)", "or (20 of 60 iterations)", "or (10 of 60 iterations: 3, 9 … 57)",
				"if (5 of 20 iterations: 15–19)", "if (10 of 20 iterations: 0, 2 … 18)",
			}
			way := regexp.MustCompile(`(?:either|or|if) \(\d+ of .*\)`)
			spoor(t, dir, "report", "-o", "page.html", "app.spoor")
			page := pageData(t, dir+"/page.html")
			spoor(t, dir, "db", "add", "--database", "runs.db", "app.spoor")
			for _, args := range [][]string{{"calltree", "app.spoor"}, {"db", "calltree", "--database", "runs.db", "1"}} {
				if got := way.FindAllString(spoor(t, dir, append(args, "--min-time", "0")...), -1); !slices.Equal(got, want) {
					t.Errorf("%q has %q, not %q", args, got, want)
				}
			}
			for _, w := range want {
				if !strings.Contains(page, `"f":"`+w+`"`) {
					t.Errorf("the page has no %q", w)
				}
			}
			json := strings.Join(strings.Fields(spoor(t, dir, "calltree", "--json", "app.spoor")), "")
			if x := `"iterations":{"first":0,"last":36,"stride":4,"count":10}`; !strings.Contains(json, x) {
				t.Errorf("the JSON has no %s", x)
			}
		})
	}
}
