package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
)

// naming lists where code may ask for functions of MPI by name, as ARCHITECTURE.md says: files and folders. Everywhere else an attribute or
// a parameter in calls.txt tells.
var naming = []string{
	"mpi/", "cmd/genshim/", "trace/handles/", "internal/ops/plan.go", "internal/ops/groups.go", "internal/reproduce/", "internal/analyse/diff/", "internal/convert/", "replayer/",
	"internal/simulate/traced/calls.go", "internal/analyse/files/mpiio.go",
	"internal/extrapolate/objects.go", "internal/extrapolate/datatypes.go", // what MPI determines of their results
	"papers/partners/rewrite.go", "internal/simulate/machine/fit.go", "cmd/spoor/machine.go", // calls that are made up
	"internal/run/launch/inspect.go",                                                               // symbols of binaries
	"cmd/spoor/gathering.go", "cmd/spoor/efficiency.go", "internal/analyse/efficiency/findings.go", // what is said of MPI_Init and MPI_Finalize
}

// TestNames: no other code has the name of a function as a whole literal, with MPI_ or without.
func TestNames(t *testing.T) {
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "build" || name == "test" || name == "bench" || strings.HasPrefix(name, ".") && name != "." || d.Name() == "testdata" || strings.HasSuffix(name, "test")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		for _, prefix := range naming {
			if strings.HasPrefix(name, prefix) {
				return nil
			}
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					def, known := mpi.CallNamed(text)
					if !known {
						def, known = mpi.CallNamed("MPI_" + text)
					}
					if known && !def.Has(mpi.AttrPosix) {
						t.Errorf("%s:%d has %s", name, files.Position(lit.Pos()).Line, text)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
