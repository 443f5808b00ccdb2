package trace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// reopened is a reader of what was written of a content.
func reopened(t testing.TB, c *sections.Content) *Reader {
	t.Helper()
	b, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sample is a small trace with one of everything, written out by hand: two
// ranks in a class and one on its own; rank 3 left no track.
func sample(t testing.TB) *sections.Content {
	t.Helper()
	id := func(name string) uint16 {
		c, ok := mpi.CallNamed(name)
		if !ok {
			t.Fatalf("no call %s", name)
		}
		return c.ID
	}
	const hello, callback = 0x7777777777777777, 0x5555555555555555
	two := func(name string, site uint64, vals ...any) sections.Terminal {
		term := sections.Terminal{FunctionID: id(name), Site: site}
		for _, v := range vals {
			switch v := v.(type) {
			case int:
				term.Values = append(term.Values, column.ColumnOf(int64(v), int64(v)))
			case []int64:
				term.Values = append(term.Values, column.ColumnOf(v...))
			}
		}
		return term
	}
	c := &sections.Content{
		Meta:    map[string]string{MetaCommand: "./app -n 4", MetaMPIFlavour: "mpich"},
		Ranks:   4,
		Strings: map[uint64]string{hello: "hello \"world\""},
		Sites: map[uint64]Site{
			1: {Module: "/usr/bin/app", BuildID: "abcd", Offset: 0x1100, Caller: nil}, 2: {Module: "/usr/bin/app", BuildID: "abcd", Offset: 0x1120, Caller: nil},
			3: {Module: "/usr/lib/libx.so", BuildID: "", Offset: 0x40, Caller: nil}, callback: {Module: "/usr/bin/app", BuildID: "abcd", Offset: 0x900, Caller: nil},
		},
	}
	pair := sections.Class{Ranks: column.ColumnOf(0, 2)}
	pair.Terminals = sections.TerminalList{
		two("MPI_Init", 0, 0),
		two("MPI_Comm_split", 1, 0, 257, []int64{0, 2}, 5, 1024, 0, []int64{0, 2}, 0, 1, -1, 0, 0),
		two("MPI_Irecv", 1, 0, 1<<8|1, 16, 4, 0x209, []int64{1, -3}, 7, 1024, 2),
		two("MPI_Isend", 2, 0, 2<<8|4, -32, 4, 0x209, []int64{2, 3}, 7, 257, 2),
		two("MPI_Waitall", 2, 0, 2, 2, 4, 2, 2, 1, []int64{1, 9}, 7, 16, 0, 4, 0),
		two("MPI_Op_create", 3, 0, callback, 1, 1024),
		two("MPI_Comm_set_name", 3, 0, 1024, hello),
		two("MPI_Send", 1, -1<<31, 0, 0, 4, 0x209, 1, 7, 257),
	}
	b := grammar.NewBuilder()
	for _, n := range []uint32{0, 1} {
		b.Append(n)
	}
	for range 50 {
		for _, n := range []uint32{2, 3, 4} {
			b.Append(n)
		}
	}
	for _, n := range []uint32{5, 6, 7} {
		b.Append(n)
	}
	second := grammar.NewBuilder()
	second.Append(7)
	pair.Streams = []*grammar.Grammar{b.Grammar(), second.Grammar()}
	often := grammar.CountOccurrences(pair.Streams, pair.Terminals.Len())
	for i := range pair.Terminals.(sections.TerminalList) {
		n := 2 * often[i]
		pair.Terminals.(sections.TerminalList)[i].Times = Times{Duration: stat(n, 100*n, 90, 120), Gap: stat(n, 10*n, 1, 90)}
	}
	// The tags of the loop's sends count, up on rank 0 and down on rank 2, and their
	// buffers move on with them; every tenth step is another one.
	steps := grammar.NewBuilder()
	for i := range uint32(49) {
		steps.Append(i % 10 / 9)
	}
	pair.Lanes = []signature.LaneColumns{{
		Terminal: 3, ValueIndices: []int{2, 6}, Steps: steps.Grammar(),
		StepColumns: [][]column.Column{{column.ColumnOf(8, 8), column.ColumnOf(1, -1)}, {column.ColumnOf(-72, -72), column.ColumnOf(5, 5)}},
	}}
	single := sections.Class{Ranks: column.ColumnOf(1), Terminals: sections.TerminalList{{
		FunctionID: id("MPI_Init"), Values: []column.Column{column.ColumnOf(0)},
		Times: Times{Duration: stat(1, 5, 5, 5)},
	}}}
	only := grammar.NewBuilder()
	only.Append(0)
	single.Streams = []*grammar.Grammar{only.Grammar()}
	c.Classes = []sections.Class{pair, single}
	calls := int64(pair.Streams[0].Len() + pair.Streams[1].Len())
	for rank, n := range []int64{calls, 1, calls, 0} {
		p := Process{Host: "n" + string(rune('0'+rank/2)), PID: 100 + rank, EndState: "finished", Threads: 1, InitWallClockNs: 1e18, FirstThreadNs: 1e9, Calls: n}
		if rank == 3 {
			p = Process{}
		}
		c.Processes.Append(p)
	}
	return c
}

func stat(count, sum, low, high uint64) Stat {
	s := Stat{Count: count, Sum: sum, Min: low, Max: high, MinRank: 1, MaxRank: 1}
	s.SetDeviation(float64(high-low) / 4)
	return s
}

func encoded(t testing.TB) []byte {
	t.Helper()
	b, err := sections.EncodeFile(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(b []byte) (*Reader, error) {
	return ReadBytes(b, "test.spoor")
}

// dump is the text twin of a whole trace.
func dump(r *Reader) (string, error) {
	var b strings.Builder
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if errors.Is(err, ErrNoTrack) {
			continue
		}
		if err != nil {
			return "", err
		}
		for s := range k.Streams() {
			for c, err := range k.Calls(s) {
				if err != nil {
					return "", err
				}
				b.WriteString(c.Text() + "\n" + string(c.AppendJSON(nil)) + "\n")
			}
		}
	}
	return b.String(), nil
}

func TestText(t *testing.T) {
	r, err := open(encoded(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(r); err != nil {
		t.Fatal(err)
	}
	k, err := r.Rank(2)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range []uint64{0, 1, 2, 3, 4, 5, 7, 152, 153, 154} {
		c, err := k.Call(0, i)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.Text())
	}
	want := []string{
		`MPI_Init() = MPI_SUCCESS`,
		`MPI_Comm_split(comm=MPI_COMM_WORLD, color=2, key=5, newcomm=comm0) = MPI_SUCCESS # rank 0 of 1, leader 2, ordinal 0`,
		`MPI_Irecv(buf=heap1+16, count=4, datatype=MPI_INT, source=MPI_PROC_NULL, tag=7, comm=comm0, request=request0) = MPI_SUCCESS`,
		`MPI_Isend(buf=stack2-32, count=4, datatype=MPI_INT, dest=3, tag=7, comm=MPI_COMM_WORLD, request=request1) = MPI_SUCCESS`,
		`MPI_Waitall(count=2, array_of_requests=[request0, request1], array_of_statuses=[{source=9, tag=7, bytes=16}, sent]) = MPI_SUCCESS`,
		`MPI_Irecv(buf=heap1+16, count=4, datatype=MPI_INT, source=MPI_PROC_NULL, tag=7, comm=comm0, request=request2) = MPI_SUCCESS`,
		`MPI_Waitall(count=2, array_of_requests=[request2, request3], array_of_statuses=[{source=9, tag=7, bytes=16}, sent]) = MPI_SUCCESS`,
		`MPI_Op_create(user_fn=app+0x900, commute=1, op=op0) = MPI_SUCCESS`,
		`MPI_Comm_set_name(comm=comm0, comm_name="hello \"world\"") = MPI_SUCCESS`,
		`MPI_Send(buf=NULL, count=4, datatype=MPI_INT, dest=1, tag=7, comm=MPI_COMM_WORLD) = never returned`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	c, err := k.Call(0, 4)
	if err != nil {
		t.Fatal(err)
	}
	const object = `{"rank":2,"thread":0,"index":4,"call":"MPI_Waitall","site":"app+0x1120","params":{"count":2,` +
		`"array_of_requests":["request0","request1"],"array_of_statuses":[{"source":9,"tag":7,"bytes":16},{"sent":true}]},` +
		`"return":"MPI_SUCCESS"}`
	if d := cmp.Diff(object, string(c.AppendJSON(nil))); d != "" {
		t.Error(d)
	}
}

// Seeking gives the calls that walking gives.
func TestCallsFrom(t *testing.T) {
	r, err := open(encoded(t))
	if err != nil {
		t.Fatal(err)
	}
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	for walked, err := range k.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		sought, err := k.Call(0, walked.Index)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(walked, sought); d != "" {
			t.Fatalf("call %d: %s", walked.Index, d)
		}
	}
	if _, err := k.Call(0, k.CallCount(0)); err == nil {
		t.Error("there is a call behind the last")
	}
}

func TestStructure(t *testing.T) {
	r, err := open(encoded(t))
	if err != nil {
		t.Fatal(err)
	}
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	var show func(n Node, depth int) string
	show = func(n Node, depth int) string {
		s := strings.Repeat(" ", depth)
		switch n.Kind {
		case CallNode:
			c, err := k.Terminal(n.Terminal)
			if err != nil {
				t.Fatal(err)
			}
			return s + c.Name() + "\n"
		case LoopNode:
			s += "loop"
		default:
			s += "sequence"
		}
		s += strings.Repeat("*", int(n.Count)/10) + "\n"
		for _, c := range n.Children() {
			s += show(c, depth+1)
		}
		return s
	}
	want := "sequence\n MPI_Init\n MPI_Comm_split\n loop*****\n  MPI_Irecv\n  MPI_Isend\n  MPI_Waitall\n" +
		" MPI_Op_create\n MPI_Comm_set_name\n MPI_Send\n"
	if d := cmp.Diff(want, show(k.Structure(0), 0)); d != "" {
		t.Error(d)
	}
}

func TestMissingRank(t *testing.T) {
	r, err := open(encoded(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rank(3); !errors.Is(err, ErrNoTrack) {
		t.Errorf("rank without a track: error %v", err)
	}
	if _, err := r.Rank(4); err == nil {
		t.Error("there is a rank 4 of 4")
	}
}

func TestEqualContentEqualBytes(t *testing.T) {
	a, b := encoded(t), encoded(t)
	if !bytes.Equal(a, b) {
		t.Error("the same content gives two files")
	}
}

// A file that ends early, anywhere, is an error that names the file.
func TestTruncated(t *testing.T) {
	file := encoded(t)
	for n := range file {
		r, err := open(file[:n])
		if err == nil {
			err = Check(r)
		}
		if err == nil {
			t.Fatalf("the first %d of %d bytes pass", n, len(file))
		}
		if !errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), "trace: test.spoor: ") {
			t.Fatalf("first %d bytes: error %q", n, err)
		}
	}
	if _, err := open(append(file, 0)); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte too many: error %v", err)
	}
}

// No damaged byte goes unnoticed, and what is noticed names its section.
func TestDamaged(t *testing.T) {
	file := encoded(t)
	step := 1
	if testing.Short() {
		step = 13
	}
	for i := 0; i < len(file); i += step {
		for _, mask := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(file)
			bad[i] ^= mask
			r, err := open(bad)
			if err == nil {
				_, err = dump(r)
				if err == nil {
					err = Check(r)
				}
			}
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("byte %d of %d changed: error %v", i, len(file), err)
			}
			if s := err.Error(); !strings.Contains(s, "header") && !strings.Contains(s, "directory") && !strings.Contains(s, "section ") {
				t.Fatalf("byte %d: error %q doesn't say where", i, s)
			}
		}
	}
}

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.spoor")
	if err := sections.WriteFile(path, sample(t), false); err != nil {
		t.Fatal(err)
	}
	if err := sections.WriteFile(path, sample(t), false); !errors.Is(err, os.ErrExist) {
		t.Errorf("over an existing file: error %v", err)
	}
	if err := sections.WriteFile(path, sample(t), true); err != nil {
		t.Errorf("overwriting: error %v", err)
	}
	names, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(names) != 1 {
		t.Errorf("files %v, error %v", names, err)
	}
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := Check(r); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(sample(t).Meta, r.Meta()); d != "" {
		t.Error(d)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.spoor")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
}

// Content that contradicts itself is refused rather than written.
func TestEncodeRefuses(t *testing.T) {
	for name, spoil := range map[string]func(c *sections.Content){
		"rank twice":        func(c *sections.Content) { c.Classes[1].Ranks = column.ColumnOf(2) },
		"rank out of range": func(c *sections.Content) { c.Classes[1].Ranks = column.ColumnOf(4) },
		"no ranks":          func(c *sections.Content) { c.Classes[1].Ranks = column.Column{} },
		"short column": func(c *sections.Content) {
			c.Classes[0].Terminals.(sections.TerminalList)[2].Values[1] = column.ColumnOf(1)
		},
		"terminals":        func(c *sections.Content) { c.Classes[0].Terminals = c.Classes[0].Terminals.(sections.TerminalList)[:3] },
		"unknown function": func(c *sections.Content) { c.Classes[1].Terminals.(sections.TerminalList)[0].FunctionID = 60000 },
		"odd values": func(c *sections.Content) {
			c.Classes[1].Terminals.(sections.TerminalList)[0].Values = append(c.Classes[1].Terminals.(sections.TerminalList)[0].Values, column.ColumnOf(1))
		},
		"processes": func(c *sections.Content) { c.Ranks = 9 },
	} {
		c := sample(t)
		spoil(c)
		if _, err := sections.EncodeFile(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// A look at each distinct call costs no memory.
func TestCalledAllocatesNothing(t *testing.T) {
	k, err := reopened(t, sample(t)).Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if allocs := testing.AllocsPerRun(100, func() {
		c := k.CallWithoutParams(0)
		n += c.Turn
	}); allocs > 0 {
		t.Errorf("%.0f allocations, %d", allocs, n)
	}
}
