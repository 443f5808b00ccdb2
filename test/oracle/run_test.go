package oracle

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/oracle/gen"
)

// scratch outlives the tests that share what is built in it.
var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "oracle")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// A product is what was built in scratch, once.
type product struct {
	once sync.Once
	path string
	err  error
}

var products sync.Map // name -> *product

// built returns what build makes under a name in scratch, made when it is first wanted.
func built(name string, build func(path string) (string, error)) (string, error) {
	x, _ := products.LoadOrStore(name, new(product))
	p := x.(*product)
	p.once.Do(func() {
		path := filepath.Join(scratch, name)
		if p.err = os.MkdirAll(path, 0o777); p.err == nil {
			p.path, p.err = build(path)
		}
	})
	return p.path, p.err
}

// preload returns an MPI's oracle, liboracle.so.
func preload(t *testing.T, m *mpis.MPI) string {
	t.Helper()
	path, err := built("oracle-"+m.Name, func(dir string) (string, error) { return gen.Build(m.CC, dir) })
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// sampled is true for about one of n programs, always the same.
func sampled(p *mpis.Program, n uint32) bool {
	return crc32.ChecksumIEEE([]byte(p.Name))%n == 0
}

// launch runs the program on a number of ranks with more environment. All
// processes of the job get it, the launcher included, as under spoor run.
func launch(p *mpis.Program, m *mpis.MPI, ranks int, env ...string) mpis.Result {
	binary, err := built(m.Name+"-"+p.Name, func(dir string) (string, error) {
		binary := filepath.Join(dir, strings.ReplaceAll(p.Name, ".", "_"))
		return binary, m.Compile(binary, p.Path)
	})
	if err != nil {
		return mpis.Result{Err: err}
	}
	dir, err := os.MkdirTemp(scratch, "run")
	if err != nil {
		return mpis.Result{Err: err}
	}
	defer os.RemoveAll(dir)
	return mpis.Job{MPI: m, Dir: dir, Env: env}.Run(m.Command(ranks, append([]string{binary}, p.Args...)...)...)
}
