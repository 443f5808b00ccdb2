package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// The watch says where each thread is, and leaves a mark for the other ranks.
func TestWatch(t *testing.T) {
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.Recv(1, 4, 0, 1)
		r.End()
	})
	dir := t.TempDir()
	f := &fake{}
	var w Watchdog
	var p *Process
	exits := 0
	w = Watchdog{Timeout: time.Second, Dir: dir, Exit: func(code int) { exits += code }}
	f.on = map[string]func(c *Call){"MPI_Recv": func(c *Call) {
		if w.look(p, f.now) {
			t.Error("gave up at once")
		}
		lines := p.ThreadStatusLines(f.now + int64(2*time.Second))
		if len(lines) != 1 || !strings.Contains(lines[0], "rank 0: waits for 2s in call 1, MPI_Recv(") {
			t.Errorf("where: %q", lines)
		}
		if !w.look(p, f.now+int64(2*time.Second)) || exits != ExitCodeStuck {
			t.Errorf("did not give up; exit codes sum to %d", exits)
		}
	}}
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = NewProcess(r, k, f, mpi.FlavourMPICH, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := p.Streams()[0].Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, mark)); err != nil {
		t.Errorf("no mark for the other ranks: %v", err)
	}
	if err := p.WriteReport(dir); err != nil {
		t.Fatal(err)
	}
	if got := p.Report(); got.Calls != 3 || got.DifferentResults != 0 || got.MPINs != 30 {
		t.Errorf("report %+v", got)
	}
}

// The watch knows which of the calls that are made at one go is under way, and since when.
func TestWatchInTheMidst(t *testing.T) {
	const tests = repeatsAtOnce + 10
	r, k := inVain(t, tests)
	f := &fake{now: 1e6, on: make(map[string]func(c *Call))}
	p, err := NewProcess(r, k, f, mpi.FlavourMPICH, Options{Pace: PaceGaps})
	if err != nil {
		t.Fatal(err)
	}
	f.on["MPI_Irecv"] = f.makes(6, 4)
	w := Watchdog{Timeout: 15, Exit: func(int) {}} // a call takes 10
	number := 2
	f.on["MPI_Test"] = func(c *Call) {
		lines := p.ThreadStatusLines(c.BeginNs + 5e6)
		if want := fmt.Sprintf("waits for 5ms in call %d, MPI_Test(", number); len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("%q is not in %q", want, lines)
		}
		if number++; w.look(p, f.now) {
			t.Error("the time of calls before is taken for its own")
		}
	}
	f.on["MPI_Wait"] = func(*Call) {
		if lines := p.ThreadStatusLines(f.now); !strings.Contains(lines[0], fmt.Sprintf("in call %d, MPI_Wait(", number)) {
			t.Errorf("after the tests: %q", lines)
		}
	}
	if err := p.Streams()[0].Run(); err != nil {
		t.Fatal(err)
	}
	if number != 2+tests {
		t.Errorf("%d calls were seen", number-2)
	}
}
