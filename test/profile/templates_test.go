package profile

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

// TestTemplates: where names of C++ are too long for a line, template arguments go first, but for what tells functions apart that are
// alike, then namespaces, and never the function's own name. JSON has the whole name.
func TestTemplates(t *testing.T) {
	need.Command(t, "g++")
	m := mpis.Need(t)[0]
	dir := t.TempDir()
	c := exec.Command("sh", "-c", strings.Join(m.Compiler("-O2", "-g", "-w", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX",
		"-o", filepath.Join(dir, "app"), "testdata/templates.cc", "-lstdc++"), " "))
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	spoor(t, dir, slices.Concat([]string{"run", "-q", "-o", "app.spoor"}, m.Command(2, "./app"))...)

	const rows = `
solvers::transport<upwind<…2…>, …>()
solvers::transport<upwind<…3…>, …>()
solvers::transport<central<…>, …>()
solvers::matrix<…>::matrix()
solvers::matrix<…>::operator+=()
solvers::matrix<…>::operator()()
…matrix<…>::operator std::vector<…>()
solvers::matrix<…>::operator<()
solvers::matrix<…>::operator[]()
solvers::matrix<…>::operator->()
solvers::operator<< <std::complex<…>>()
solvers::matrix<…>::~matrix()
(anonymous namespace)::hidden()
…nested::thing::each<{lambda#1}>()
…nested::thing::each<{lambda#2}>()
tagged[abi:cxx11][abi:v2]()
later()
`
	tree := spoor(t, dir, "calltree", "--width", "100", "--min-time", "0", "app.spoor")
	var got []string
	for line := range strings.Lines(tree) {
		for _, want := range strings.Split(strings.TrimSpace(rows), "\n") {
			if strings.Contains(line, " "+want+" ") && !slices.Contains(got, want) {
				got = append(got, want)
			}
		}
		if n := utf8.RuneCountInString(strings.TrimSpace(line)); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if text := strings.Join(got, "\n"); text != strings.TrimSpace(rows) {
		t.Errorf("of the functions the tree has\n%s\nin\n%s", text, tree)
	}

	const whole = "solvers::transport<solvers::detail::upwind<solvers::detail::space<solvers::detail::basis<2, double>, std::allocator<double> > >, " +
		"std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, double, "
	var table struct{ Sites []struct{ Place string } }
	if err := json.Unmarshal([]byte(spoor(t, dir, "profile", "--json", "app.spoor")), &table); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(table.Sites, func(s struct{ Place string }) bool { return strings.HasPrefix(s.Place, whole) }) {
		t.Errorf("no whole name in %v", table.Sites)
	}
	for _, answer := range [][]string{{"info"}, {"waits", "--top", "0"}, {"efficiency", "--top", "0"}} {
		for line := range strings.Lines(spoor(t, dir, append(answer, "app.spoor")...)) {
			if n := utf8.RuneCountInString(line); n > 121 && strings.Contains(line, "transport") { // not a sentence that is long without it
				t.Errorf("%v: %d columns: %s", answer, n, line)
			}
		}
	}
}
