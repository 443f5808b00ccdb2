package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// everywhere are type names that mean the same in every package.
var everywhere = strings.Fields(`
	builder call channel collector counter event field frame function graph item key kind line meeting message module node
	op options parser printer rank reader recorder request row site slot table thread writer`)

// TestTypeNames: the name of an unexported type occurs in at most two packages, so that a name found by search is most
// likely the one meant.
func TestTypeNames(t *testing.T) {
	packages := make(map[string]map[string]bool)
	for _, root := range []string{"cmd", "internal", "mpi", "trace", "engine", "replayer"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, d os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			folder, _ := filepath.Rel("../..", filepath.Dir(path))
			if strings.HasSuffix(folder, "test") {
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			for _, decl := range f.Decls {
				g, ok := decl.(*ast.GenDecl)
				if !ok || g.Tok != token.TYPE {
					continue
				}
				for _, s := range g.Specs {
					name := s.(*ast.TypeSpec).Name.Name
					if packages[name] == nil {
						packages[name] = make(map[string]bool)
					}
					packages[name][folder] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(packages) < 500 {
		t.Fatalf("only %d types were found", len(packages))
	}
	for name, in := range packages {
		if !ast.IsExported(name) && len(in) > 2 && !slices.Contains(everywhere, name) {
			t.Errorf("type %s is declared in %d packages: %s. Name them for what each is", name, len(in), strings.Join(slices.Sorted(maps.Keys(in)), ", "))
		}
	}
}
