package tree

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/code"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

// A program is the library made of tails.c.
type program struct {
	t     *testing.T
	path  string
	image *code.Image
}

func build(t *testing.T, flags ...string) *program {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("compilers here make code of another architecture")
	}
	path := filepath.Join(t.TempDir(), "tails.so")
	args := append([]string{"-O2", "-shared", "-fPIC", "-o", path, "testdata/tails.c"}, flags...)
	need.Command(t, "gcc")
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m, err := code.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return &program{t, path, m}
}

// site is where a function makes its first call of another, or through a pointer; around is the frame around it.
func (p *program) site(function, callee string, around *trace.Site) trace.Site {
	p.t.Helper()
	b, err := p.image.ExportedFunction(function).Body()
	if err != nil {
		p.t.Fatal(err)
	}
	for i := range b.Calls {
		if c := &b.Calls[i]; !c.IsTail && c.CalleeSymbol == callee {
			return trace.Site{Module: p.path, Offset: c.ReturnAddr - p.image.LinkBias, Caller: around}
		}
	}
	p.t.Fatalf("%s doesn't call %s", function, callee)
	return trace.Site{}
}

func texts(p symbolise.Place) string {
	var list []string
	for i := range p.Frames {
		s := p.Frames[i].Text()
		if p.Frames[i].IsTailCaller {
			s += " (tail)"
		}
		list = append(list, s)
	}
	return strings.Join(list, ", ")
}

func TestPlace(t *testing.T) {
	p := build(t, "-g")
	f := NewTailCalls(symbolise.New(symbolise.Options{}))
	entry := func(callee string) *trace.Site { s := p.site("entry", callee, nil); return &s }
	check := func(what, function string, s trace.Site, want string) {
		t.Helper()
		if got := texts(f.Place(function, s)); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	chain := p.site("chain", "forward", entry("chain"))
	check("a jump to a jump to MPI", "MPI_Barrier", chain, "relay tails.c:7 (tail), forward tails.c:11 (tail), chain tails.c:14")
	check("the profiling interface", "PMPI_Barrier", chain, "relay tails.c:7 (tail), forward tails.c:11 (tail), chain tails.c:14")
	check("no way leads there", "MPI_Recv", chain, "chain tails.c:14")
	undecided := p.site("undecided", "either", entry("undecided"))
	check("two ways", "MPI_Barrier", undecided, "either > left or either > right (tail), undecided tails.c:36")
	check("one of three ways", "MPI_Send", undecided, "other tails.c:28 (tail), either tails.c:33 (tail), undecided tails.c:36")
	top := p.site("top", "hop", entry("top"))
	bottom := p.site("bottom", "MPI_Send", &top)
	check("between frames", "MPI_Send", bottom, "bottom tails.c:41, hop tails.c:46 (tail)")
	check("around", "", top, "top tails.c:49")
	pointed := p.site("pointed", "", entry("pointed"))
	check("through a pointer", "MPI_Barrier", pointed, "pointed tails.c:54")
	pointed.Caller = nil
	check("without a stack", "MPI_Barrier", trace.Site{Module: p.path, Offset: chain.Offset}, "chain tails.c:14")
	chain.BuildID = "00"
	check("rebuilt since", "MPI_Barrier", chain, "")
}

func TestStripped(t *testing.T) {
	p := build(t, "-s")
	f := NewTailCalls(symbolise.New(symbolise.Options{}))
	outer := p.site("entry", "chain", nil)
	place := f.Place("MPI_Barrier", p.site("chain", "forward", &outer))
	var names []string
	for i := range place.Frames {
		names = append(names, place.Frames[i].Name())
	}
	if got := strings.Join(names, " < "); got != "relay < forward < chain" {
		t.Error(got)
	}
}
