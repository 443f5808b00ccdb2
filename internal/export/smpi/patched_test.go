package smpi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Lines are filled in wherever they are by then.
func TestPatched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	p := newPatched(f)
	line := pad([]byte("3 compute 0\n"), blank)
	var at []int64
	for range 2*bufferSize/blank + 5 {
		at = append(at, p.position())
		p.add(line)
	}
	for i, where := range at {
		if i%3 == 0 {
			p.patch(where, pad([]byte("3 irecv 1 2 3\n"), blank))
		}
	}
	if err := p.close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) != len(at) {
		t.Fatalf("%d lines, want %d", len(lines), len(at))
	}
	for i, got := range lines {
		want := "3 compute 0"
		if i%3 == 0 {
			want = "3 irecv 1 2 3"
		}
		if strings.TrimRight(got, " ") != want || len(got) != blank-1 {
			t.Fatalf("line %d: %q", i, got)
		}
	}
}
