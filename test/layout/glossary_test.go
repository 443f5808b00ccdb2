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

// An entry is a row of the glossary.
type entry struct{ term, file, name string }

var defined = regexp.MustCompile("^\\[([^]]+)\\]\\(\\.\\./([^)]+)\\)(?: `(\\w+)`)?$")

// glossary reads the entries of docs/glossary.md, which stand in its first table.
func glossary(t *testing.T) (list []entry) {
	t.Helper()
	page, err := os.ReadFile("../../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	rows, _, _ := strings.Cut(string(page), "\n## ")
	for line := range strings.Lines(rows) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "term" {
			continue
		}
		m := defined.FindStringSubmatch(strings.TrimSpace(cells[4]))
		if m == nil || m[1] != m[2] {
			t.Errorf("%q names no file", line)
			continue
		}
		if strings.TrimSpace(cells[2]) == "" || strings.TrimSpace(cells[3]) == "" {
			t.Errorf("%q has an empty cell", line)
		}
		list = append(list, entry{strings.TrimSpace(cells[1]), m[2], m[3]})
	}
	if len(list) < 30 {
		t.Fatalf("only %d terms found", len(list))
	}
	return list
}

func TestGlossary(t *testing.T) {
	var last string
	for _, e := range glossary(t) {
		if e.term <= last {
			t.Errorf("%q stands behind %q: twice, or out of order", e.term, last)
		}
		last = e.term
		if err := defines(filepath.Join("../..", e.file), e); err != "" {
			t.Errorf("%s: %s", e.term, err)
		}
	}
}

// defines says why a file doesn't define a term; "" if it does: by a declaration with a comment,
// in C by a struct or enum, and where no name is given by its comments.
func defines(path string, e entry) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	if !strings.HasSuffix(path, ".go") {
		word := regexp.MustCompile(`(?i)\b` + regexp.QuoteMeta(e.term) + `\b`)
		if e.name != "" {
			word = regexp.MustCompile(`(?m)^(struct|enum) ` + e.name + ` \{`)
		}
		if !word.Match(text) {
			return e.file + " doesn't define it"
		}
		return ""
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
	if err != nil {
		return err.Error()
	}
	if e.name == "" {
		var said strings.Builder
		for _, c := range f.Comments {
			said.WriteString(strings.ToLower(c.Text()))
		}
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(e.term)).MatchString(said.String()) {
			return e.file + " says nothing of it"
		}
		return ""
	}
	if !slices.ContainsFunc(f.Decls, func(d ast.Decl) bool { return declares(d, e.name) }) {
		return e.file + " doesn't declare " + e.name + " with a comment"
	}
	return ""
}

// declares reports whether a declaration is of a name and has a comment.
func declares(d ast.Decl, name string) bool {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name == name && d.Doc != nil
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.Name == name && (s.Doc != nil || d.Doc != nil) {
					return true
				}
			case *ast.ValueSpec:
				if s.Doc != nil || d.Doc != nil {
					for _, n := range s.Names {
						if n.Name == name {
							return true
						}
					}
				}
			}
		}
	}
	return false
}
