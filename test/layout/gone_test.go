package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	verbUse     = regexp.MustCompile(`Use:\s+"([a-z-]+)`)
	verbAlias   = regexp.MustCompile(`Aliases:\s+\[\]string\{([^}]*)\}`)
	asVerb      = regexp.MustCompile(`\bspoor ([a-z]+)\b`)
	asPackage   = regexp.MustCompile(`\b[Pp]ackage ([a-z0-9]+)\b`)
	inSentences = strings.Fields("after again and beside can does doesn finds fits found has if is itself knows lists looks makes may merges must names new on " +
		"openmpi or prints reads records srun starts then traces whose writes app b long node brings checks compares help alone computes of simulates main " +
		"became did made recorded step")
	// What names of packages that are gone stood before, in errors.
	gonePrefix = regexp.MustCompile(`^"(volume|view|derive|imbalance|nests|phases): `)
)

// TestGone: messages and comments name no verb and no package that there isn't.
func TestGone(t *testing.T) {
	root := "../.."
	type file struct {
		path string
		ast  *ast.File
	}
	var list []file
	files := token.NewFileSet()
	verbs, packages := map[string]bool{"help": true}, map[string]bool{"syscall": true}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "build" || name == "bench" || name == "test" || strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		packages[filepath.Base(filepath.Dir(path))] = true
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasPrefix(name, "cmd/spoor/") {
			for _, m := range verbUse.FindAllStringSubmatch(string(text), -1) {
				verbs[m[1]] = true
			}
			for _, m := range verbAlias.FindAllStringSubmatch(string(text), -1) {
				for alias := range strings.SplitSeq(m[1], ",") {
					verbs[strings.Trim(alias, ` "`)] = true
				}
			}
		}
		f, err := parser.ParseFile(files, path, text, parser.ParseComments)
		list = append(list, file{name, f})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := func(path string, line int, text string) {
		for _, m := range asVerb.FindAllStringSubmatch(text, -1) {
			if !verbs[m[1]] && !slices.Contains(inSentences, m[1]) {
				t.Errorf("%s:%d: spoor %s is no verb", path, line, m[1])
			}
		}
	}
	for _, f := range list {
		at := func(p token.Pos) (string, int) { return f.path, files.Position(p).Line }
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			path, line := at(lit.Pos())
			named(path, line, lit.Value)
			if m := gonePrefix.FindStringSubmatch(lit.Value); m != nil {
				t.Errorf("%s:%d: an error of %s, which is gone", path, line, m[1])
			}
			return true
		})
		for _, g := range f.ast.Comments {
			path, line := at(g.Pos())
			named(path, line, g.Text())
			for _, m := range asPackage.FindAllStringSubmatch(g.Text(), -1) {
				if !packages[m[1]] && !slices.Contains(inSentences, m[1]) {
					t.Errorf("%s:%d: there is no package %s", path, line, m[1])
				}
			}
		}
	}
}
