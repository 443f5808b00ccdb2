package convert

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

func dimemasWritten(t *testing.T, r *trace.Reader) (*Trace, ops.Losses) {
	t.Helper()
	s, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.dim")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewDimemasWriter(s, f, `./solver "a:b"`)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return x, s.Losses
}

// TestDimemasPrograms: a reader of its own finds the messages and bytes of the trace, and the time between calls.
func TestDimemasPrograms(t *testing.T) {
	for name, program := range map[string]func(*tracktest.Recorder){
		"stencil": tracktest.Stencil(5), "butterfly": tracktest.Butterfly(4), "transpose": tracktest.Transpose(3), "workers": tracktest.Workers(20),
		"unfinished": func(r *tracktest.Recorder) {
			r.Begin()
			r.Irecv(3, 4, int64((r.Rank+1)%r.Size), 9)
			r.End()
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := mergetest.Run(t, 16, program)
			x, _ := dimemasWritten(t, r)
			if x.Name != "./solver a b" || len(x.Tasks) != 16 {
				t.Errorf("%q, %d tasks", x.Name, len(x.Tasks))
			}
			got, err := x.Messages()
			if err != nil {
				t.Fatal(err)
			}
			m, err := matrix.Compute(r, matrix.Options{PointToPoint: true})
			if err != nil {
				t.Fatal(err)
			}
			for from, row := range m.Dense() {
				for to, want := range row {
					if cell := got[[2]int{from, to}]; cell != [2]uint64{want.Messages, want.Bytes} {
						t.Errorf("from %d to %d: %v, the matrix says %v", from, to, cell, want)
					}
				}
			}
			for rank, task := range x.Tasks {
				if want := computed(t, r, rank); math.Abs(task.Seconds-want) > 1e-6*want+1e-8 {
					t.Errorf("rank %d computes %g s, want %g", rank, task.Seconds, want)
				}
			}
		})
	}
}

// computed is the time between a rank's calls, and before them since the first of all.
func computed(t *testing.T, r *trace.Reader, rank int) (seconds float64) {
	t.Helper()
	k, err := r.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	first, _, err := r.TimeExtent()
	if err != nil {
		t.Fatal(err)
	}
	last := first
	for c, err := range k.TimedCalls(0) {
		if err != nil {
			t.Fatal(err)
		}
		seconds += float64(max(0, c.StartNs-last)) / 1e9
		last = max(last, c.EndNs())
	}
	return seconds
}
