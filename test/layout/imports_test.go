// Package layout holds the shape of the repository: which package may import
// which, and that cgo stays where it belongs.
package layout

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers are folders from the bottom up; the longest name that fits counts. A package may import those of its own layer and of lower ones.
var layers = [][]string{
	// the standard, what a call is, machine code
	{"mpi", "trace/model", "internal/code", "internal/show", "internal/stats", "internal/once", "internal/version", "internal/tags", "engine/oneproc"},
	// codings: of sequences, numbers, times, signatures
	{"internal/grammar", "internal/expr", "internal/file", "internal/timing", "internal/record/event", "internal/record/signature", "internal/record/lane"},
	// what one process recorded, what all did, and the file of it
	{"internal/record", "internal/track", "internal/merge", "internal/file/sections", "internal/timing/timeline"},
	// the reader of files
	{"trace"},
	// what calls mean
	{"internal/tree", "internal/calltree", "internal/timing/gaps", "internal/track/trackwriter", "internal/ops", "internal/sites",
		"internal/analyse/summary", "internal/reproduce/reissue"},
	// answers, and what is made of a trace
	{"internal/analyse", "internal/simulate", "internal/reproduce", "internal/reduce", "internal/convert", "internal/run"},
	// pages, the database, and what stands on answers
	{"internal/report", "internal/database", "internal/extrapolate"},
	// programs and libraries, and their tests
	{"cmd", "engine", "replayer", "test", "bench", "papers"},
}

// module begins the path of every package of the project.
const module = "github.com/spoor-hpc/spoor/"

type pkg struct {
	ImportPath string
	Imports    []string
	CgoFiles   []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,CgoFiles", module+"...")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
		if !strings.HasPrefix(p.ImportPath, "build/") {
			list = append(list, p)
		}
	}
	if len(list) < 10 {
		t.Fatalf("only %d packages found", len(list))
	}
	return list
}

// layer returns the line that names the package or a folder above it.
func layer(path string) int {
	best, at := -1, 0
	for i, names := range layers {
		for _, n := range names {
			if (path == n || strings.HasPrefix(path, n+"/")) && len(n) > at {
				best, at = i, len(n)
			}
		}
	}
	return best
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		from := layer(p.ImportPath)
		if from < 0 {
			t.Errorf("%s has no layer: add it to the list", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			imported, ours := strings.CutPrefix(imp, module)
			if !ours {
				continue
			}
			if to := layer(imported); to > from {
				t.Errorf("%s imports %s, which is above it", p.ImportPath, imported)
			}
		}
	}
}

func TestCgo(t *testing.T) {
	for _, p := range packages(t) {
		if len(p.CgoFiles) > 0 && p.ImportPath != "engine" && p.ImportPath != "replayer" {
			t.Errorf("%s uses cgo: %v", p.ImportPath, p.CgoFiles)
		}
	}
}

// TestArchitecture holds ARCHITECTURE.md to the packages that there are: it names each, or a
// folder above it as `folder/`.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, p := range packages(t) {
		named := strings.Contains(page, "`"+p.ImportPath+"`")
		for dir := p.ImportPath; dir != "." && !named; dir = path.Dir(dir) {
			named = strings.Contains(page, "`"+dir+"/`")
		}
		if !named {
			t.Errorf("ARCHITECTURE.md says nothing of %s", p.ImportPath)
		}
	}
}

// mayUsePapers are the files outside papers/ that import it: the verb, and a test that holds one simulation to the other.
var mayUsePapers = []string{"cmd/spoor/papers.go", "internal/simulate/traced/random_test.go"}

// TestPapers: what serves the five papers alone is out of everybody else's way. What of their methods works during a run is a plugin.
func TestPapers(t *testing.T) {
	const root = "../.."
	found := 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "build" || name == "papers" || strings.HasPrefix(d.Name(), ".") && name != "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imp := range f.Imports {
			if !strings.HasPrefix(imp.Path.Value, `"`+module+"papers/") {
				continue
			}
			if found++; !slices.Contains(mayUsePapers, name) {
				t.Errorf("%s imports %s", name, imp.Path.Value)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 5 {
		t.Errorf("only %d imports found", found)
	}
}
