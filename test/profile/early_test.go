package profile

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// traceEarly traces early.c on two ranks: its first calls come from constructors, which the loader and the C library call.
func traceEarly(t *testing.T, m *mpis.MPI, flags ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	source := filepath.Join("testdata", "early.c")
	lib := filepath.Join(dir, "libearly.so")
	if err := m.Compile(lib, source, "-DLIBRARY", "-shared", "-fPIC"); err != nil {
		t.Fatal(err)
	}
	flags = append(flags, "-Wl,--no-as-needed,-rpath,$ORIGIN", lib)
	if err := m.Compile(filepath.Join(dir, "app"), source, flags...); err != nil {
		t.Fatal(err)
	}
	spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", "app.spoor"}, m.Command(2, "./app"))...)
	return dir
}

// What main calls is in main, whatever was called before it.
func TestRootAfterConstructors(t *testing.T) {
	for _, m := range mpis.Need(t) {
		for _, flag := range []string{"-DINMAIN", "-DINIT"} {
			t.Run(m.Name+" "+flag, func(t *testing.T) {
				dir := traceEarly(t, m, flag)
				var list []struct{ Threads []struct{ Body []*shapeNode } }
				text := spoor(t, dir, "calltree", "--json", "app.spoor")
				if err := json.Unmarshal([]byte(text), &list); err != nil {
					t.Fatal(err)
				}
				var roots []string
				for _, n := range list[0].Threads[0].Body {
					if n.Kind == "function" {
						roots = append(roots, n.Function)
					}
				}
				if !slices.Contains(roots, "main") || !slices.Contains(roots, "of_program") || slices.Contains(roots, "_start") {
					t.Errorf("the outermost functions are %q\n%s", roots, spoor(t, dir, "calltree", "app.spoor"))
				}
			})
		}
	}
}

var alike = regexp.MustCompile(`early\.c:(\d+)( \+0x[0-9a-f]+)?`)

// Addresses of one line are one call site. Where they are told apart those that would print the same show their offsets; others don't.
func TestSitesThatPrintAlike(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := traceEarly(t, m)
			for _, c := range []struct {
				line string // of the verb
				want string // lines of early.c, those with offsets as often as there are different ones
			}{
				{"dump --sites --rank 0", "24 25+ 25+"},
				{"profile --top 0", "24 25"}, // a line is one call site
				{"efficiency --all-calls --top 0", "24 25"},
				{"profile --sites --top 0", "24 25+ 25+"},
				{"efficiency --sites --all-calls --top 0", "24 25+ 25+"},
				{"calltree --min-time 0", "24 25+ 25+ 34+ 34+"},
			} {
				seen := make(map[string]bool)
				out := spoor(t, dir, append(strings.Fields(c.line), "app.spoor")...)
				for line := range strings.Lines(out) {
					if m := alike.FindStringSubmatch(line); m != nil && (strings.Contains(line, "MPI_Barrier") || strings.Contains(line, "twice()")) {
						seen[m[1]+m[2]] = true
					}
				}
				var got []string
				for x := range seen {
					number, _, offset := strings.Cut(x, " ")
					if offset {
						number += "+"
					}
					got = append(got, number)
				}
				slices.Sort(got)
				if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
					t.Errorf("spoor %s: %s\n%s", c.line, d, out)
				}
			}
		})
	}
}
