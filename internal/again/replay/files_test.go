package replay

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesStayInTheirDirectory(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string]string{
		"out.dat": "here/out.dat", "/etc/passwd": "etc/passwd", "../../x": "x", "../x/../y": "y", "/../../x": "x", "ufs:/data/big": "data/big", "a:b/c": "here/b/c",
	} {
		if path := scratchPath(dir, name); path != filepath.Join(dir, want) {
			t.Errorf("%s goes to %s, not %s", name, path, want)
		}
	}
	if a, b := scratchPath(dir, "/a/x"), scratchPath(dir, "/b/x"); a == b {
		t.Errorf("two files share %s", a)
	}
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, make([]byte, 1234), 0o666); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "input")
	for range 2 {
		if err := provide(path, input); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := os.Stat(path); err != nil || st.Size() != 1234 {
		t.Errorf("a file to read: %v, %v", st, err)
	}
}
