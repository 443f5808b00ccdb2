package pack

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.Uint64().Draw(t, "u")
		i := rapid.Int64().Draw(t, "i")
		s := rapid.String().Draw(t, "s")
		list := rapid.SliceOf(rapid.Int64()).Draw(t, "list")
		var w Writer
		w.Uint(u)
		w.Int(i)
		w.String(s)
		w.Ints(list)
		w.Fixed(u)
		w.Bool(i > 0)
		r := NewReader(w.B)
		if got := r.Uint(); got != u {
			t.Fatalf("uint %d, want %d", got, u)
		}
		if got := r.Int(); got != i {
			t.Fatalf("int %d, want %d", got, i)
		}
		if got := r.String(); got != s {
			t.Fatalf("string %q, want %q", got, s)
		}
		got := r.Ints()
		if len(got) != len(list) {
			t.Fatalf("ints %v, want %v", got, list)
		}
		for k := range got {
			if got[k] != list[k] {
				t.Fatalf("ints %v, want %v", got, list)
			}
		}
		if got := r.Fixed(); got != u {
			t.Fatalf("fixed %d, want %d", got, u)
		}
		if got := r.Bool(); got != (i > 0) {
			t.Fatalf("bool %v", got)
		}
		if err := r.Done(); err != nil {
			t.Fatal(err)
		}
		for n := range w.B {
			cut := NewReader(w.B[:n])
			cut.Uint()
			cut.Int()
			_ = cut.String()
			cut.Ints()
			cut.Fixed()
			cut.Bool()
			if cut.Done() == nil {
				t.Fatalf("no error after %d of %d bytes", n, len(w.B))
			}
		}
	})
}
