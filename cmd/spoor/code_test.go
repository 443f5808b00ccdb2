package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A trace whose program's loops can't be found in time stays as it is, and one line says so.
func TestNoTimeForCode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.spoor")
	before := mergetest.File(t, tracktest.RunAll(2, func(r *tracktest.Recorder) {
		r.From(5)
		r.Allreduce(1, 1)
	}), nil)
	if err := os.WriteFile(path, before, 0o666); err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[time.Duration]string{0: "is complete, but for the program's functions and loops", time.Minute: ""} {
		r, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		err = addCodeWithin(r, budget)
		r.Close()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("within %s: %v, want %q", budget, err, want)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("within %s: the trace is another one, %v", budget, err)
		}
	}
}
