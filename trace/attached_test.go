package trace

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// What was attached to calls comes back, and a trace without any has no section
// for it.
func TestValues(t *testing.T) {
	c := sample(t)
	plain, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	if r := reader(t, plain); r.hasSection(container.SectionAttachedValues) {
		t.Error("a section for nothing")
	}
	n := c.Classes[0].Terminals.Len()
	want := map[string][]AttachedStat{"b": make([]AttachedStat, n), "a": make([]AttachedStat, n)}
	want["a"][1] = AttachedStat{Count: 3, Sum: -30, Min: -20, Max: -1}
	want["b"][0] = AttachedStat{Count: 1, Sum: 5, Min: 5, Max: 5}
	want["b"][n-1] = AttachedStat{Count: 2, Sum: math.MaxInt64, Min: math.MinInt64, Max: math.MaxInt64}
	c.Classes[0].AttachedStats = want
	places := map[string][]sections.LeafAttachedSum{"b": {{Leaf: 0, Calls: 7, NumberCount: 1, Sum: 5}, {Leaf: 2, Calls: 4, NumberCount: 4, Sum: -math.MaxInt64}}}
	c.Classes[0].LeafAttachedSums = places
	file, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	r := reader(t, file)
	names, err := r.AttachedNames()
	if d := cmp.Diff([]string{"a", "b"}, names); d != "" || err != nil {
		t.Errorf("names: %v, %s", err, d)
	}
	got, err := r.AttachedStats(0)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("values: %v, -want +got:\n%s", err, d)
	}
	placed, err := r.placedValues(0)
	if d := cmp.Diff(places, placed); d != "" || err != nil {
		t.Errorf("values of places: %v, -want +got:\n%s", err, d)
	}
	if err := Check(r); err != nil {
		t.Error(err)
	}
	if other, err := r.AttachedStats(1); err != nil || len(other) != 2 || other["a"][0].Count != 0 {
		t.Errorf("another class: %v, %v", other, err)
	}
}

func reader(t *testing.T, file []byte) *Reader {
	t.Helper()
	r, err := ReadBytes(file, "test")
	if err != nil {
		t.Fatal(err)
	}
	return r
}
