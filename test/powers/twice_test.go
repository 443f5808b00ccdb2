package powers

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
)

// unkept are verbs whose answers are not held; U is the trace after T in the corpus.
var unkept = []string{
	"info T", "profile T", "calltree T", "efficiency T", "waits T", "matrix T", "io T", "check T",
	"diff --all T U", "diff --any-order --all T U", "diff --any-order --renamed --all --json T U",
	"compare T U", "scaling T U", "scaling --json T U",
	"simulate --machine infiniband -o O.spoor T", "extrapolate --ranks 16 -o O.spoor T U",
	"export --to perfetto -o O T", "export --to parquet -o O T",
}

// TestTwice: a verb says and writes the same each time. Of verbs whose answers are held TestPowers shows it.
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
	var wait sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, r := range corpus {
		next := corpus[(i+1)%len(corpus)].name + ".spoor"
		for _, verb := range unkept {
			slots <- struct{}{}
			wait.Go(func() {
				key, once := ask(t, spoor, dirs[0], r.name+".spoor", next, verb)
				if _, again := ask(t, spoor, dirs[1], r.name+".spoor", next, verb); !bytes.Equal(once, again) {
					t.Errorf("%s: another answer the second time", key)
				}
				<-slots
			})
		}
	}
	wait.Wait()
}

// TestKeys: what a row of a table is for programs has the same keys in CSV and in JSON.
func TestKeys(t *testing.T) {
	spoor := mpis.NeedSpoor(t)
	dir := t.TempDir()
	for _, name := range []string{"heat2d", "cg", "checkpoint", "sort"} {
		data, err := os.ReadFile(filepath.Join("testdata", name+".spoor"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".spoor"), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(line string) []byte {
		c := exec.Command(spoor, strings.Fields(line)...)
		c.Dir = dir
		out, err := c.Output()
		if err != nil {
			t.Errorf("spoor %s: %v", line, err)
		}
		return out
	}
	run("db add --database runs.db cg.spoor heat2d.spoor")
	for _, verb := range []string{
		"profile checkpoint.spoor", "profile --by-rank checkpoint.spoor", "efficiency --all-calls cg.spoor", "waits sort.spoor", "compare cg.spoor heat2d.spoor",
		"efficiency --by-rank cg.spoor", "compare cg.spoor heat2d.spoor sort.spoor", "scaling cg.spoor", "io checkpoint.spoor", "db list --database runs.db",
	} {
		table, answer := run(verb+" --csv"), run(verb+" --json")
		head, err := csv.NewReader(bytes.NewReader(table)).Read()
		if err != nil {
			t.Errorf("%s: %v: %s", verb, err, table)
			continue
		}
		var whole any
		if err := json.Unmarshal(answer, &whole); err != nil {
			t.Errorf("%s: %v: %.500s", verb, err, answer)
			continue
		}
		if !hasRow(whole, head) {
			t.Errorf("%s: no row of the JSON has all of %q", verb, head)
		}
	}
}

// hasRow reports whether an object somewhere in a value has all keys.
func hasRow(v any, keys []string) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return hasRow(x, keys) })
	case map[string]any:
		if !slices.ContainsFunc(keys, func(k string) bool { _, has := v[k]; return !has }) {
			return true
		}
		for _, x := range v {
			if hasRow(x, keys) {
				return true
			}
		}
	}
	return false
}
