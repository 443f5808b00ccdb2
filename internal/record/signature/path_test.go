package signature

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		path string
		rank int
		want string
	}{
		{"out.00007", 7, "out.%05d"}, {"out.7", 7, "out.%d"}, {"out.12345", 12345, "out.%d"}, {"out.0", 0, "out.%d"}, {"out.000", 0, "out.%03d"},
		{"run1/out.00001", 1, "run1/out.%05d"}, {"out.00005.h5", 5, "out.%05d.h5"}, {"data", 3, "data"}, {"a17", 7, "a17"}, {"", 0, ""},
		{"x0000000000007", 7, "x0000000000007"}, {"1/1", 1, "1/%d"}, {"plain.txt", -1, "plain.txt"},
	} {
		b := string(FileTemplate([]byte(c.path), c.rank))
		if got := FileNameOfRank(b, -1); got != c.want {
			t.Errorf("%q of rank %d: %q, want %q", c.path, c.rank, got, c.want)
		}
		if back := FileNameOfRank(b, c.rank); back != c.path {
			t.Errorf("%q of rank %d comes back as %q", c.path, c.rank, back)
		}
	}
	if a, b := FileTemplate([]byte("out.00007"), 7), FileTemplate([]byte("out.00123"), 123); string(a) != string(b) {
		t.Errorf("%q and %q", a, b)
	}
}

// A name comes back as it was, whatever it is.
func TestTemplateIsLossless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := strings.ReplaceAll(rapid.StringMatching(`[a-z0-9./]{0,12}`).Draw(t, "path"), "\x00", "")
		rank := rapid.IntRange(-1, 120).Draw(t, "rank")
		if got := FileNameOfRank(string(FileTemplate([]byte(path), rank)), rank); got != path {
			t.Fatalf("%q of rank %d comes back as %q", path, rank, got)
		}
	})
}
