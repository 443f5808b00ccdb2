package launch

import (
	"slices"
	"strings"
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
		if got := JobNodes(); !slices.Equal(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
	t.Setenv("SLURM_HET_SIZE", "2")
	t.Setenv("SLURM_JOB_NODELIST_HET_GROUP_0", "node1")
	t.Setenv("SLURM_JOB_NODELIST_HET_GROUP_1", "node[2-3]")
	if got := JobNodes(); !slices.Equal(got, []string{"node1", "node2", "node3"}) {
		t.Errorf("of two parts: %q", got)
	}
}

func TestExpand(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "")
	if name, err := ExpandJobName("app-%j.spoor"); name != "app-%j.spoor" || err != nil {
		t.Errorf("outside of a job: %s, %v", name, err)
	}
	t.Setenv("SLURM_JOB_ID", "17")
	t.Setenv("SLURM_ARRAY_JOB_ID", "16")
	t.Setenv("SLURM_ARRAY_TASK_ID", "3")
	t.Setenv("SLURM_JOB_NODELIST", "node[2-3]")
	t.Setenv("SLURM_JOB_NAME", "")
	for name, want := range map[string]string{"%j-%A_%a.%N%%": "17-16_3.node2%", "a": "a", "a%": "a%", "%x": "", "%q": ""} {
		if got, err := ExpandJobName(name); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestKeeps(t *testing.T) {
	for export, lines := range map[string]map[string]string{
		"":     {"srun -n 2 ./a": "", "srun --export=NONE ./a": "--export=NONE", "srun --export A,B ./a": "--export=A,B", "srun --export=ALL,A=1 ./a": ""},
		"NONE": {"srun ./a": "SLURM_EXPORT_ENV=NONE", "srun --export=ALL ./a": ""},
	} {
		t.Setenv("SLURM_EXPORT_ENV", export)
		for line, want := range lines {
			if got := WhatBlocksEnvironment(strings.Fields(line)); got != want {
				t.Errorf("%s of a job with %q: %q", line, export, got)
			}
		}
	}
}
