package recover_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/run/recover"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/test/recovertest"
	"github.com/spoor-hpc/spoor/trace"
)

func write(t *testing.T, parent string, p recovertest.Process) string {
	t.Helper()
	dir, err := recovertest.Write(parent, p)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, parent string) []*recover.Process {
	t.Helper()
	dirs, err := recover.ProcessDirs(parent)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	list := recover.ReadProcesses(dirs, func() { steps++ })
	if steps != len(dirs) || len(list) != len(dirs) {
		t.Fatalf("%d directories, %d steps, %d processes", len(dirs), steps, len(list))
	}
	return list
}

// endings writes the world's trace and reads back how its ranks ended.
func endings(t *testing.T, w *recover.World) (*trace.Reader, []recover.Ending) {
	t.Helper()
	c, err := w.Content("test")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.spoor")
	if err := sections.WriteFile(path, c, false); err != nil {
		t.Fatal(err)
	}
	r, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if err := trace.Check(r); err != nil {
		t.Fatal(err)
	}
	list, err := w.Endings(r)
	if err != nil {
		t.Fatal(err)
	}
	return r, list
}

// One rank finished, one died between calls, one inside a call; of the fourth
// there is nothing.
func TestMixedEnds(t *testing.T) {
	parent := t.TempDir()
	for rank, end := range []string{recovertest.Finished, recovertest.Crashed, recovertest.Inside} {
		write(t, parent, recovertest.Process{Rank: rank, Ranks: 4, Loops: 10 + rank, End: end})
	}
	worlds := recover.GroupIntoWorlds(read(t, parent))
	if len(worlds) != 1 || worlds[0].Ranks != 4 || !slices.Equal(worlds[0].Missing(), []int{3}) {
		t.Fatalf("worlds %+v", worlds)
	}
	r, list := endings(t, worlds[0])
	if got := r.Meta()[trace.MetaCommand]; got != "./solver 'in put'" {
		t.Errorf("command %q", got)
	}
	want := []struct {
		end, last string
		calls     int64
		inside    bool
	}{{"finished", "MPI_Finalize", 22, false}, {"unfinished", "MPI_Barrier", 23, false}, {"unfinished", "MPI_Recv", 26, true}}
	for i, w := range want {
		e := list[i]
		if e.EndState != w.end || e.Calls != w.calls || len(e.Threads) != 1 {
			t.Fatalf("rank %d: %+v", i, e)
		}
		if l := e.Threads[0]; l.Call.Name() != w.last || l.NotReturned != w.inside {
			t.Errorf("rank %d: last call %s, inside %v", i, l.Call.Name(), l.NotReturned)
		}
	}
	if list[3].EndState != "missing" {
		t.Errorf("rank 3 ended as %q", list[3].EndState)
	}
	var problems []string
	for key, text := range r.Meta() {
		if strings.HasPrefix(key, trace.MetaProblemPrefix) {
			problems = append(problems, text)
		}
	}
	if len(problems) != 1 || problems[0] != "rank 3: no process directory" {
		t.Errorf("problems %q", problems)
	}
}

// Two worlds that were spawned after another, beside the first one.
func TestWorldsAreKeptApart(t *testing.T) {
	parent := t.TempDir()
	pid := 10
	add := func(spawned bool, ranks int, start int64) {
		for rank := range ranks {
			pid++
			write(t, parent, recovertest.Process{
				Rank: rank, Ranks: ranks, PID: pid, StartNs: start + int64(rank), Spawned: spawned, Loops: pid, End: recovertest.Finished,
			})
		}
	}
	add(true, 2, 3e9)
	add(true, 2, 2e9)
	add(false, 2, 1e9)
	worlds := recover.GroupIntoWorlds(read(t, parent))
	if len(worlds) != 3 {
		t.Fatalf("%d worlds", len(worlds))
	}
	for i, pids := range [][]int{{15, 16}, {13, 14}, {11, 12}} {
		w := worlds[i]
		if w.Spawned != (i > 0) || len(w.Processes) != 2 {
			t.Fatalf("world %d: %+v", i, w)
		}
		for rank, p := range w.Processes {
			if p.Context.PID != pids[rank] || p.Context.Rank != rank {
				t.Errorf("world %d: rank %d is process %d", i, rank, p.Context.PID)
			}
		}
	}
}

// A directory may hold less than a process's records.
func TestBrokenDirectories(t *testing.T) {
	parent := t.TempDir()
	good := write(t, parent, recovertest.Process{Rank: 0, Ranks: 3, Loops: 2, End: recovertest.Crashed})
	torn := write(t, parent, recovertest.Process{Rank: 1, Ranks: 3, Loops: 2, End: recovertest.Crashed})
	early := write(t, parent, recovertest.Process{Rank: 2, Ranks: 3})
	if err := os.Truncate(filepath.Join(torn, "ring.0"), 100); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(early, "context")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(parent, "other"), 0o755); err != nil {
		t.Fatal(err)
	}
	list := read(t, parent)
	if len(list) != 3 {
		t.Fatalf("%d processes", len(list))
	}
	for _, p := range list {
		switch p.Dir {
		case good:
			if p.Track == nil || p.Damage != nil {
				t.Errorf("good: %+v", p)
			}
		case torn:
			if p.Track != nil || p.Damage == nil || p.Context == nil {
				t.Errorf("torn: %+v", p)
			}
		case early:
			if p.Context != nil || p.Damage == nil || !strings.Contains(p.Damage.Error(), "before it began") {
				t.Errorf("early: %+v", p)
			}
		}
	}
	worlds := recover.GroupIntoWorlds(list)
	if len(worlds) != 1 {
		t.Fatalf("%d worlds", len(worlds))
	}
	_, ends := endings(t, worlds[0])
	if ends[0].EndState != "unfinished" || ends[1].EndState != "missing" || ends[1].Damage == "" || ends[2].EndState != "missing" {
		t.Errorf("endings %+v", ends)
	}
	if _, err := (&recover.World{Ranks: 1, Processes: []*recover.Process{{Dir: "x"}}}).Content("test"); !errors.Is(err, recover.ErrNoRecords) {
		t.Errorf("a world without tracks: %v", err)
	}
}

func TestMove(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "app.spoor.partial")
	dir := write(t, from, recovertest.Process{Rank: 0, Ranks: 1, Loops: 3, End: recovertest.Crashed})
	ring, err := os.ReadFile(filepath.Join(dir, "ring.0"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := recover.MoveProcessDirs([]string{dir}, to); err != nil {
		t.Fatal(err)
	}
	moved, err := os.ReadFile(filepath.Join(to, filepath.Base(dir), "ring.0"))
	if err != nil || !slices.Equal(moved, ring) {
		t.Errorf("ring after the move: %d bytes, %v", len(moved), err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is still there")
	}
	if err := recover.MoveProcessDirs([]string{filepath.Join(to, filepath.Base(dir))}, filepath.Join(to, "missing")); err == nil || len(read(t, to)) != 1 {
		t.Errorf("moved to a folder that isn't there: %v", err)
	}
}

// All hosts of a run find the same home, and no two runs have the same.
func TestHome(t *testing.T) {
	out := filepath.Join(t.TempDir(), "app.spoor")
	if home := recover.PartialFolder(out, "/s/one"); home != "" {
		t.Errorf("a home before it is made: %s", home)
	}
	var all sync.WaitGroup
	homes := make([]string, 30)
	for i := range homes {
		all.Go(func() { homes[i], _ = recover.MakePartialFolder(out, fmt.Sprint("/s/", i%3), "a", "b") })
	}
	all.Wait()
	for i, home := range homes {
		if home == "" || home != recover.PartialFolder(out, fmt.Sprint("/s/", i%3)) || home == homes[(i+1)%len(homes)] {
			t.Errorf("homes %q", homes)
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(out)); len(entries) != 3 {
		t.Errorf("%d folders", len(entries))
	}
	if hosts := recover.PendingHosts(homes[1], "/s/1"); !slices.Equal(hosts, []string{"a", "b"}) {
		t.Errorf("links to %q", hosts)
	}
	recover.RemoveEmptyPartialFolder(homes[0], "/s/0")
	if recover.PartialFolder(out, "/s/0") != "" || recover.PartialFolder(out, "") != "" {
		t.Error("an empty home stays")
	}
}

// Records of processes with equal names, as in containers, don't get in each other's way; what was brought before a kill isn't brought again.
func TestBring(t *testing.T) {
	parent, to := t.TempDir(), t.TempDir()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	name := host + "-1"
	for rank := range 3 {
		scratch := filepath.Join(parent, fmt.Sprint("spoor-", rank))
		if err := os.Mkdir(scratch, 0o755); err != nil {
			t.Fatal(err)
		}
		dir := write(t, scratch, recovertest.Process{Rank: rank, Ranks: 3, Loops: 3, End: recovertest.Crashed})
		if err := os.Rename(dir, filepath.Join(scratch, name)); err != nil {
			t.Fatal(err)
		}
		if rank == 1 { // killed between copying and removing
			if err := os.CopyFS(filepath.Join(to, name+".1"), os.DirFS(filepath.Join(scratch, name))); err != nil {
				t.Fatal(err)
			}
		}
		another := fmt.Sprint("another", rank)
		recover.SetPendingHosts(to, scratch, host, another)
		if rank == 2 { // spoor run was here while the process ran
			if err := os.Symlink(filepath.Join(scratch, name), filepath.Join(to, name+".2")); err != nil {
				t.Fatal(err)
			}
		}
		if n, err := recover.MoveEndedProcesses(scratch, to); n != 1 || err != nil || !slices.Equal(recover.PendingHosts(to, scratch), []string{another}) {
			t.Fatal(n, err)
		}
		if _, err := os.Stat(scratch); err == nil {
			t.Errorf("rank %d: the folder is still there", rank)
		}
	}
	if list := recover.GroupIntoWorlds(read(t, to)); len(list) != 1 || len(list[0].Processes) != 3 {
		t.Errorf("%d worlds", len(list))
	}
	write(t, parent, recovertest.Process{Rank: 0, Ranks: 1, End: recovertest.Crashed}) // of another host, and may still run there
	if n, err := recover.MoveEndedProcesses(parent, to); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// Between file systems a move is a copy; on a machine with one, the plain move
// above is all there is.
func TestMoveBetweenFileSystems(t *testing.T) {
	shm, err := os.MkdirTemp("/dev/shm", "spoor-test-")
	if err != nil {
		need.Absent(t, "no /dev/shm")
	}
	defer os.RemoveAll(shm)
	dir := write(t, shm, recovertest.Process{Rank: 0, Ranks: 1, Loops: 3, End: recovertest.Inside})
	to := t.TempDir()
	if err := recover.MoveProcessDirs([]string{dir}, to); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory is still there")
	}
	if list := read(t, to); len(list) != 1 || list[0].Damage != nil || list[0].Track == nil {
		t.Errorf("processes %+v", list[0])
	}
}

// A call that never returned has lasted until the process was seen to have ended, and
// the process with it.
func TestOpenCallsLast(t *testing.T) {
	parent := t.TempDir()
	const start = int64(1_700_000_000_000_000_000)
	for rank := range 2 {
		dir := write(t, parent, recovertest.Process{Rank: rank, Ranks: 2, Loops: 3, End: recovertest.Inside, StartNs: start})
		if err := capture.MarkProcessEnded(dir, time.Unix(0, start+7_000_000_000)); err != nil {
			t.Fatal(err)
		}
	}
	r, list := endings(t, recover.GroupIntoWorlds(read(t, parent))[0])
	for rank, e := range list {
		if !e.Threads[0].NotReturned || e.SpanNs < 6_980_000_000 || e.SpanNs > 7_010_000_000 {
			t.Errorf("rank %d: %+v", rank, e)
		}
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for ns, inside := range map[int64]bool{5_000_000_000: true, 100_000_000_000: false} {
			m, err := k.MomentAt(0, ns)
			if err != nil || (m.State == trace.StateInCall) != inside || m.LastBegunCall.Call == nil || m.LastBegunCall.Return != trace.ReturnCodeNeverReturned {
				t.Errorf("rank %d at %d: %+v, %v", rank, ns, m, err)
			}
		}
	}
	rep, err := efficiency.Analyse(r, efficiency.Options{})
	if err != nil || rep.MPITime.MeanNs < 6_900_000_000 {
		t.Errorf("in MPI %+v, %v", rep.MPITime, err)
	}
	s, err := sums.Summarise(r)
	if err != nil || s.Functions[0].Name != "MPI_Recv" || s.Functions[0].Ns < 13_900_000_000 {
		t.Errorf("%+v, %v", s.Functions[0], err)
	}
}

// That nothing is kept of times holds for what is made of what a crash left, too.
func TestTimeless(t *testing.T) {
	parent := t.TempDir()
	for rank := range 2 {
		dir := write(t, parent, recovertest.Process{Rank: rank, Ranks: 2, Loops: 3, End: recovertest.Inside})
		if err := capture.WriteTimingOptions(dir, timing.Options{Mode: timing.ModeNone}); err != nil {
			t.Fatal(err)
		}
		if err := capture.MarkProcessEnded(dir, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	r, list := endings(t, recover.GroupIntoWorlds(read(t, parent))[0])
	if r.HasTimes() {
		t.Error("there are times")
	}
	for rank, e := range list {
		if !e.Threads[0].NotReturned || e.SpanNs != 0 || e.Calls == 0 {
			t.Errorf("rank %d: %+v", rank, e)
		}
	}
}
