package shim

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// phasesOf runs phases.c and returns the calls of each phase on rank 1.
func phasesOf(t *testing.T, m *mpis.MPI, env ...string) map[string]string {
	t.Helper()
	dir, scratch := t.TempDir(), t.TempDir()
	r := run(t, m, dir, append([]string{"LD_PRELOAD=" + library(t), "SPOOR_SCRATCH=" + scratch}, env...), 2, compile(t, m.CC, "phases.c", "phases"))
	if said := spoorLines(r); r.Err != nil || strings.Count(r.Stdout, "rank done") != 2 || len(said) > 0 {
		t.Fatalf("%v\n%s%s", r.Err, r.Stdout, r.Stderr)
	}
	checkFiles(t, dir, scratch, true)
	read, err := trace.Open(filepath.Join(dir, "phases.spoor"))
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if err := trace.Check(read); err != nil {
		t.Fatal(err)
	}
	k, err := read.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	names, err := ops.PhaseNames(read, []int{1})
	if err != nil {
		t.Fatal(err)
	}
	phases := make(map[string]string)
	for _, name := range names {
		p, err := ops.PhasesOf(k, 0, name)
		if err != nil {
			t.Fatal(err)
		}
		var calls []string
		for s := range p.All() {
			for c, err := range k.CallsFrom(0, s.First) {
				if err != nil {
					t.Fatal(err)
				}
				if c.Index == s.End {
					break
				}
				calls = append(calls, strings.TrimPrefix(c.Name(), "MPI_"))
			}
		}
		phases[name] = strings.Join(calls, " ")
	}
	return phases
}

// Phases are called by the names that MPI_Pcontrol is passed, if that is asked for, and by those that a plugin gives them.
func TestPhases(t *testing.T) {
	end := "Barrier Bcast Barrier Reduce Barrier Barrier Finalize"
	plain := map[string]string{
		"1":  strings.TrimSpace(strings.Repeat("Pcontrol Barrier Barrier Pcontrol Allreduce ", 3)),
		"-1": strings.TrimSpace(strings.Repeat("Pcontrol Barrier ", 3)), "2": "Pcontrol", "3": strings.Repeat("Pcontrol ", 6) + end,
	}
	named := maps.Clone(plain)
	named["assemble"] = strings.TrimSpace(strings.Repeat("Pcontrol Barrier Barrier ", 3))
	named["solve"] = strings.TrimSpace(strings.Repeat("Pcontrol Allreduce ", 3))
	named["edge"] = "Pcontrol"
	plugged := maps.Clone(plain)
	plugged["3"] = strings.Repeat("Pcontrol ", 6) + "Barrier"
	plugged["broadcast"], plugged["behind"] = "Bcast Barrier Reduce", "Barrier Barrier Finalize"
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			phaser := "SPOOR_PLUGIN=" + plugin(t, m, "testdata/phaser.c")
			for _, x := range []struct {
				env  []string
				want map[string]string
			}{
				{nil, plain}, {[]string{"SPOOR_PHASE_NAMES=1"}, named}, {[]string{phaser}, plugged}, {[]string{phaser, "SPOOR_STACK=8"}, plugged},
				{[]string{"SPOOR_PHASE_NAMES=1", "SPOOR_STACK=4"}, named},
			} {
				if d := cmp.Diff(x.want, phasesOf(t, m, x.env...)); d != "" {
					t.Errorf("%v: -want +got:\n%s", x.env, d)
				}
			}
		})
	}
}

// Of more phases than a thread may have the last begin none by name, and it is said once.
func TestManyPhases(t *testing.T) {
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			dir, scratch := t.TempDir(), t.TempDir()
			r := run(t, m, dir, []string{"LD_PRELOAD=" + library(t), "SPOOR_SCRATCH=" + scratch, "SPOOR_PHASE_NAMES=1"}, 1, compile(t, m.CC, "phases.c", "phases"), "many")
			if said := spoorLines(r); r.Err != nil || len(said) != 1 || !strings.Contains(said[0], "more than 4096 phases") {
				t.Fatalf("%v, %q\n%s%s", r.Err, said, r.Stdout, r.Stderr)
			}
			read, err := trace.Open(filepath.Join(dir, "phases.spoor"))
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			names, err := ops.PhaseNames(read, nil)
			if err != nil {
				t.Fatal(err)
			}
			steps := 0
			for _, name := range names {
				if strings.HasPrefix(name, "step ") {
					steps++
				}
			}
			if steps != 4096 {
				t.Errorf("%d phases, want 4096", steps)
			}
		})
	}
}
