package layout

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a file means depends on its bytes alone: whoever reads one makes no grammar, class or form by an algorithm that a later
// release may improve.
func TestReadersMakeNothingAgain(t *testing.T) {
	files, err := filepath.Glob("../../trace/*.go")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, made := range []string{"grammar.NewBuilder", "grammar.Restore", "column.NewFitter", "column.EncodeSeq", "internal/merge\"", "internal/record/capture\""} {
			if strings.Contains(string(text), made) {
				t.Errorf("%s uses %s", path, strings.TrimSuffix(made, "\""))
			}
		}
	}
}
