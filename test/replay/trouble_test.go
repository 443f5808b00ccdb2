package replay

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

// A call that takes too long ends the replay, and every rank says where it is.
func TestWatchdogNamesRanksAndCalls(t *testing.T) {
	m := installed(t)[0]
	binary, err := build(m, "testdata/late.c")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := record(m, dir, 2, binary); err != nil {
		t.Fatal(err)
	}
	out, err := spoor(m, dir, "replay", "--mpi", m.Name, "--timeout", "1s", "a.spoor")
	if err == nil {
		t.Errorf("the replay went on\n%s", out)
	}
	for _, want := range []string{"rank 1: waits for ", " in call 2, MPI_Recv(buf=", "rank 0: computes before call 2, MPI_Send("} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, mpis.Tail(out))
		}
	}
	// Time that the program computed is no time in a call.
	if out, err := spoor(m, dir, "replay", "--mpi", m.Name, "--timeout", "1s", "--no-compute", "a.spoor"); err != nil {
		t.Errorf("without gaps: %v\n%s", err, mpis.Tail(out))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".spoor-replay-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A replay that hangs ends too: the program needs an MPI that keeps its messages, and
// the replay gets one that does not.
func TestWatchdogEndsWhatHangs(t *testing.T) {
	m := installed(t)[0]
	if m.Family != "openmpi" {
		need.Absent(t, "which messages are kept is set for Open MPI, which is not installed")
	}
	binary, err := build(m, "testdata/unsafe.c")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const limit = "OMPI_MCA_btl_vader_eager_limit"
	t.Setenv(limit, "65536")
	t.Setenv("OMPI_MCA_btl", "self,vader")
	if err := record(m, dir, 2, binary); err != nil {
		t.Fatal(err)
	}
	t.Setenv(limit, "1024")
	began := time.Now()
	out, err := spoor(m, dir, "replay", "--mpi", m.Name, "--timeout", "6s", "a.spoor")
	if took := time.Since(began); err == nil || took > time.Minute {
		t.Errorf("the replay ended after %v: %v\n%s", took, err, mpis.Tail(out))
	}
	for rank := range 2 {
		if want := fmt.Sprintf("rank %d: waits for 6", rank); !strings.Contains(out, want) || !strings.Contains(out, "in call 2, MPI_Send(") {
			t.Errorf("%q is not in\n%s", want, mpis.Tail(out))
		}
	}
}

// A trace made under one MPI replays under the other: a sample in CI, with
// SPOOR_TEST_REPLAY=all every program that both run. It makes the same calls, with what
// the other library answers, or says before it starts why not.
func TestReplayUnderAnotherMPI(t *testing.T) {
	list := installed(t)
	if len(list) < 2 {
		need.Absent(t, "only one MPI is installed")
	}
	all := mpis.NeedPrograms(t)
	sample := []string{"butterfly.c", "collectives.c", "datatypes.c", "wildcards.c", "bottom.c", "attr_finalize.c", "fortran_numbers.c"}
	var y tally
	t.Run("all", func(t *testing.T) {
		for i, a := range list {
			b := list[1-i]
			for _, p := range all {
				n := slices.Index(sample, p.Name)
				if !p.RunsOn(a) || !p.RunsOn(b) || os.Getenv("SPOOR_TEST_REPLAY") != "all" && n%2 != i {
					continue
				}
				pair := a.Name + " to " + b.Name
				if results.Known(pair, p.Name, p.Few()) {
					continue
				}
				t.Run(a.Name+"/"+p.Name, func(t *testing.T) {
					t.Parallel()
					y.run(t, pair, p.Name, p.Few(), func() string { return across(t, a, b, p) })
				})
			}
		}
	})
	t.Logf("programs: %v", y.count)
}

// across replays the trace of a program under another MPI.
func across(t *testing.T, a, b *mpis.MPI, p *mpis.Program) string {
	t.Helper()
	binary, err := build(a, p.Path)
	if err != nil {
		t.Error(err)
		return "failed"
	}
	return acrossOf(t, a, b, t.TempDir(), p.Few(), append([]string{binary}, p.Args...)...)
}

func acrossOf(t *testing.T, a, b *mpis.MPI, dir string, ranks int, command ...string) string {
	t.Helper()
	if err := record(a, dir, ranks, command...); err != nil {
		t.Error(err)
		return "failed"
	}
	out, err := replay(b, dir, "--no-compute")
	switch {
	case err != nil && strings.Contains(out, "can't be made again"):
		t.Logf("refused: %s", mpis.Tail(out))
		return "refused"
	case err != nil:
		t.Errorf("under %s: %v\n%s", b.Name, err, mpis.Tail(out))
		return "failed"
	}
	out, err = compare(b, dir)
	if err == nil {
		return "equal"
	}
	if why := sameQuestions(t, filepath.Join(dir, "a.spoor"), filepath.Join(dir, "b.spoor")); why != "" {
		t.Errorf("under %s other calls were made: %s\n%s", b.Name, why, mpis.Tail(out))
		return "failed"
	}
	t.Logf("%s answers otherwise:\n%s", b.Name, mpis.Tail(out))
	return "the same calls with other answers"
}

// sameQuestions reports whether two traces have the same functions in the same order
// with the same values going in: all but what stands for something that the MPI made
// or answered before, and addresses. It returns what differs.
func sameQuestions(t *testing.T, a, b string) string {
	t.Helper()
	ra, err := trace.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	defer ra.Close()
	rb, err := trace.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	defer rb.Close()
	for rank := range ra.Ranks() {
		x, err := ra.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		y, err := rb.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for stream := range x.Streams() {
			if stream >= y.Streams() || x.CallCount(stream) != y.CallCount(stream) {
				return fmt.Sprintf("rank %d has other threads or numbers of calls", rank)
			}
			next, stop := iter.Pull2(y.Calls(stream))
			defer stop()
			for c, err := range x.Calls(stream) {
				d, err2, _ := next()
				if err := errors.Join(err, err2); err != nil {
					t.Fatal(err)
				}
				if !sameQuestion(c, d) {
					return fmt.Sprintf("rank %d, call %d: %s and %s", rank, c.Index, c.Text(), d.Text())
				}
			}
		}
	}
	return ""
}

func sameQuestion(c, d *trace.Call) bool {
	if c.Name() != d.Name() {
		return false
	}
	for i := range c.Params {
		switch c.Params[i].Kind() {
		case mpi.KindKeyval, mpi.KindError, mpi.KindErrorClass, mpi.KindFint: // the MPI's own numbers
			continue
		}
		if !sameInput(&c.Params[i].In, &d.Params[i].In) {
			return false
		}
	}
	return true
}

func sameInput(v, w *trace.Value) bool {
	if v.Type != w.Type {
		return false
	}
	switch v.Type {
	case trace.TypeInt:
		const address = 1 << 40
		return v.Num == w.Num || v.Num > address && w.Num > address
	case trace.TypeHandle, trace.TypeMPITObject:
		return v.Num == w.Num || v.Num >= trace.FirstCreatedHandle && (w.Num >= trace.FirstCreatedHandle || w.Num == trace.UnknownHandle)
	case trace.TypeRequest:
		return v.RequestForm == w.RequestForm && v.RequestID == w.RequestID
	case trace.TypeString:
		return v.Text == w.Text
	case trace.TypeArray:
		return v.Num == w.Num && slices.EqualFunc(v.Elems, w.Elems, func(x, y trace.Value) bool { return sameInput(&x, &y) })
	}
	return true
}

// Files of the names that the program used are neither written nor deleted: the program
// deletes its own in the end, and here the user has put others in their place.
func TestReplayLeavesFilesAlone(t *testing.T) {
	m := installed(t)[0]
	binary, err := build(m, "../apps/checkpoint.c")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := record(m, dir, 2, binary, "-i", "2"); err != nil {
		t.Fatal(err)
	}
	dump, err := spoor(m, dir, "dump", "a.spoor")
	if err != nil {
		t.Fatal(err)
	}
	checkpoints := make(map[string]bool)
	for _, found := range regexp.MustCompile(`MPI_File_open\(.*filename="([^"]+)"`).FindAllStringSubmatch(dump, -1) {
		checkpoints[found[1]] = true
	}
	if len(checkpoints) == 0 {
		t.Fatal("the program opens no files")
	}
	for name := range checkpoints {
		if err := os.WriteFile(name, []byte("mine"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	before := names(t, dir)
	if out, err := spoor(m, dir, "replay", "-q", "--mpi", m.Name, "--no-compute", "a.spoor"); err != nil {
		t.Fatalf("%v\n%s", err, mpis.Tail(out))
	}
	if after := names(t, dir); after != before {
		t.Errorf("there were %s, now there are %s", before, after)
	}
	for name := range checkpoints {
		if b, err := os.ReadFile(name); err != nil || string(b) != "mine" {
			t.Errorf("%s has become %q, %v", name, b, err)
		}
	}
	if out, err := spoor(m, dir, "replay", "-q", "--mpi", m.Name, "--no-compute", "--files", "kept", "a.spoor"); err != nil {
		t.Fatalf("%v\n%s", err, mpis.Tail(out))
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

// What a wait for all left under way (MPI_ERR_PENDING) ends where the trace has it: a receive from any source takes what it got.
func TestPending(t *testing.T) {
	for _, p := range mpis.NeedPrograms(t) {
		for _, m := range installed(t) {
			if p.Name == "pending.c" && p.RunsOn(m) {
				t.Run(m.Name, func(t *testing.T) {
					if got := same(t, m, p, 2); got != "equal" {
						t.Error(got)
					}
				})
			}
		}
	}
}
