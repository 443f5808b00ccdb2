// Package layout holds the shape of the repository: which package may import
// which, and that cgo stays where it belongs.
package layout

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// layers lists the packages from the bottom up. A package may import those on
// lines before its own, never one on the same line or below.
var layers = [][]string{
	{"internal/unwind", "internal/code/insn", "internal/code/flow", "internal/oneproc"},
	{"internal/code/x86", "internal/code/a64", "internal/source"},
	{"internal/code"},
	{"mpi", "internal/grammar", "internal/logistic", "internal/timing", "internal/version", "internal/units", "internal/shell", "internal/symbolise", "internal/goal", "internal/waitfor", "internal/tags", "internal/export/behind"},
	{"trace/model", "internal/inspect", "internal/turns"},
	{"internal/launch", "internal/timing/clock", "internal/outline"},
	{"internal/simulate/loggops", "mpi/meaning", "internal/wire", "internal/prefix", "internal/unfold"},
	{"internal/pack", "internal/container"},
	{"internal/machine", "internal/otf2"},
	{"internal/calibrate"},
	{"internal/simulate/dataflow"},
	{"internal/simulate/collective"},
	{"internal/timing/hist", "internal/timing/phase", "internal/timing/zfp", "internal/event", "internal/signature"},
	{"internal/timing/codec", "internal/column"},
	{"internal/counts"},
	{"internal/lane", "internal/drawn"},
	{"internal/track"},
	{"internal/timing/series", "internal/timing/totals"},
	{"internal/sections"},
	{"internal/timeline"},
	{"internal/symbol", "internal/track/tracktest", "trace"},
	{"internal/timing/measure", "internal/capture", "internal/merge", "internal/summary", "trace/handles", "internal/gaps", "internal/tailcall", "internal/marked"},
	{"internal/reissue", "internal/diff", "internal/trackwriter"},
	{"internal/tree", "internal/derive"},
	{"internal/tree/treetest", "internal/merge/mergetest", "internal/volume", "internal/matrix", "internal/imbalance", "internal/histogram"},
	{"internal/imported", "internal/cut", "internal/deliver", "internal/recover", "internal/profile", "internal/volume/volumetest", "internal/files"},
	{"internal/export", "internal/thin"},
	{"internal/simulate/traced", "internal/export/patched"},
	{"internal/export/otf2", "internal/export/perfetto", "internal/export/chrome", "internal/export/table", "internal/export/smpi", "internal/export/paraver", "internal/export/dimemas", "internal/hang", "internal/waits", "internal/database", "internal/nests"},
	{"internal/findings", "internal/rounds", "internal/partners"},
	{"internal/replay", "internal/proxy", "internal/report"},
	{"internal/view"},
	{"engine", "replayer", "cmd", "test", "bench"},
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
	top := len(layers) - 1
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
			if to := layer(imported); to >= from && from != top {
				t.Errorf("%s imports %s, which is not below it", p.ImportPath, imported)
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
