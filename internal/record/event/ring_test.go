package event

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// What a writer wrote is what a reader reads, around the ring's end any number
// of times.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, err := NewWriter(3, 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		var pos uint64
		for i := range rapid.IntRange(1, 200).Draw(t, "records") {
			n := rapid.IntRange(1, 40).Draw(t, "words")
			rest := make([]uint64, n)
			for k := range rest {
				rest[k] = uint64(i*100 + k)
			}
			if err := w.Write(uint16(i), KindLeave, 1, rest); err != nil {
				t.Fatal(err)
			}
			head, err := w.Ring.Head()
			if err != nil {
				t.Fatal(err)
			}
			rec := w.Ring.Record(pos, head)
			if rec != nil && rec.Kind() == KindSkip {
				pos += uint64(len(rec)) * 8
				rec = w.Ring.Record(pos, head)
			}
			if rec == nil {
				t.Fatal(w.Ring.Check(pos, head))
			}
			if rec.Kind() != KindLeave || rec.FunctionID() != uint16(i) || rec.Flags() != 1 || len(rec) != n+2 || rec[n+1] != rest[n-1] {
				t.Fatalf("record %d reads as %v", i, rec)
			}
			if pos += uint64(len(rec)) * 8; pos != head {
				t.Fatalf("record ends at %d, head is %d", pos, head)
			}
			w.Ring.SetReleased(pos)
		}
	})
}

// A ring without room says so instead of overwriting.
func TestFull(t *testing.T) {
	w, err := NewWriter(0, 256)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		if err := w.Write(1, KindLeave, 0, make([]uint64, 2)); err != nil {
			t.Fatal(err)
		}
	}
	if w.Write(1, KindLeave, 0, nil) == nil {
		t.Error("a full ring took another record")
	}
}

func TestOpenRefuses(t *testing.T) {
	whole := func() []uint64 {
		w, err := NewWriter(0, 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		return append(append([]uint64{}, w.Ring.header...), w.Ring.data...)
	}
	for name, spoil := range map[string]func(m []uint64) []uint64{
		"magic":       func(m []uint64) []uint64 { m[0]++; return m },
		"version":     func(m []uint64) []uint64 { m[1]++; return m },
		"capacity":    func(m []uint64) []uint64 { m[2]--; return m },
		"no capacity": func(m []uint64) []uint64 { m[2] = 0; return m },
		"huge":        func(m []uint64) []uint64 { m[2] = 1 << 50; return m },
		"head":        func(m []uint64) []uint64 { m[3] = 1<<10 + 8; return m },
		"odd head":    func(m []uint64) []uint64 { m[3] = 3; return m },
		"kept":        func(m []uint64) []uint64 { m[5] = 8; return m },
		"short":       func(m []uint64) []uint64 { return m[:len(m)-1] },
		"header":      func(m []uint64) []uint64 { return m[:100] },
	} {
		if _, err := OpenRing(spoil(whole())); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := OpenRing(whole()); err != nil {
		t.Error(err)
	}
}

// Whatever a ring holds, reading stays inside it and ends.
func FuzzRing(f *testing.F) {
	w, err := NewWriter(0, 256)
	if err != nil {
		f.Fatal(err)
	}
	w.Enter(1, 0, 2, 3, 4)
	w.Leave(1, 0, 5)
	f.Add(w.Bytes()[HeaderPageSize:], uint64(64), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, head, kept uint64) {
		w, err := NewWriter(0, 256)
		if err != nil {
			t.Fatal(err)
		}
		file := w.Bytes()
		copy(file[HeaderPageSize:], data)
		r, err := ParseRing(file)
		if err != nil {
			t.Fatal(err)
		}
		r.header[OffHead/8], r.header[OffReleased/8] = head, kept
		end, err := r.Head()
		if err != nil {
			return
		}
		for pos := r.Released(); pos < end; {
			rec := r.Record(pos, end)
			if err := r.Check(pos, end); (err == nil) != (rec != nil) {
				t.Fatalf("record %v, but check says %v", rec, err)
			} else if err != nil {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatal(err)
				}
				return
			}
			pos += uint64(len(rec)) * 8
		}
	})
}

// A ring is full when less than an eighth of it is left, or than its owner waits for.
func TestWanted(t *testing.T) {
	w, err := NewWriter(0, 1024)
	if err != nil {
		t.Fatal(err)
	}
	w.Ring.SetReleased(100 * 8)
	for _, tc := range []struct {
		wanted, pos uint64
		full        bool
	}{{0, 800 + 896, false}, {0, 800 + 904, true}, {64, 800 + 896, false}, {512, 800 + 512, false}, {512, 800 + 520, true}, {5000, 800, false}, {5000, 808, true}} {
		w.Ring.header[OffSpaceWanted/8] = tc.wanted
		if got := w.Ring.AlmostFull(tc.pos); got != tc.full {
			t.Errorf("at %d with %d wanted: %v", tc.pos-800, tc.wanted, got)
		}
	}
}
