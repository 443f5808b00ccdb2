package convert

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const blank = 64

func pad(text string) []byte { return fmt.Appendf(nil, "%-*s\n", blank-1, text) }

// Lines are filled in wherever they are by then.
func TestPatched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPatchedFile(f)
	line := pad("3 compute 0")
	var at []int64
	for range 2*bufferSize/blank + 5 {
		at = append(at, p.Position())
		p.Append(line)
	}
	for i, where := range at {
		if i%3 == 0 {
			p.Patch(where, pad("3 irecv 1 2 3"))
		}
	}
	if err := p.Close(); err != nil {
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
