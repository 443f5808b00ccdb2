package wire

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, v := rapid.Uint64().Draw(t, "u"), rapid.Int64().Draw(t, "v")
		s := rapid.String().Draw(t, "s")
		b := AppendUvarint(nil, u)
		if len(b) != UvarintLen(u) {
			t.Fatalf("%d takes %d bytes, not %d", u, len(b), UvarintLen(u))
		}
		b = AppendVarint(b, v)
		b = AppendString(b, s)
		b = AppendUint64(b, u)
		b = AppendUint32(b, uint32(u))
		b = AppendString(b, s)
		r := NewReader(b, "test")
		if r.Uvarint() != u || r.Varint() != v || r.String() != s || r.Uint64() != u || r.Uint32() != uint32(u) ||
			string(r.Blob()) != s {
			t.Fatal("not what was written")
		}
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		for n := range b {
			r := NewReader(b[:n], "test")
			r.Uvarint()
			r.Varint()
			_ = r.String()
			r.Uint64()
			r.Uint32()
			r.Blob()
			if r.Finish() == nil {
				t.Fatalf("nothing wrong with the first %d of %d bytes", n, len(b))
			}
		}
	})
}

func TestCountIsBoundedByInput(t *testing.T) {
	r := NewReader(append(AppendUvarint(nil, 1<<40), 1, 2, 3), "directory")
	if n := r.Count(1); n != 0 || r.Err() == nil {
		t.Errorf("count %d, error %v", n, r.Err())
	}
	if err := r.Err(); err == nil || !strings.HasPrefix(err.Error(), "directory: ") {
		t.Errorf("error %v doesn't say where", err)
	}
}

func TestCompress(t *testing.T) {
	data := bytes.Repeat([]byte("MPI_Send, MPI_Recv. "), 500)
	for _, best := range []bool{false, true} {
		frame, ok := CompressZstd(data, best)
		if !ok {
			t.Fatal("doesn't compress")
		}
		got, err := DecompressZstd(frame, uint64(len(data)))
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("error %v", err)
		}
		for _, size := range []int{0, len(data) - 1, len(data) + 1, 1 << 40} {
			if _, err := DecompressZstd(frame, uint64(size)); err == nil {
				t.Errorf("a frame of %d bytes passes for %d", len(data), size)
			}
		}
	}
	if _, ok := CompressZstd([]byte{1, 2, 3}, true); ok {
		t.Error("three bytes got smaller")
	}
	if !testing.Short() { // a quarter of a gigabyte
		if _, ok := CompressZstd(make([]byte, 1<<28), false); ok {
			t.Error("compressed beyond what Expand takes")
		}
	}
}

func FuzzExpand(f *testing.F) {
	frame, _ := CompressZstd(bytes.Repeat([]byte("abc"), 100), true)
	f.Add(frame, uint32(300))
	f.Fuzz(func(t *testing.T, frame []byte, size uint32) {
		if got, err := DecompressZstd(frame, uint64(size)); err == nil && len(got) != int(size) {
			t.Fatalf("%d bytes, %d declared", len(got), size)
		}
	})
}
