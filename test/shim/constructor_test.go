package shim

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// A call from a constructor that runs before the shim's is on the same clock as the others.
func TestCallsInConstructors(t *testing.T) {
	shim := library(t)
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			lib := compile(t, m.CC, "constructor.c", "libconstructor.so")
			dir := t.TempDir()
			program, file := filepath.Join(dir, "constructed"), filepath.Join(dir, "t.spoor")
			if out, err := exec.Command(m.CC, "-o", program, "testdata/constructed.c", lib).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			began := time.Now()
			if r := run(t, m, dir, []string{"LD_PRELOAD=" + shim, "SPOOR_OUT=" + file}, 1, program); r.Err != nil {
				t.Fatal(r)
			}
			took := time.Since(began)
			r, err := trace.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			k, err := r.Rank(0)
			if err != nil {
				t.Fatal(err)
			}
			first, err := k.Call(0, 0)
			if err != nil || first.Name() != "MPI_Initialized" {
				t.Errorf("the first call is %v, %v", first, err)
			}
			p, err := k.Process()
			if err != nil || p.FirstThreadNs > int64(took) {
				t.Errorf("a process of %v has its calls within %v, %v", took, time.Duration(p.FirstThreadNs), err)
			}
		})
	}
}
