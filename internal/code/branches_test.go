package code

import (
	"fmt"
	"strings"
	"testing"
)

func TestBranches(t *testing.T) {
	text := func(list []Branch) string { return strings.ReplaceAll(fmt.Sprint(list), " <nil>}", "}") }
	for _, x := range []struct {
		name  string
		n     int
		apart [][2]int
		want  string
	}{
		{"in a row", 3, nil, "[]"},
		{"if, else", 2, [][2]int{{0, 1}}, "[{[{0 1 0 []} {1 2 0 []}]}]"},
		{"a call before, two in the first way, one behind", 5, [][2]int{{1, 3}, {2, 3}}, "[{[{1 3 0 []} {3 4 0 []}]}]"},
		{"switch", 3, [][2]int{{0, 1}, {0, 2}, {1, 2}}, "[{[{0 1 0 []} {1 2 0 []} {2 3 0 []}]}]"},
		{"if within else", 4, [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}}, "[{[{0 1 0 []} {1 4 0 [{[{1 2 0 []} {2 3 0 []}]}]}]}]"},
		{"two ifs", 4, [][2]int{{0, 1}, {2, 3}}, "[{[{0 1 0 []} {1 2 0 []}]} {[{2 3 0 []} {3 4 0 []}]}]"},
		{"goto into the other way", 4, [][2]int{{0, 1}, {1, 2}, {2, 3}}, "[]"},
		{"ways that are mixed", 4, [][2]int{{0, 1}, {0, 3}, {2, 1}, {2, 3}}, "[]"},
	} {
		got := text(Branches(x.n, func(i, j int) bool {
			for _, p := range x.apart {
				if p == [2]int{i, j} || p == [2]int{j, i} {
					return true
				}
			}
			return false
		}))
		if got != x.want {
			t.Errorf("%s: %s, want %s", x.name, got, x.want)
		}
	}
}
