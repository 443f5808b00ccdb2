// Package reducetest reads what tests had reduced.
package reducetest

import (
	"os"
	"path/filepath"

	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/trace"
)

// A T is a test, or a property that one checks.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Written writes a result to a file and reads it: all of it is a trace.
func Written(t T, x *reduce.Result) (*trace.Reader, []byte) {
	t.Helper()
	dir, err := os.MkdirTemp("", "thin")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "thin.spoor")
	if err := x.Write(path, false); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out, err := trace.NewBytes(b, "thin")
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Check(out); err != nil {
		t.Fatal(err)
	}
	return out, b
}
