package convert

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// TestWriter: what comes out is what went in, in whatever pieces.
func TestWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out, want bytes.Buffer
		w := NewBackgroundWriter(&out)
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, 3*size), 0, 12).Draw(t, "pieces") {
			b := bytes.Repeat([]byte{byte(i)}, n)
			want.Write(b)
			if got, err := w.Write(b); err != nil || got != n {
				t.Fatal(got, err)
			}
			clear(b) // it is the caller's again
		}
		if err := w.Close(); err != nil || !bytes.Equal(out.Bytes(), want.Bytes()) {
			t.Fatalf("%v; %d bytes of %d", err, out.Len(), want.Len())
		}
	})
}

// A full takes so many bytes.
type full struct{ left int }

var errFull = errors.New("no space left")

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestFull: where nothing can be written any more, whoever writes learns of it, at the latest when all is to be there.
func TestFull(t *testing.T) {
	w := NewBackgroundWriter(&full{size})
	b := make([]byte, size)
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		_, err = w.Write(b)
	}
	if !errors.Is(err, errFull) || !errors.Is(w.Close(), errFull) {
		t.Errorf("%v", err)
	}
	w = NewBackgroundWriter(&full{})
	if _, err := w.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, errFull) {
		t.Error(err)
	}
}
