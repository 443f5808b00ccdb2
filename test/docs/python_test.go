package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

var (
	pythonBlock = regexp.MustCompile("(?ms)^```python\n(.*?)^```$")
	prompt      = regexp.MustCompile(`(?m)^>>> (.*)$`)
	imports     = regexp.MustCompile(`(?m)^import (.+)$`)
)

// TestPython runs the pages' blocks of Python, and the examples of the module, with traces, a database and a folder of calls that
// have the pages' names.
func TestPython(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	dir := t.TempDir()
	traces := mpis.Root("test", "powers", "testdata")
	for name, from := range map[string]string{"slow": "cg-exact", "app": "heat2d", "cg": "cg-exact", "sort": "sort-exact"} {
		data, err := os.ReadFile(filepath.Join(traces, from+".spoor"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".spoor"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	add := exec.Command(tool, "db", "add", "--database", "spoor.db", "--calls", "FOLDER", "cg.spoor", "slow.spoor", "sort.spoor")
	add.Dir = dir
	if out, err := add.CombinedOutput(); err != nil {
		t.Fatalf("db add: %v\n%s", err, out)
	}
	run := func(t *testing.T, code string) {
		if m := imports.FindStringSubmatch(code); m != nil {
			if out, err := exec.Command("/usr/bin/python3", "-c", "import "+strings.ReplaceAll(m[1], "spoor", "sys")).CombinedOutput(); err != nil {
				need.Absent(t, "Python lacks what the block imports: %s", out)
			}
		}
		if strings.Contains(code, "read_parquet") && exec.Command("/usr/bin/python3", "-c", "import pyarrow").Run() != nil {
			t.Skip("Python has no pyarrow, which Debian doesn't have") // the tables themselves are read in test/export
		}
		c := exec.Command("/usr/bin/python3", "-B", "-c", code)
		c.Dir, c.Env = dir, append(os.Environ(), "PYTHONPATH="+mpis.Root("packaging", "python"), "SPOOR="+tool)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, code, out)
		}
	}
	pages, err := filepath.Glob(mpis.Root("docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range append(pages, mpis.Root("README.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range pythonBlock.FindAllStringSubmatch(string(text), -1) {
			found++
			t.Run(filepath.Base(path), func(t *testing.T) { run(t, block[1]) })
		}
	}
	if found == 0 {
		t.Error("no page has a block of Python")
	}
	module, err := os.ReadFile(mpis.Root("packaging", "python", "spoor.py"))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, m := range prompt.FindAllStringSubmatch(string(module), -1) {
		lines = append(lines, m[1])
	}
	t.Run("spoor.py", func(t *testing.T) { run(t, strings.Join(lines, "\n")) })
}
