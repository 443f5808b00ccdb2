package layout

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestAPI: what others can import names no type of an internal package, so that whoever reads its documentation
// finds all of it.
func TestAPI(t *testing.T) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", module+"trace/handles")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := make(map[string]string)
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		path, file, _ := strings.Cut(lines.Text(), " ")
		files[path] = file
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	for _, path := range []string{"mpi", "trace", "trace/model", "trace/handles"} {
		p, err := from.Import(module + path)
		if err != nil {
			t.Fatal(err)
		}
		w := walker{t: t, seen: make(map[types.Type]bool)}
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				w.walk(path+"."+name, o.Type())
			}
		}
		if len(w.seen) < 20 {
			t.Errorf("%s: only %d types found", path, len(w.seen))
		}
	}
}

// What go doc prints of an exported type of package trace names no internal package, but for what is only
// handed through.
func TestAPIText(t *testing.T) {
	files, err := filepath.Glob("../../trace/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	types := 0
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		internal := make(map[string]bool)
		for _, i := range f.Imports {
			if s := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(s, module+"internal/") {
				internal[path.Base(s)] = true
			}
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				x, ok := s.(*ast.TypeSpec)
				if !ok || !x.Name.IsExported() || x.Name.Name == "Track" || x.Name.Name == "OpaqueGrammar" {
					continue
				}
				types++
				if of, ok := x.Type.(*ast.SelectorExpr); ok && internal[fmt.Sprint(of.X)] {
					t.Errorf("%s: type %s is %s.%s", name, x.Name.Name, of.X, of.Sel.Name)
				}
			}
		}
	}
	if types < 20 {
		t.Errorf("only %d types found", types)
	}
}

// A walker goes through the types that others see.
type walker struct {
	t    *testing.T
	seen map[types.Type]bool
}

func (w *walker) walk(where string, of types.Type) {
	if w.seen[of] {
		return
	}
	w.seen[of] = true
	name := func(o *types.TypeName) (internal bool) {
		if internal = o.Pkg() != nil && strings.HasPrefix(o.Pkg().Path(), module+"internal/"); internal {
			w.t.Errorf("%s is of type %s, which is internal", where, o.Pkg().Path()+"."+o.Name())
		}
		return internal
	}
	switch x := of.(type) {
	case *types.Alias:
		if !name(x.Obj()) {
			w.walk(where, x.Rhs())
		}
	case *types.Named:
		if name(x.Obj()) {
			return
		}
		for m := range x.Methods() {
			if m.Exported() {
				w.walk(where+"."+m.Name(), m.Type())
			}
		}
		for a := range x.TypeArgs().Types() {
			w.walk(where, a)
		}
		if x.Obj().Pkg() != nil && strings.HasPrefix(x.Obj().Pkg().Path(), module) {
			w.walk(where, x.Underlying())
		}
	case *types.Struct:
		for f := range x.Fields() {
			if f.Exported() {
				w.walk(where+"."+f.Name(), f.Type())
			}
		}
	case *types.Signature:
		for _, list := range []*types.Tuple{x.Params(), x.Results()} {
			for v := range list.Variables() {
				w.walk(where, v.Type())
			}
		}
	case *types.Interface:
		for m := range x.Methods() {
			w.walk(where+"."+m.Name(), m.Type())
		}
	case *types.Map:
		w.walk(where, x.Key())
		w.walk(where, x.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		w.walk(where, x.Elem())
	}
}
