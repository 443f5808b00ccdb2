package trace

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// Costs add up to the sections that they are of.
func TestCosts(t *testing.T) {
	file, err := sections.EncodeFile(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadBytes(file, "sample")
	if err != nil {
		t.Fatal(err)
	}
	costs, err := r.StorageCosts()
	if err != nil {
		t.Fatal(err)
	}
	sum := make(map[string]int64)
	for _, c := range costs {
		sum[c.Section] += c.RawBytes
		if c.RawBytes <= 0 || c.Occurrences <= 0 || c.Parameter == "" || c.StoredBytes > float64(c.RawBytes) {
			t.Errorf("%+v", c)
		}
	}
	for _, s := range r.Sections() {
		switch s.Name {
		case "ranks", "signatures", "classes", "columns", "times", "lanes":
			if sum[s.Name] != s.RawBytes {
				t.Errorf("%s: %d bytes accounted for, of %d", s.Name, sum[s.Name], s.RawBytes)
			}
		}
	}
}
