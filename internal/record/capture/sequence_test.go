package capture

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"pgregory.net/rapid"
)

// Whatever is packed when, and saved and loaded in between, the terminals are those that
// were appended.
func TestSequence(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := ""
		if rapid.Bool().Draw(t, "file") {
			path = filepath.Join(dir, "grammar")
		}
		q := newSequence(path, 1)
		defer func() { q.parts.close() }()
		var want []uint32
		for _, part := range rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 5), 0, 40), 0, 6).Draw(t, "parts") {
			for _, n := range part {
				q.Append(n)
				want = append(want, n)
			}
			switch rapid.IntRange(0, 2).Draw(t, "then") {
			case 0:
				q.settle()
			case 1: // as who reads what a process left: its file stays as it is
				if q.parts.file != nil {
					q.parts.close()
					path = ""
				}
				saved := wire.AppendEncoded(nil, func(c *wire.Coder) { q.code(c, 6) })
				old := q.parts.size
				q = newSequence(path, 1)
				if err := wire.DecodeAll(saved, "sequence", func(c *wire.Coder) { q.code(c, 6) }); err != nil {
					t.Fatal(err)
				}
				if err := q.parts.resume(filepath.Join(dir, "grammar")); err != nil || q.parts.size != old {
					t.Fatalf("%d bytes, not %d: %v", q.parts.size, old, err)
				}
			}
			if q.Len() != uint64(len(want)) {
				t.Fatalf("%d terminals, want %d", q.Len(), len(want))
			}
		}
		g, err := q.Grammar(6, false)
		if err == nil {
			err = g.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Collect(g.All()); !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
	})
}

// Parts that are damaged, cut short or of another program are told of.
func TestSequenceDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "grammar")
	q := newSequence(path, 1)
	defer q.parts.close()
	for n := range uint32(100) {
		q.Append(n * n % 50)
		q.settle()
	}
	saved := wire.AppendEncoded(nil, func(c *wire.Coder) { q.code(c, 50) })
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(file []byte, n int) error {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		q := newSequence("", 1)
		if err := wire.DecodeAll(saved, "sequence", func(c *wire.Coder) { q.code(c, n) }); err != nil {
			return err
		}
		if err := q.parts.resume(path); err != nil {
			return err
		}
		_, err := q.Grammar(n, false)
		return err
	}
	if err := read(whole, 50); err != nil {
		t.Fatal(err)
	}
	if err := read(append(bytes.Clone(whole), "of parts that came later"...), 50); err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1 << (i % 8)
		if read(b, 50) == nil {
			t.Fatalf("byte %d changed, and nothing said", i)
		}
	}
	if read(whole[:len(whole)-1], 50) == nil || read(whole, 30) == nil {
		t.Fatal("a file cut short, or terminals that nobody knows, and nothing said")
	}
}
