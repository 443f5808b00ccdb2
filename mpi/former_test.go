package mpi

import "testing"

// What a number was renamed to is a constant of the kind, and no two are one.
func TestFormer(t *testing.T) {
	seen := make(map[constantKey]bool)
	for from, to := range former {
		if got := Former(from.kind, from.n); got != to {
			t.Errorf("%s %d became %d, want %d", from.kind, from.n, got, to)
		}
		if ConstantName(from.kind, to) == "" {
			t.Errorf("%s %d is no constant", from.kind, to)
		}
		if key := (constantKey{from.kind, to}); seen[key] {
			t.Errorf("two constants became %s %d", from.kind, to)
		} else {
			seen[key] = true
		}
	}
	if got := Former(KindRank, 401); got != 401 {
		t.Errorf("rank 401 became %d", got)
	}
}
