package powers

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// unkept are verbs whose answers are not held; U is the trace after T in the corpus.
var unkept = []string{
	"info T", "profile T", "calltree T", "efficiency T", "waits T", "matrix T", "io T", "check T",
	"diff --all T U", "diff --any-order --all T U", "diff --any-order --renamed --all --json T U",
	"compare T U", "compare --json T U", "scaling T U", "scaling --json T U",
	"simulate --machine infiniband -o O.spoor T", "extrapolate --ranks 16 -o O.spoor T U",
	"export --to perfetto -o O T", "export --to parquet -o O T",
}

// TestTwice: a verb says and writes the same each time.
func TestTwice(t *testing.T) {
	spoor := mpis.NeedSpoor(t)
	dirs := []string{t.TempDir(), t.TempDir()} // what is written has the same name each time
	for _, dir := range dirs {
		for _, r := range corpus {
			data, err := os.ReadFile(filepath.Join("testdata", r.name+".spoor"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, r.name+".spoor"), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, r := range corpus {
		next := corpus[(i+1)%len(corpus)].name + ".spoor"
		for _, verb := range slices.Concat(verbs, unkept) {
			key, once := ask(t, spoor, dirs[0], r.name+".spoor", next, verb)
			if _, again := ask(t, spoor, dirs[1], r.name+".spoor", next, verb); once != again {
				t.Errorf("%s: another answer the second time", key)
			}
		}
	}
}
