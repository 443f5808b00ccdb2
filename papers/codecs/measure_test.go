package codecs

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/spoor-hpc/spoor/internal/timing/series"
)

func TestResult(t *testing.T) {
	keys := make([]uint32, 1000)
	gaps, durations := make([]uint64, 1000), make([]uint64, 1000)
	for i := range keys {
		keys[i], gaps[i], durations[i] = uint32(i%2), uint64(1000+i), uint64(10*i)
	}
	calls := series.CallInfo{Keys: keys, KeyBounds: []series.Bound{series.RelativeBound(0.1), {}}}
	for _, c := range series.Codecs() {
		r := New(c)
		if err := r.Add(c, Block{calls, series.Batch{Gaps: gaps, Durations: durations}, 1}); err != nil {
			t.Fatal(err)
		}
		exact := c.Name() == "raw" || c.Name() == "zstd" || c.Name() == "lossless"
		if r.Values != 2000 || r.MaxRelativeError > 0.1 || (r.MaxRelativeError == 0) != exact || math.IsInf(r.Gaps.PSNR(r), 1) != exact {
			t.Errorf("%+v", r)
		}
		if c.Name() == "raw" && (r.Ratio() != 1 || r.Gaps.Ratio(r) != 1) {
			t.Errorf("raw has ratio %g", r.Ratio())
		}
	}
}

// TestWritten: what is written is what a codec made, with no trace of it afterwards.
func TestWritten(t *testing.T) {
	folder := t.TempDir()
	files := func() (list []string) {
		list, err := filepath.Glob(filepath.Join(folder, ".*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	r := New(series.RawCodec{})
	if err := r.SetWriteFolder(folder); err != nil {
		t.Fatal(err)
	}
	block := Block{series.CallInfo{Keys: []uint32{0, 0}}, series.Batch{Gaps: []uint64{5, 1000}, Durations: []uint64{1, 2}}, 1}
	for range 3 {
		if err := r.Add(series.RawCodec{}, block); err != nil {
			t.Fatal(err)
		}
	}
	list := files()
	if len(list) != 1 {
		t.Fatal(list)
	}
	if st, err := os.Stat(list[0]); err != nil || st.Size() != r.EncodedBytes {
		t.Errorf("%d bytes, want %d, error %v", st.Size(), r.EncodedBytes, err)
	}
	if err := r.Close(); err != nil || r.Write <= 0 || files() != nil {
		t.Errorf("written in %v, left %v, error %v", r.Write, files(), err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// liar returns values beyond their bounds.
type liar struct{ series.RawCodec }

func (l liar) Decode(src []byte, want series.TimeLists, c *series.CallInfo) (series.Batch, error) {
	b, err := l.RawCodec.Decode(src, want, c)
	b.Gaps[1] += 200
	return b, err
}

func TestBeyondTheBound(t *testing.T) {
	calls := series.CallInfo{Keys: []uint32{0, 0}, Bound: series.RelativeBound(0.1)}
	if err := New(liar{}).Add(liar{}, Block{calls, series.Batch{Gaps: []uint64{5, 1000}, Durations: []uint64{1, 2}}, 1}); err == nil {
		t.Error("nothing was noticed")
	}
}
