package otf2

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

const eztrace = "testdata/eztrace"

// read imports an archive and opens what comes of it.
func read(t testing.TB, path string, mode timing.Mode) (*trace.Reader, *Import, error) {
	t.Helper()
	x, err := Read(path, ImportOptions{Timing: timing.Options{Mode: mode}})
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(x.Close)
	file := filepath.Join(t.TempDir(), "x.spoor")
	if err := sections.WriteFile(file, x.Content, false); err != nil {
		return nil, nil, err
	}
	r, err := trace.Open(file)
	if err == nil {
		t.Cleanup(func() { r.Close() })
	}
	return r, x, err
}

// TestEZTrace imports what EZTrace recorded of a program that is known (ring.c): it tells no completions of requests,
// and has communicators and regions of its own for each rank.
func TestEZTrace(t *testing.T) {
	for _, mode := range []timing.Mode{timing.ModeLossless, timing.ModeStats, timing.ModeNone} {
		r, x, err := read(t, eztrace, mode)
		if err != nil {
			t.Fatal(err)
		}
		const rounds, ranks = 5, 3
		want := map[string]int{
			"MPI_Comm_split": ranks, "MPI_Irecv": rounds * ranks, "MPI_Isend": rounds * ranks, "MPI_Waitall": rounds * ranks, "MPI_Send": rounds, "MPI_Recv": rounds,
			"MPI_Allreduce": rounds * ranks, "MPI_Bcast": rounds * ranks, "MPI_Barrier": ranks, "MPI_Comm_free": ranks,
		}
		got := make(map[string]int)
		completed := 0
		for rank := range r.Ranks() {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			for c, err := range k.Calls(0) {
				if err != nil {
					t.Fatal(err)
				}
				got[c.Name()]++
				if p := c.Param("array_of_requests"); p != nil {
					completed += len(p.In.Elems)
				}
				if c.Name() == "MPI_Comm_split" && (c.NewComm == nil || int(c.NewComm.Size) != []int{2, 1, 2}[rank]) {
					t.Errorf("rank %d: %+v made, want the ranks with the same parity", rank, c.NewComm)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if completed != 2*rounds*ranks {
			t.Errorf("%d requests completed, want %d", completed, 2*rounds*ranks)
		}
		m, err := matrix.Compute(r, matrix.Options{PointToPoint: true})
		if err != nil {
			t.Fatal(err)
		}
		ring := matrix.Cell{Messages: rounds, Bytes: 5*1000 + 0 + 1 + 2 + 3 + 4}
		first := matrix.Cell{Messages: 2 * rounds, Bytes: ring.Bytes + rounds*80}
		if diff := cmp.Diff([][]matrix.Cell{{{}, first, {}}, {{}, {}, ring}, {ring, {}, {}}}, m.Dense()); diff != "" {
			t.Error(diff)
		}
		if len(x.Notes) == 0 || !strings.HasPrefix(r.Meta()[trace.MetaImportFormat], "otf2") || r.HasTimes() != (mode != timing.ModeNone) {
			t.Errorf("%v, %v, times: %t", x.Notes, r.Meta(), r.HasTimes())
		}
		comms, err := handles.TableOf(r).Comms()
		if err != nil {
			t.Fatal(err)
		}
		var groups [][]int
		for _, c := range comms.List() {
			groups = append(groups, c.Members())
		}
		if diff := cmp.Diff([][]int{{0, 1, 2}, {0, 2}, {1}}, groups); diff != "" {
			t.Errorf("communicators:\n%s", diff)
		}
	}
}

// TestGrid imports what EZTrace recorded of a program (grid.c) that makes communicators which not all of their
// members use, and sends to MPI_PROC_NULL.
func TestGrid(t *testing.T) {
	r, x, err := read(t, "testdata/grid", timing.ModeLossless)
	if err != nil {
		t.Fatal(err)
	}
	comms, err := handles.TableOf(r).Comms()
	if err != nil {
		t.Fatal(err)
	}
	var groups [][]int
	for _, c := range comms.List() {
		groups = append(groups, c.Members())
	}
	if diff := cmp.Diff([][]int{{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 1}, {0, 2}, {1, 3}, {2, 3}}, groups); diff != "" {
		t.Errorf("communicators:\n%s", diff)
	}
	nowhere := 0
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		var made [][2]int // size, leader
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if c.NewComm != nil {
				made = append(made, [2]int{int(c.NewComm.Size), int(c.NewComm.LeaderWorldRank)})
			}
			for _, name := range []string{"dest", "source"} {
				if p := c.Param(name); p != nil && p.In.Num == mpi.ProcNull {
					nowhere++
				}
			}
		}
		if diff := cmp.Diff([][2]int{{4, 0}, {2, rank / 2 * 2}, {2, rank % 2}}, made); diff != "" {
			t.Errorf("rank %d: communicators made by MPI_Comm_split in turn:\n%s", rank, diff)
		}
	}
	if nowhere != 2*2*3 {
		t.Errorf("%d messages to or from MPI_PROC_NULL, want 12", nowhere)
	}
	m, err := matrix.Compute(r, matrix.Options{PointToPoint: true})
	if err != nil {
		t.Fatal(err)
	}
	c := matrix.Cell{Messages: 3, Bytes: 24}
	if diff := cmp.Diff([][]matrix.Cell{{{}, c, {}, {}}, {{}, {}, c, {}}, {{}, {}, {}, c}, {{}, {}, {}, {}}}, m.Dense()); diff != "" || m.ToElsewhere != (matrix.Cell{}) {
		t.Errorf("%v elsewhere; messages:\n%s", m.ToElsewhere, diff)
	}
	const untold = "ranks without MPI_Init or MPI_Finalize: taken for finished"
	if x.Notes[untold] != 4 {
		t.Errorf("%v, want 4 %s", x.Notes, untold)
	}
}

// TestEnds wants ranks without MPI_Finalize to have finished only where no rank tells.
func TestEnds(t *testing.T) {
	for _, x := range []struct {
		k    rank
		told bool
		want string
	}{
		{rank{calls: 2, begins: true, finished: true}, true, track.EndFinished},
		{rank{calls: 1, begins: true}, true, track.EndCrashed},
		{rank{calls: 1}, true, track.EndCrashed},
		{rank{calls: 1}, false, track.EndFinished},
		{rank{}, false, track.EndCrashed},
	} {
		w := &world{bounds: x.told, notes: make(ops.Losses)}
		if got := w.end(&x.k); got != x.want || (len(w.notes) > 0) != (x.k.calls > 0 && !x.told) {
			t.Errorf("%+v: %s, %v, want %s", x.k, got, w.notes, x.want)
		}
	}
}

// copied is the archive in a folder that can be changed.
func copied(t testing.TB) string { return copyOf(t, eztrace) }

func copyOf(t testing.TB, archive string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "x")
	if err := os.CopyFS(dir, os.DirFS(archive)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBroken wants errors that name the file where what is there makes no sense.
func TestBroken(t *testing.T) {
	for _, x := range []struct {
		what, file, want string
		change           func(b []byte) []byte
	}{
		{"no anchor", "eztrace_log.otf2", "no anchor file", func(b []byte) []byte { return b[:3] }},
		{"another format", "eztrace_log.otf2", "trace of format 9", func(b []byte) []byte { b[8] = 9; return b }},
		{"chunks", "eztrace_log.otf2", "chunks of", func(b []byte) []byte { b[15] = 0; return b }},
		{"a container", "eztrace_log.otf2", "SIONlib", func(b []byte) []byte { b[28] = 2; return b }},
		{"compressed", "eztrace_log.otf2", "compressed", func(b []byte) []byte { b[29] = 2; return b }},
		{"definitions cut off", "eztrace_log.def", "eztrace_log.def: byte", func(b []byte) []byte { return b[:100] }},
		{"definitions that are none", "eztrace_log.def", "no chunk begins", func(b []byte) []byte { return bytes.Repeat([]byte{7}, len(b)) }},
		{"events cut off", "eztrace_log/0.evt", "rank 0: ", func(b []byte) []byte { return b[:len(b)/2] }},
		{"byte order", "eztrace_log/0.evt", "byte order", func(b []byte) []byte { b[1] = 0; return b }},
	} {
		dir := copied(t)
		path := filepath.Join(dir, x.file)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, x.change(b), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := read(t, dir, timing.ModeStats); err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), filepath.Base(x.file)) {
			t.Errorf("%s: %v, want %q and %s", x.what, err, x.want, x.file)
		}
	}
	dir := copied(t)
	if err := os.Remove(filepath.Join(dir, "eztrace_log/0.evt")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(t, dir, timing.ModeStats); err == nil || !strings.Contains(err.Error(), "0.evt") {
		t.Errorf("no events: %v", err)
	}
	if _, _, err := read(t, t.TempDir(), timing.ModeStats); err == nil || !strings.Contains(err.Error(), "no anchor file") {
		t.Errorf("an empty folder: %v", err)
	}
}

// FuzzOTF2 imports archives of which each kind of file may be anything. What is imported can be read.
// Files are in memory where that can be had: on disk they took nearly all of the time. Go spends
// up to a minute on making each input smaller that is new, so give it -fuzzminimizetime 20x.
func FuzzOTF2(f *testing.F) {
	if shm, err := os.MkdirTemp("/dev/shm", "spoor-test-"); err == nil {
		f.Cleanup(func() { os.RemoveAll(shm) })
		f.Setenv("TMPDIR", shm)
	}
	a, err := OpenArchive(eztrace)
	if err != nil {
		f.Fatal(err)
	}
	var names []string
	for _, l := range a.Locations {
		names = append(names, filepath.Join("eztrace_log", uint64s(l.ID)))
	}
	get := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(eztrace, name))
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	f.Add(get("eztrace_log.otf2"), get("eztrace_log.def"), get(names[0]+".def"), get(names[0]+".evt"))
	f.Add(get("eztrace_log.otf2"), get("eztrace_log.def"), get(names[1]+".def"), get(names[2]+".evt"))
	dir := copied(f)
	f.Fuzz(func(t *testing.T, anchor, def, local, evt []byte) {
		for name, b := range map[string][]byte{"eztrace_log.otf2": anchor, "eztrace_log.def": def, names[0] + ".def": local, names[0] + ".evt": evt} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		x, err := Read(dir, ImportOptions{Timing: timing.Options{Mode: timing.ModeStats}})
		if err != nil {
			return
		}
		defer x.Close()
		b, err := sections.EncodeFile(x.Content)
		if err != nil {
			t.Fatal(err)
		}
		r, err := trace.ReadBytes(b, "x.spoor")
		if err != nil {
			t.Fatal(err)
		}
		for rank := range r.Ranks() {
			k, err := r.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			for stream := range k.Streams() {
				for _, err := range k.Calls(stream) {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

func uint64s(n uint64) string { return strconv.FormatUint(n, 10) }

// TestScoreP imports an archive as Score-P writes it (testdata/scorep.py): groups and communicators that are not MPI's, a
// communicator of all ranks before MPI_COMM_WORLD, GPUs' locations with properties, counters of several values that go on from
// the beginning, and functions of which nothing but the time is recorded.
func TestScoreP(t *testing.T) {
	r, x, err := read(t, "testdata/scorep", timing.ModeLossless)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Meta()[trace.MetaCommand]; got != "/home/me/solver -n '4 x'" {
		t.Errorf("command %q", got)
	}
	for note := range x.Notes {
		if strings.Contains(note, "create_group stands in") {
			t.Errorf("%d: %s", x.Notes[note], note)
		}
	}
	want := [][]string{{
		"MPI_Comm_size(comm=MPI_COMM_WORLD) = MPI_SUCCESS",
		"MPI_Barrier(comm=MPI_COMM_WORLD) = MPI_SUCCESS PAPI_L2_DCM=1 PAPI_TOT_INS=4400",
		"MPI_Send(buf=mem0, count=4096, datatype=MPI_BYTE, dest=1, tag=7, comm=MPI_COMM_WORLD) = MPI_SUCCESS PAPI_L2_DCM=1 PAPI_TOT_INS=100",
		"MPI_Iprobe(source=0, tag=0, comm=MPI_COMM_WORLD, status=-) = MPI_SUCCESS PAPI_L2_DCM=0 PAPI_TOT_INS=0",
	}, {
		"MPI_Comm_size(comm=MPI_COMM_WORLD) = MPI_SUCCESS",
		"MPI_Barrier(comm=MPI_COMM_WORLD) = MPI_SUCCESS PAPI_L2_DCM=1 PAPI_TOT_INS=4400",
		"MPI_Recv(buf=mem0, count=4096, datatype=MPI_BYTE, source=0, tag=7, comm=MPI_COMM_WORLD, status=ignored{source=0, tag=7, bytes=4096}) = MPI_SUCCESS PAPI_L2_DCM=1 PAPI_TOT_INS=101",
		"MPI_Iprobe(source=0, tag=0, comm=MPI_COMM_WORLD, status=-) = MPI_SUCCESS PAPI_L2_DCM=0 PAPI_TOT_INS=0",
	}}
	for rank, want := range want {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		line, err := k.AttachedValueCursor(0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			values, err := line.At(c.Index)
			if err != nil {
				t.Fatal(err)
			}
			text := c.Text()
			for _, v := range values {
				text += fmt.Sprintf(" %s=%g", v.Name, v.Sum)
			}
			got = append(got, text)
			if p := c.Param("flag"); p != nil && p.Out.Type != trace.TypeNone {
				t.Errorf("%s: flag %d, which nothing tells", text, p.Out.Num)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rank %d:\n%s", rank, diff)
		}
	}
}

// What records a definition or an event has that nobody knows yet is passed over by its length.
func TestUnknownRecords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	if err := os.CopyFS(dir, os.DirFS("testdata/scorep")); err != nil {
		t.Fatal(err)
	}
	for name, ids := range map[string][]byte{"traces.def": {7, 27, 29, 99, 200, 255}, "traces/0.evt": {99, 200, 255}} {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids { // each: length 9, and a number that is too large for a reference
			b = slices.Insert(b, ChunkHeaderBytes, append([]byte{id, 9, 8}, bytes.Repeat([]byte{0xee}, 8)...)...)
		}
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r, _, err := read(t, dir, timing.ModeStats)
	if err != nil {
		t.Fatal(err)
	}
	if r.Ranks() != 2 {
		t.Errorf("%d ranks", r.Ranks())
	}
}

// aRequest is numbered by how many were made before.
var aRequest = regexp.MustCompile(`request[0-9]+`)

// lines are all calls of a trace as text.
func lines(t *testing.T, r *trace.Reader) (list []string) {
	t.Helper()
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, fmt.Sprintf("%d %s", rank, c.Text()))
		}
	}
	return list
}

// TestWindows imports records that synchronise windows and ask about transfers (testdata/windows.py): they name their window
// or file, and files of the system that an MPI library opens are none of the program's.
func TestWindows(t *testing.T) {
	r, x, err := read(t, "testdata/windows", timing.ModeLossless)
	if err != nil {
		t.Fatal(err)
	}
	all := lines(t, r)
	for _, want := range []string{
		"MPI_Win_lock(lock_type=MPI_LOCK_EXCLUSIVE, rank=1, assert=0, win=win1)", "MPI_Win_lock(lock_type=MPI_LOCK_SHARED, rank=1, assert=0, win=win1)",
		"MPI_Win_sync(win=win1)", "MPI_Win_start(group=group?, assert=0, win=win1)", "MPI_Win_post(group=group?, assert=0, win=win1)",
		"MPI_Win_complete(win=win1)", "MPI_Win_wait(win=win1)", "MPI_Test(request=request0, flag=0, status=empty)", "MPI_Wait(request=request0, status=empty)",
		"MPI_File_set_atomicity(fh=file1, flag=0)", "MPI_Test(request=request1, flag=0, status=empty)",
		"MPI_Wait(request=request1, status=ignored{source=MPI_ANY_SOURCE, tag=MPI_ANY_TAG, bytes=32})", "MPI_File_close(fh=file1)",
	} {
		if !slices.Contains(all, "0 "+want+" = MPI_SUCCESS") {
			t.Errorf("no call %s in\n%s", want, strings.Join(all, "\n"))
		}
	}
	want := ops.Losses{"records of files that were not opened by MPI: IoCreateHandle": 4, "records of files that were not opened by MPI: IoChangeStatusFlags": 2}
	if diff := cmp.Diff(want, x.Notes); diff != "" {
		t.Error(diff)
	}
}

// TestOff imports ranks that switched recording off between their calls and at their end: they finished.
func TestOff(t *testing.T) {
	r, x, err := read(t, "testdata/off", timing.ModeLossless)
	if err != nil {
		t.Fatal(err)
	}
	procs, err := r.Processes()
	if err != nil {
		t.Fatal(err)
	}
	for rank, p := range procs.All() {
		if p.EndState != track.EndFinished {
			t.Errorf("rank %d: %s", rank, p.EndState)
		}
	}
	if n := x.Notes["times that recording was switched off: calls of MPI in between are missing, and count as computing"]; n != 4 {
		t.Errorf("%v, want 4 times that recording was switched off", x.Notes)
	}
	if len(lines(t, r)) != 2*3 {
		t.Errorf("%q", lines(t, r))
	}
}

// encoded is a record of an event: of what it refers to it names the first.
func encoded(id byte) []byte {
	layout := RecordLayouts[id].Layout
	if RecordLayouts[id].Name == "" {
		return append([]byte{id, 9, 8}, bytes.Repeat([]byte{0xee}, 8)...)
	}
	var b []byte
	for _, k := range strings.TrimPrefix(layout, "-") {
		switch k {
		case 'b':
			b = append(b, 1)
		case 't':
			b = append(b, make([]byte, 8)...)
		case 'w':
			b = append(b, 1, 1)
		default:
			b = append(b, 0)
		}
	}
	switch id {
	case EvMetric:
		b = append(b, 0)
	case EvProgramBegin:
		b = append(b, 0)
	}
	if strings.HasPrefix(layout, "-") {
		return append([]byte{id}, b...)
	}
	return append([]byte{id, byte(len(b))}, b...)
}

// TestEachRecord has one more record of each id, within a barrier and outside of any function of MPI: other calls stay as
// they are, and what it changes nothing by is counted, unless it says nothing of MPI.
func TestEachRecord(t *testing.T) {
	r, plain, err := read(t, "testdata/windows", timing.ModeStats)
	if err != nil {
		t.Fatal(err)
	}
	before := lines(t, r)
	dir := copyOf(t, "testdata/windows")
	path := filepath.Join(dir, "traces/0.evt")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	barrier := bytes.Index(b, []byte{EvEnter, 1, 19})
	if barrier < 0 {
		t.Fatal("rank 0 enters no barrier")
	}
	for id := range 256 {
		switch id {
		case BufferEndOfChunk, BufferEndOfBuffer, BufferEndOfFile, BufferChunkHeader, BufferTimestamp, BufferAttributeList,
			EvEnter, EvLeave, EvCallingContextEnter, EvCallingContextLeave:
			continue
		}
		for where, at := range map[string]int{"outside": ChunkHeaderBytes, "in a barrier": barrier + 3} {
			name := RecordName(byte(id)) + " " + where
			if err := os.WriteFile(path, slices.Insert(slices.Clone(b), at, encoded(byte(id))...), 0o666); err != nil {
				t.Fatal(err)
			}
			r, x, err := read(t, dir, timing.ModeStats)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			after := lines(t, r)
			plainly := func(c string) string { return aRequest.ReplaceAllString(c, "request") }
			left := before
			for _, c := range after {
				if len(left) > 0 && (plainly(c) == plainly(left[0]) || strings.HasPrefix(c, "0 MPI_Barrier") && strings.HasPrefix(left[0], "0 MPI_Barrier")) {
					left = left[1:]
				}
			}
			if len(left) > 0 {
				t.Errorf("%s: calls are other ones, from %s on:\n%s", name, left[0], strings.Join(after, "\n"))
			}
			counted := !cmp.Equal(plain.Notes, x.Notes)
			silent := id == EvMpiCollectiveBegin || id == EvMpiCollectiveEnd || id == EvRmaCollectiveBegin // a barrier's
			if rows[id].at == nil && !counted && slices.Equal(before, after) && (!silent || where == "outside") {
				t.Errorf("%s: nothing is said of it", name)
			}
		}
	}
}
