package trace

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// Costs add up to the sections that they are of.
func TestCosts(t *testing.T) {
	file, err := sections.Encode(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewBytes(file, "sample")
	if err != nil {
		t.Fatal(err)
	}
	costs, err := r.Costs()
	if err != nil {
		t.Fatal(err)
	}
	sum := make(map[string]int64)
	for _, c := range costs {
		sum[c.Section] += c.Raw
		if c.Raw <= 0 || c.Count <= 0 || c.Value == "" || c.Stored > float64(c.Raw) {
			t.Errorf("%+v", c)
		}
	}
	for _, s := range r.Sections() {
		switch s.Name {
		case "ranks", "signatures", "classes", "columns", "times", "lanes":
			if sum[s.Name] != s.Raw {
				t.Errorf("%s: %d bytes accounted for, of %d", s.Name, sum[s.Name], s.Raw)
			}
		}
	}
}
