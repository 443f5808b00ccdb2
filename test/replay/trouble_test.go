package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A call that takes too long ends the replay, and every rank says where it is.
func TestWatchdogNamesRanksAndCalls(t *testing.T) {
	p, err := readProgram("testdata/late.c")
	if err != nil {
		t.Fatal(err)
	}
	m := installed(t)[0]
	binary, err := p.build(m)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := m.record(dir, 2, binary); err != nil {
		t.Fatal(err)
	}
	out, err := m.run(dir, spoor(), "replay", "--mpi", m.name, "--timeout", "1s", "a.spoor")
	if err == nil {
		t.Errorf("the replay went on\n%s", out)
	}
	for _, want := range []string{"rank 1: waits for ", " in call 2, MPI_Recv(buf=", "rank 0: computes before call 2, MPI_Send("} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, tail(out))
		}
	}
	// Time that the program computed is no time in a call.
	if out, err := m.run(dir, spoor(), "replay", "--mpi", m.name, "--timeout", "1s", "--no-compute", "a.spoor"); err != nil {
		t.Errorf("without gaps: %v\n%s", err, tail(out))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".spoor-replay-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A trace made under one MPI replays under the other.
func TestReplayUnderAnotherMPI(t *testing.T) {
	list := installed(t)
	if len(list) < 2 {
		skip(t, "only one MPI is installed")
	}
	for i, name := range []string{"butterfly.c", "collectives.c", "datatypes.c", "wildcards.c"} {
		a, b := list[i%2], list[1-i%2]
		t.Run(name+" of "+a.name, func(t *testing.T) {
			t.Parallel()
			p, err := readProgram("../mpi/" + name)
			if err != nil {
				t.Fatal(err)
			}
			binary, err := p.build(a)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			if err := a.record(dir, p.few(), binary); err != nil {
				t.Fatal(err)
			}
			if out, err := b.replay(dir, "--no-compute"); err != nil {
				t.Fatalf("under %s: %v\n%s", b.name, err, tail(out))
			}
			if out, err := b.diff(dir); err != nil {
				t.Errorf("under %s other calls were made: %v\n%s", b.name, err, tail(out))
			}
		})
	}
}

// A file that the program wrote is not written over.
func TestReplayLeavesFilesAlone(t *testing.T) {
	p, err := readProgram("../apps/checkpoint.c")
	if err != nil {
		t.Fatal(err)
	}
	m := installed(t)[0]
	binary, err := p.build(m)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := m.record(dir, 2, binary, "-i", "2"); err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	if out, err := m.run(dir, spoor(), "replay", "-q", "--mpi", m.name, "--no-compute", "a.spoor"); err != nil {
		t.Fatalf("%v\n%s", err, tail(out))
	}
	if after := names(t, dir); after != before {
		t.Errorf("there were %s, now there are %s", before, after)
	}
	if out, err := m.run(dir, spoor(), "replay", "-q", "--mpi", m.name, "--no-compute", "--files", "kept", "a.spoor"); err != nil {
		t.Fatalf("%v\n%s", err, tail(out))
	}
	if _, err := os.Stat(filepath.Join(dir, "kept")); err != nil {
		t.Error(err)
	}
}

func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}
