package layout

import (
	"bufio"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestAPI: what others can import names no type of an internal package, so that whoever reads its documentation
// finds all of it.
func TestAPI(t *testing.T) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", module+"trace")
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
	for _, path := range []string{"mpi", "trace", "trace/model"} {
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
