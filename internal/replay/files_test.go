package replay

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFilesStayInTheirDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"out.dat", "/etc/passwd", "../../x", "ufs:/data/big", "a:b/c"} {
		path := scratchPath(dir, name)
		if filepath.Dir(path) != dir {
			t.Errorf("%s goes to %s", name, path)
		}
	}
	if a, b := scratchPath(dir, "/a/x"), scratchPath(dir, "/b/x"); a == b {
		t.Errorf("two files share %s", a)
	}
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, make([]byte, 1234), 0o666); err != nil {
		t.Fatal(err)
	}
	path := scratchPath(dir, input)
	for range 2 {
		if err := provide(path, input); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := os.Stat(path); err != nil || st.Size() != 1234 {
		t.Errorf("a file to read: %v, %v", st, err)
	}
}
