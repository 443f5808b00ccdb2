package sections

import (
	"bytes"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

func sampleAllocs() AllocEvents {
	b := grammar.NewBuilder()
	for range 20 {
		b.Append(0)
		b.Append(1)
	}
	b.Append(2)
	col := func(v ...int64) column.Column {
		var c column.Column
		for _, x := range v {
			c.Append(x)
		}
		return c
	}
	return AllocEvents{
		Ranks: col(0, 2, 3), Streams: []*grammar.Grammar{b.Grammar()},
		List: []AllocColumns{
			{CallsSincePrevious: col(3, 3, 3), Segment: col(1, 1, 257), Size: col(100, 200, 5)},
			{IsFree: true, CallsSincePrevious: col(2, 9, 2), Segment: col(1, 1, 257), Size: col(0, 0, 0)},
			{CallsSincePrevious: col(0, 0, 0), Segment: col(513, 513, 513), Size: col(1<<40, 1<<40, 1<<40)},
		},
	}
}

func TestAllocsBinary(t *testing.T) {
	l := sampleAllocs()
	b := l.AppendBinary(nil)
	r := wire.NewReader(b, "lives")
	got := DecodeAllocs(r, 4)
	if err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.AppendBinary(nil), b) || got.List[0].Size.At(1) != 200 || got.List[2].Segment.At(2) != 513 {
		t.Errorf("came back as %+v", got)
	}
	for n := range b {
		r := wire.NewReader(b[:n], "lives")
		DecodeAllocs(r, 4)
		if r.Finish() == nil {
			t.Errorf("%d of %d bytes are enough", n, len(b))
		}
	}
}

// Whatever is read can be written again and means the same.
func FuzzDecodeAllocs(f *testing.F) {
	l := sampleAllocs()
	f.Add(l.AppendBinary(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := wire.NewReader(b, "lives")
		l := DecodeAllocs(r, 64)
		if r.Finish() != nil {
			return
		}
		again := l.AppendBinary(nil)
		r = wire.NewReader(again, "lives")
		l = DecodeAllocs(r, 64)
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(l.AppendBinary(nil), again) {
			t.Error("other bytes")
		}
	})
}
