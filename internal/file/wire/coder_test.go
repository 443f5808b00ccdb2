package wire

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// What is mixed comes back, whatever it is.
func TestMixRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "unit")
		data := bytes.Repeat(unit, rapid.IntRange(1, 60).Draw(t, "times"))
		data = append(data, rapid.SliceOf(rapid.ByteRange(0, 3)).Draw(t, "tail")...)
		frame, ok := CompressContextMixing(data)
		if again, smaller := CompressContextMixing(data); smaller != ok || !bytes.Equal(again, frame) {
			t.Fatalf("mixed twice: %d bytes, %v, and %d, %v", len(frame), ok, len(again), smaller)
		}
		if !ok {
			return
		}
		if fresh, _ := CompressPrimedMixing(nil, data); !bytes.Equal(fresh, frame) {
			t.Fatal("what is remembered differs from what mixing gives")
		}
		got, err := DecompressContextMixing(frame, uint64(len(data)))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes came back as %d, error %v", len(data), len(got), err)
		}
	})
}

// Repetition costs next to nothing, and a frame can't claim to hold more than
// any frame does.
func TestMixBounds(t *testing.T) {
	data := bytes.Repeat([]byte("rank+1 "), 5000)
	frame, ok := CompressContextMixing(data)
	if !ok || len(frame) > len(data)/50 {
		t.Errorf("%d bytes of repetition take %d", len(data), len(frame))
	}
	if _, ok := CompressContextMixing(make([]byte, maxMixed+1)); ok {
		t.Error("data too long for mixing were taken")
	}
	if _, err := DecompressContextMixing(frame, maxMixed+1); err == nil {
		t.Error("a frame of more than the maximum was read")
	}
	if got, err := DecompressContextMixing(nil, 300); err == nil && len(got) != 300 {
		t.Errorf("%d bytes instead of 300", len(got))
	}
}

func BenchmarkMix(b *testing.B) {
	var data []byte
	for i := range 20000 {
		data = AppendVarint(data, int64(i*i%977))
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		CompressPrimedMixing(nil, data)
	}
}

// Any frame stands for some data of the size asked for, or is refused.
func FuzzUnmix(f *testing.F) {
	frame, _ := CompressContextMixing(bytes.Repeat([]byte("rank+1 "), 50))
	f.Add(frame, uint16(350))
	f.Add([]byte{}, uint16(9))
	f.Fuzz(func(t *testing.T, frame []byte, size uint16) {
		data, err := DecompressContextMixing(frame, uint64(size))
		if err == nil && len(data) != int(size) {
			t.Errorf("%d bytes, %d wanted", len(data), size)
		}
	})
}

// A model that has learned ahead gives the same bytes, once; the next data find none.
func TestLearnAhead(t *testing.T) {
	known, data := bytes.Repeat([]byte("what is known "), 20), []byte("what is new of what is known")
	want, ok := CompressPrimedMixing(known, data)
	if !ok {
		t.Fatal("not smaller")
	}
	PreparePrimedMixing(known, len(data))
	for range 2 {
		if got, _ := CompressPrimedMixing(known, data); !bytes.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
	}
	PreparePrimedMixing(known, 0)
	if got, err := DecompressPrimedContextMixing([]byte("else"), want, uint64(len(data))); err == nil && bytes.Equal(got, data) {
		t.Error("a model that knows other data was used")
	}
	if got, err := DecompressPrimedContextMixing(known, want, uint64(len(data))); err != nil || !bytes.Equal(got, data) {
		t.Errorf("got %q, %v", got, err)
	}
}
