package launch

import (
	"slices"
	"testing"
)

func TestNodes(t *testing.T) {
	for text, want := range map[string][]string{
		"":                     nil,
		"node7":                {"node7"},
		"a,b3":                 {"a", "b3"},
		"node[1-3,7]":          {"node1", "node2", "node3", "node7"},
		"n[08-10]-ib,login":    {"n08-ib", "n09-ib", "n10-ib", "login"},
		"r[1-2]n[0,2]":         {"r1n0", "r1n2", "r2n0", "r2n2"},
		"n[1-99999999999],m":   {"m"},
		"n[1-2":                {"n[1-2"},
		"n[x]":                 nil,
		"n[1-2000000],n[3-2],": nil,
	} {
		t.Setenv("SLURM_JOB_NODELIST", text)
		if got := Nodes(); !slices.Equal(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
	t.Setenv("SLURM_HET_SIZE", "2")
	t.Setenv("SLURM_JOB_NODELIST_HET_GROUP_0", "node1")
	t.Setenv("SLURM_JOB_NODELIST_HET_GROUP_1", "node[2-3]")
	if got := Nodes(); !slices.Equal(got, []string{"node1", "node2", "node3"}) {
		t.Errorf("of two parts: %q", got)
	}
}
