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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

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

// layers reads the rooms of ARCHITECTURE.md's table: each folder's layer, from 1 at the bottom. A row without a number belongs to the
// layer above it.
func layers(t *testing.T) map[string]int {
	t.Helper()
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	rooms, at := make(map[string]int), 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(cells[1])); err == nil {
			at = n
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
			rooms[strings.TrimSuffix(name[1], "/")] = at
		}
	}
	if at != 8 || rooms["trace"] != 4 {
		t.Fatalf("ARCHITECTURE.md has no table of eight layers: %v", rooms)
	}
	return rooms
}

// layer is that of the package, or of the nearest folder above it with one; 0 without.
func layer(rooms map[string]int, name string) int {
	for ; name != "."; name = path.Dir(name) {
		if n, ok := rooms[name]; ok {
			return n
		}
	}
	return 0
}

// TestImports: every package is in a room of the table, and imports those of its own layer and of lower ones.
func TestImports(t *testing.T) {
	rooms := layers(t)
	for _, p := range packages(t) {
		from := layer(rooms, p.ImportPath)
		if from == 0 {
			t.Errorf("%s is in no room of ARCHITECTURE.md's table", p.ImportPath)
			continue
		}
		for _, imp := range p.Imports {
			imported, ours := strings.CutPrefix(imp, module)
			if !ours {
				continue
			}
			if to := layer(rooms, imported); to > from {
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
