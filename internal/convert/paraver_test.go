package convert

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/paravertest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

func writtenParaver(t *testing.T, r *trace.Reader, o ops.Options) (*paravertest.Trace, ops.Losses) {
	t.Helper()
	o.NumberMessages = true
	s, err := ops.NewSource(r, o)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	w, err := NewParaverWriter(s, dir, Options{SourceLine: func(trace.Site) (string, int) { return "ring.c", 7 }, Metadata: map[string]string{"COMMAND": "ring"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(w); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	x, err := paravertest.Read(dir, ParaverBaseName)
	if err != nil {
		t.Fatal(err)
	}
	return x, s.Losses
}

var everything = ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime}

// TestParaverPrograms: a reader of its own finds the calls, messages and bytes of the trace.
func TestParaverPrograms(t *testing.T) {
	for name, program := range map[string]func(*tracktest.Recorder){
		"stencil": tracktest.Stencil(5), "butterfly": tracktest.Butterfly(4), "transpose": tracktest.Transpose(3), "workers": tracktest.Workers(20),
	} {
		t.Run(name, func(t *testing.T) {
			r := mergetest.Run(t, 16, program)
			x, losses := writtenParaver(t, r, everything)
			if err := x.Compare(r); err != nil {
				t.Error(err)
			}
			if len(losses) > 0 {
				t.Errorf("left out: %v", losses)
			}
			if n := len(x.Rows["THREAD"]); n != 16 {
				t.Errorf("%d threads have names", n)
			}
			if want := slices.Sorted(slices.Values(x.Comms[1])); len(want) != 16 || want[0] != 1 || want[15] != 16 {
				t.Errorf("MPI_COMM_WORLD is %v", want)
			}
		})
	}
}

// TestPart: a message with one end outside of what is exported is counted, not drawn.
func TestPart(t *testing.T) {
	o := everything
	o.Ranks = []int{0, 1}
	x, losses := writtenParaver(t, mergetest.Run(t, 3, func(r *tracktest.Recorder) {
		r.Begin()
		for range 4 {
			r.Irecv(3, 10, int64((r.Rank+2)%3), 5)
			r.Isend(4, 10, int64((r.Rank+1)%3), 5)
			r.Waitall(5, 2)
		}
		r.End()
	}), o)
	if len(x.Messages) != 4 || losses["messages with one end outside the export"] != 8 {
		t.Errorf("%d messages; left out: %v", len(x.Messages), losses)
	}
	for _, m := range x.Messages {
		if m.From.Task != 1 || m.To.Task != 2 || m.Bytes != 10*8 && m.Bytes != 10*4 || m.Tag != 5 {
			t.Errorf("%+v", m)
		}
	}
}

// TestSorter: records come in the order of keys, equal ones in that in which they were added, however
// little fits into memory.
func TestSorter(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.Uint64Range(0, 20)).Draw(t, "keys")
		s := newSorter(dir, rapid.IntRange(1, 200).Draw(t, "memory"))
		type pair struct {
			key   uint64
			order int
		}
		var want, got []pair
		for i, key := range keys {
			want = append(want, pair{key, i})
			data := binary.AppendUvarint(nil, uint64(i))
			if err := s.add(key, append(data, make([]byte, i%5)...)); err != nil {
				t.Fatal(err)
			}
		}
		slices.SortStableFunc(want, func(a, b pair) int { return int(a.key) - int(b.key) })
		err := s.each(func(key uint64, data []byte) error {
			i, _ := binary.Uvarint(data)
			got = append(got, pair{key, int(i)})
			return nil
		})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v\n%v, want\n%v", err, got, want)
		}
	})
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left: %v", left, err)
	}
}

// TestNumbers: known functions have Extrae's numbers.
func TestNumbers(t *testing.T) {
	for name, want := range map[string]int{"MPI_Send": 1, "MPI_Allreduce": 10, "MPI_Finalize": 32, "MPI_Sendrecv": 41, "MPI_Iscan": 167} {
		if got := describe(&trace.Function{Name: name, ID: 3}); got.value != want {
			t.Errorf("%s is %d, want %d", name, got.value, want)
		}
	}
}
