package code

import "testing"

func TestColdNames(t *testing.T) {
	for name, want := range map[string]bool{
		"f.cold": true, "f.cold.3": true, "f.part.0.cold": true, "f.cold.g.cold.12": true,
		"f": false, "f.cold.": false, "f.cold.x": false, "f.colder": false, "f.cold.1.x": false, "": false,
	} {
		if coldName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
