package layout

import (
	"os/exec"
	"strings"
	"testing"
)

// engineMay are the modules of others whose code may be in the MPI process. What the tool
// needs for databases and formats of others stays out of it.
var engineMay = []string{"github.com/klauspost/compress/"}

// TestEngine: what the engine is made of.
func TestEngine(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", module+"engine")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	list := strings.Fields(string(out))
	if len(list) < 10 {
		t.Fatalf("only %d packages found", len(list))
	}
	for _, path := range list {
		ours, is := strings.CutPrefix(path, module)
		for _, above := range []string{"internal/database", "internal/convert/otf2"} {
			if is && (ours == above || strings.HasPrefix(ours, above+"/")) {
				t.Errorf("the engine has %s in it", ours)
			}
		}
		may := is
		for _, prefix := range engineMay {
			may = may || strings.HasPrefix(path+"/", prefix)
		}
		if !may {
			t.Errorf("the engine has %s in it", path)
		}
	}
}
