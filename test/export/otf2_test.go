package export

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// An event as otf2-print shows it.
type event struct {
	kind     string
	location uint64
	time     uint64
	rest     string
}

// rank is the rank at whose location an event is; other threads of it have other locations.
func (e *event) rank() int { return int(uint32(e.location)) }

var (
	eventLine = regexp.MustCompile(`^([A-Z_0-9]+) +(\d+) +(\d+)  (.*)`)
	number    = regexp.MustCompile(`(\w+): (\d+)`)
	reference = regexp.MustCompile(`(Receiver|Sender): \d+ \(".*?" <(\d+)>\)`)
	region    = regexp.MustCompile(`Region: "(\w+)"`)
)

func (e *event) number(name string) uint64 {
	for _, m := range number.FindAllStringSubmatch(e.rest, -1) {
		if m[1] == name {
			n, _ := strconv.ParseUint(m[2], 10, 64)
			return n
		}
	}
	return 0
}

// partner is the rank of the world at the other end of a message.
func (e *event) partner() int {
	m := reference.FindStringSubmatch(e.rest)
	if m == nil {
		return -1
	}
	n, _ := strconv.Atoi(m[2])
	return n
}

// events reads an archive with otf2-print, which must have nothing to complain of.
func events(t *testing.T, archive string) (list []event) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(tool(t, "otf2-print"), archive)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil || stderr.Len() > 0 {
		t.Fatalf("otf2-print: %v\n%s", err, mpis.Tail(stderr.String()))
	}
	s := bufio.NewScanner(&stdout)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		if m := eventLine.FindStringSubmatch(s.Text()); m != nil {
			location, _ := strconv.ParseUint(m[2], 10, 64)
			time, _ := strconv.ParseUint(m[3], 10, 64)
			list = append(list, event{m[1], location, time, m[4]})
		}
	}
	return list
}

// otf2 compares an archive with the trace that it was made of.
func otf2(t *testing.T, x traced) {
	archive := x.export(t, "otf2")
	list := events(t, filepath.Join(archive, "traces.otf2"))
	balanced(t, list)
	counted(t, x, list)
	messages(t, x, list)
	requests(t, list)
	if !slices.ContainsFunc(list, func(e event) bool { return e.location > 1<<32 }) { // it knows collectives of first threads only
		snapshots(t, archive, list)
	}
	if x.name != "intercomm.c" && x.name != "comms_of_self.c" { // version 3.0.2 looks for the second group of an InterComm among communicators
		python(t, x, filepath.Join(archive, "traces.otf2"))
	}
}

// balanced wants each Leave to be that of the last Enter, in order of time.
func balanced(t *testing.T, list []event) {
	t.Helper()
	open, last := make(map[uint64][]string), make(map[uint64]uint64)
	for _, e := range list {
		if e.time < last[e.location] {
			t.Errorf("%v goes back in time", e)
		}
		last[e.location] = e.time
		stack := open[e.location]
		switch e.kind {
		case "ENTER":
			stack = append(stack, region.FindStringSubmatch(e.rest)[1])
		case "LEAVE":
			if n := len(stack); n == 0 || stack[n-1] != region.FindStringSubmatch(e.rest)[1] {
				t.Fatalf("%v after %v", e, stack)
			} else {
				stack = stack[:n-1]
			}
		default:
			if len(stack) == 0 {
				t.Errorf("%v stands in no call", e)
			}
		}
		open[e.location] = stack
	}
	for location, stack := range open {
		if len(stack) > 0 {
			t.Errorf("location %d: never left: %v", location, stack)
		}
	}
}

// counted wants as many records of each kind as there are calls that do such.
func counted(t *testing.T, x traced, list []event) {
	t.Helper()
	all, good := functions(t, x.r)
	entered, kinds, collectives := make(map[string]int), make(map[string]int), make(map[string]int)
	for _, e := range list {
		switch kinds[e.kind]++; e.kind {
		case "ENTER":
			entered[region.FindStringSubmatch(e.rest)[1]]++
		case "MPI_COLLECTIVE_END", "NON_BLOCKING_COLLECTIVE_COMPLETE":
			name, _, _ := strings.Cut(strings.TrimPrefix(e.rest, "Operation: "), ",")
			collectives[name]++
		}
	}
	if diff := cmp.Diff(all, entered); diff != "" {
		t.Errorf("calls, and regions entered:\n%s", diff)
	}
	sum := func(names ...string) (n int) {
		for _, name := range names {
			n += good["MPI_"+name]
		}
		return n
	}
	for _, name := range []string{"Barrier", "Bcast", "Gather", "Scatterv", "Allgather", "Alltoall", "Alltoallv", "Allreduce", "Reduce", "Scan", "Exscan"} {
		persistent := sum(name + "_init") // how often these are started is not for a name to tell
		if want, got := sum(name, "I"+strings.ToLower(name)), collectives[strings.ToUpper(name)]; got != want && persistent == 0 {
			t.Errorf("%d times %s, want %d", got, name, want)
		}
	}
	for kind, want := range map[string]int{
		"RMA_PUT": sum("Put", "Rput"), "RMA_GET": sum("Get", "Rget"),
		"RMA_ATOMIC":     sum("Accumulate", "Raccumulate", "Get_accumulate", "Rget_accumulate", "Fetch_and_op", "Compare_and_swap"),
		"RMA_WIN_CREATE": sum("Win_create", "Win_allocate", "Win_allocate_shared", "Win_create_dynamic"), "RMA_WIN_DESTROY": sum("Win_free"),
		"IO_CREATE_HANDLE": sum("File_open"), "IO_DESTROY_HANDLE": sum("File_close"), "IO_SEEK": sum("File_seek", "File_seek_shared"),
		"IO_OPERATION_COMPLETE": kinds["IO_OPERATION_BEGIN"], "COMM_DESTROY": sum("Comm_free", "Comm_disconnect"),
		"RMA_OP_COMPLETE_BLOCKING": kinds["RMA_PUT"] + kinds["RMA_GET"] + kinds["RMA_ATOMIC"] - kinds["RMA_OP_COMPLETE_NON_BLOCKING"],
	} {
		if kinds[kind] != want {
			t.Errorf("%d records %s, want %d", kinds[kind], kind, want)
		}
	}
	reads := 0
	for name, n := range good {
		if strings.HasPrefix(name, "MPI_File_") && !strings.HasSuffix(name, "_end") && regexp.MustCompile(`_i?(read|write)`).MatchString(name) {
			reads += n
		}
	}
	if kinds["IO_OPERATION_BEGIN"] != reads {
		t.Errorf("%d reads and writes, want %d", kinds["IO_OPERATION_BEGIN"], reads)
	}
}

// messages wants what is sent between two ranks to be what spoor matrix says, and all of it to
// arrive, but for receives and sends that the program cancelled.
func messages(t *testing.T, x traced, list []event) {
	t.Helper()
	sent, received := make(map[pair]matrix.Cell), make(map[pair]matrix.Cell)
	add := func(cells map[pair]matrix.Cell, from, to int, bytes uint64) {
		c := cells[pair{from, to}]
		c.Messages++
		c.Bytes += bytes
		cells[pair{from, to}] = c
	}
	cancelled := false
	for _, e := range list {
		switch e.kind {
		case "MPI_SEND", "MPI_ISEND":
			add(sent, e.rank(), e.partner(), e.number("Length"))
		case "MPI_RECV", "MPI_IRECV":
			add(received, e.partner(), e.rank(), e.number("Length"))
		case "MPI_REQUEST_CANCELLED":
			cancelled = true
		}
	}
	if diff := cmp.Diff(traffic(t, x.r), sent); diff != "" {
		t.Errorf("traffic, and messages sent:\n%s", diff)
	}
	if diff := cmp.Diff(sent, received); diff != "" && !cancelled {
		t.Errorf("sent, and received:\n%s", diff)
	}
}

// requests wants each request to end once at most, and after it began.
func requests(t *testing.T, list []event) {
	t.Helper()
	type key struct {
		rank int
		id   uint64
	}
	open := make(map[key]string)
	for _, e := range list {
		k := key{e.rank(), e.number("Request")}
		switch e.kind {
		case "MPI_ISEND", "MPI_IRECV_REQUEST", "NON_BLOCKING_COLLECTIVE_REQUEST":
			if open[k] != "" {
				t.Errorf("%v: there is such a request", e)
			}
			open[k] = e.kind
		case "MPI_ISEND_COMPLETE", "MPI_IRECV", "NON_BLOCKING_COLLECTIVE_COMPLETE", "MPI_REQUEST_CANCELLED", "MPI_REQUEST_TEST":
			want := map[string]string{
				"MPI_ISEND_COMPLETE": "MPI_ISEND", "MPI_IRECV": "MPI_IRECV_REQUEST", "NON_BLOCKING_COLLECTIVE_COMPLETE": "NON_BLOCKING_COLLECTIVE_REQUEST",
			}[e.kind]
			if was := open[k]; was == "" || want != "" && was != want {
				t.Errorf("%v: of a request that is %q", e, was)
			}
			if e.kind != "MPI_REQUEST_TEST" {
				delete(open, k)
			}
		}
	}
}

// A thread's events fill several chunks, and ranks that are not exported have none.
func TestOTF2Chunks(t *testing.T) {
	t.Parallel()
	const rounds = 60000
	dir := t.TempDir()
	path := filepath.Join(dir, "long.spoor")
	tracks := tracktest.RunAll(3, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			r.Send(3, 100, int64((r.Rank+1)%r.Size), 5)
			r.Recv(4, 100, int64((r.Rank+r.Size-1)%r.Size), 5)
		}
		r.End()
	})
	if err := os.WriteFile(path, mergetest.File(t, tracks, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	spoor(t, dir, "export", "--to", "otf2", "--rank", "1", "-o", "out", path)
	if st, err := os.Stat(filepath.Join(dir, "out", "traces", "1.evt")); err != nil || st.Size() < 4<<20 {
		t.Fatalf("%v, %v: want more than four chunks of a megabyte", st, err)
	}
	list := events(t, filepath.Join(dir, "out", "traces.otf2"))
	balanced(t, list)
	kinds := make(map[string]int)
	for _, e := range list {
		kinds[e.kind]++
		if e.rank() != 1 {
			t.Fatalf("%v is of another rank", e)
		}
	}
	want := map[string]int{"ENTER": 2*rounds + 2, "LEAVE": 2*rounds + 2, "MPI_SEND": rounds, "MPI_RECV": rounds}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	estimated(t, filepath.Join(dir, "out"), 1, list)
	snapshots(t, filepath.Join(dir, "out"), list)
}

// What was attached to calls is a metric before each of them.
func TestOTF2Values(t *testing.T) {
	const rounds = 5
	dir := t.TempDir()
	tracks := tracktest.RunAll(2, func(r *tracktest.Recorder) {
		r.Begin()
		for range rounds {
			r.Send(3, 100, int64(1-r.Rank), 5)
			r.Recv(4, 100, int64(1-r.Rank), 5)
		}
		r.End()
	})
	s, err := merge.MergeAll(tracks, 2)
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Content(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Classes) != 1 {
		t.Fatalf("%d classes", len(c.Classes))
	}
	values := make([]trace.AttachedStat, c.Classes[0].Terminals.Len())
	values[1] = trace.AttachedStat{Count: 2 * rounds, Sum: 5 * rounds, Min: 2, Max: 3} // of the send
	c.Classes[0].AttachedStats = map[string][]trace.AttachedStat{"joules": values}
	if err := sections.WriteFile(filepath.Join(dir, "x.spoor"), c, false); err != nil {
		t.Fatal(err)
	}
	spoor(t, dir, "export", "--to", "otf2", "-o", "out", "x.spoor")
	metrics, next := 0, false
	for _, e := range events(t, filepath.Join(dir, "out", "traces.otf2")) {
		switch e.kind {
		case "METRIC":
			if metrics++; !strings.Contains(e.rest, `"joules"`) || !strings.Contains(e.rest, "2.5") {
				t.Errorf("%v, want 2.5 joules", e)
			}
			next = true
		case "ENTER":
			if sends := strings.Contains(e.rest, "MPI_Send"); next && !sends {
				t.Errorf("a metric stands before %v", e)
			}
			next = false
		}
	}
	if metrics != 2*rounds {
		t.Errorf("%d metrics, want %d", metrics, 2*rounds)
	}
}

// TestOTF2Corpus has otf2-print complain of no definition of any trace of the corpus.
func TestOTF2Corpus(t *testing.T) {
	traces, err := filepath.Glob(mpis.Root("test", "powers", "testdata", "*.spoor"))
	if err != nil || len(traces) == 0 {
		t.Fatal("no corpus", err)
	}
	for _, path := range traces {
		dir := t.TempDir()
		spoor(t, dir, "export", "--to", "otf2", "-o", "archive", path)
		for _, flag := range []string{"-A", "-G"} {
			if out, err := exec.Command(tool(t, "otf2-print"), flag, filepath.Join(dir, "archive", "traces.otf2")).CombinedOutput(); err != nil || strings.Contains(string(out), "warning") {
				t.Errorf("%s: %v\n%s", filepath.Base(path), err, mpis.Tail(string(out)))
			}
		}
	}
}
