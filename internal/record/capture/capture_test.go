package capture

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// tracked drains what the threads wrote and returns the track.
func tracked(tb testing.TB, threads ...*synth) *track.Track {
	tb.Helper()
	c := attach(tb, testConfig(), threads...)
	if err := c.Drain(); err != nil {
		tb.Fatal(err)
	}
	t, err := c.Track(track.EndFinished)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

// calls expands a stream.
func calls(t *track.Track, stream int) []signature.Signature {
	var list []signature.Signature
	for _, s := range tracktest.Calls(t, stream) {
		list = append(list, s)
	}
	return list
}

func vals(t *track.Track, stream int) [][]int64 {
	var v [][]int64
	for _, s := range calls(t, stream) {
		v = append(v, s.Values)
	}
	return v
}

func check(tb testing.TB, got, want any) {
	tb.Helper()
	if d := cmp.Diff(want, got); d != "" {
		tb.Errorf("-want +got:\n%s", d)
	}
}

// The same things in the standard ABI.
const (
	abiWorld    = 0x101
	abiCommNull = 0x100
	abiInt      = 0x209
	abiSum      = 0x21
	stack0      = 4 // segment of thread 0's stack
	local       = mpi.FirstUserHandleID
)

// A call's values: return code, then each parameter's input and output.
func TestValues(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.commRank()
	s.allreduce()
	s.iprobe()
	s.enter("MPI_Recv", cat([]uint64{event.AddressClassSpecial << 56, event.AddressBottom}, 4, typeInt, anySource, ^uint64(0), commWorld)...)
	s.leave("MPI_Recv", statusOf(2, 9, 12)...)
	s.enter("MPI_Barrier", commWorld)
	s.fail("MPI_Barrier", 5) // MPI_ERR_COMM is 5 in MPICH, too
	check(t, vals(tracked(t, s), 0), [][]int64{
		{0, abiWorld, 0},
		{0, stack0, -4096, stack0, -4088, 1, abiInt, abiSum, abiWorld},
		{0, -1, 7, abiWorld, 0, 0},
		{0, 0, 0, 4, abiInt, -1, -2, abiWorld, 1, 2, 9, 12, 0},
		{mpi.NumberTableOf(mpi.FlavourMPICH, mpi.KindError).ToABI(5), abiWorld},
	})
}

// Times, sites and the process.
func TestTimes(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.w.NextTicks = 1100
	for range 3 {
		s.commRank()
		s.w.NextTicks += 90
	}
	got := tracked(t, s)
	if len(got.Signatures) != 1 || len(got.Times) != 1 {
		t.Fatalf("%d signatures, %d times", len(got.Signatures), len(got.Times))
	}
	// Records are 10 ticks apart and two ticks are a nanosecond.
	d, g := got.Times[0].Duration, got.Times[0].Gap
	if d.Count != 3 || d.Sum != 15 || d.Min != 5 || d.Max != 5 {
		t.Errorf("duration %+v", d)
	}
	if g.Count != 3 || g.Sum != 100 || g.Min != 0 || g.Max != 50 {
		t.Errorf("gap %+v", g)
	}
	p := got.Process
	if p.Host != "node" || p.PID != 7 || p.EndState != track.EndFinished || p.Threads != 1 || p.StartNs != 5e9+50 || p.SpanNs != 115 {
		t.Errorf("process %+v", p)
	}
}

// What the recorder or a plugin took is neither a gap nor part of the rank's time.
func TestAside(t *testing.T) {
	const aside = 60
	s := newSynth(t, 0, 1<<16)
	s.w.NextTicks = 1100
	s.commRank()
	s.w.NextTicks += 90
	if err := s.w.Write(0, event.KindAttachedValues, 0, []uint64{aside}); err != nil {
		t.Fatal(err)
	}
	s.commRank()
	got := tracked(t, s)
	// From the first ENTER to the last LEAVE are four times 10 ticks, and 90.
	if g := got.Times[0].Gap; g.Sum != (90+20-aside)/2 {
		t.Errorf("gap %+v", g)
	}
	if got.Process.SpanNs != (90+40-aside)/2 {
		t.Errorf("process %+v", got.Process)
	}
	if want := []track.Aside{{BeforeCall: 1, Ns: aside / 2}}; !slices.Equal(got.Process.Asides, want) {
		t.Errorf("%+v, want %+v", got.Process.Asides, want)
	}
}

// So is what the engine took while a call was under way, whose end was noted before, and
// the time in which tracing was switched off.
func TestAsidesOfAllKinds(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	write := func(kind event.Kind, flags uint8, words ...uint64) {
		t.Helper()
		if err := s.w.Write(0, kind, flags, words); err != nil {
			t.Fatal(err)
		}
	}
	s.w.NextTicks = 1100
	s.commRank()
	s.w.NextTicks += 1000
	write(event.KindAttachedValues, 0, 400) // told of before an ENTER
	s.commRank()
	s.w.NextTicks += 30
	write(event.KindTracingSwitch, 0, 0)
	s.w.NextTicks += 500
	write(event.KindAttachedValues, 0, 100) // within the time below
	write(event.KindTracingSwitch, 0, 1)
	s.w.NextTicks += 20
	s.commRank()
	got := tracked(t, s)
	var gaps, calls, asides int64
	for _, x := range got.Times {
		gaps += int64(x.Gap.Sum)
		calls += int64(x.Duration.Sum)
	}
	list := got.Process.Asides
	if len(list) != 2 || list[0] != (track.Aside{BeforeCall: 1, Ns: 200}) || list[1].BeforeCall != 2 || !list[1].TracingOff || list[1].Ns < 265 || list[1].Ns > 300 {
		t.Errorf("asides %+v", list)
	}
	for _, a := range list {
		asides += a.Ns
	}
	if p := got.Process; gaps+calls != p.SpanNs || gaps+calls+asides != int64(s.w.NextTicks-1100+20)/2 && gaps+calls+asides < p.SpanNs+asides {
		t.Errorf("gaps %d, calls %d, asides %d, span %d", gaps, calls, asides, p.SpanNs)
	}
}

// However many asides there are, a bounded number is kept, and their sum.
func TestAsidesAreBounded(t *testing.T) {
	var a asides
	for i := range uint64(10000) {
		a.add(i+1, i+1, false)
		if i%7 == 0 {
			a.add(i+1, 3, true)
		}
	}
	last, off := uint64(0), uint64(0)
	for _, x := range a.list {
		if x.call < last {
			t.Fatalf("call %d behind %d", x.call, last)
		}
		if last = x.call; x.off {
			off += x.ticks
		}
	}
	if n := len(a.list); n > 2*mostAsides || n < mostAsides/2 || a.sum() != 10000*10001/2+off || off != 3*1429 || a.list[0] != (aside{1, 1, false}) {
		t.Errorf("%d asides of %d ticks, %d switched off, the first %+v", n, a.sum(), off, a.list[0])
	}
}

// Handles get the lowest free number; predefined ones keep the ABI's.
func TestHandles(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	dup := func(raw uint64) {
		s.enter("MPI_Comm_dup", commWorld)
		s.leave("MPI_Comm_dup", cat(raw, 0, 1, 4, -1, 0, 0)...)
	}
	free := func(raw uint64) {
		s.enter("MPI_Comm_free", raw)
		s.leave("MPI_Comm_free")
	}
	dup(0x84000001)
	dup(0x84000002)
	free(0x84000001)
	dup(0x84000003)
	s.enter("MPI_Comm_rank", 0x84000002)
	s.leave("MPI_Comm_rank", 1)
	s.enter("MPI_Comm_rank", 0x84000009)
	s.leave("MPI_Comm_rank", 1)
	check(t, vals(tracked(t, s), 0), [][]int64{
		{0, abiWorld, local, 0, 0, 1, 4, -1, 0, 0},
		{0, abiWorld, local + 1, 1, 0, 1, 4, -1, 0, 0},
		{0, local},
		{0, abiWorld, local, 2, 0, 1, 4, -1, 0, 0},
		{0, local + 1, 1},
		{0, -1, 1},
	})
}

// Committing a type hands out no new reference: it is gone when it is freed once,
// whatever the MPI does with its memory.
func TestCommitIsNoReference(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	for _, raw := range []uint64{0xcc000001, 0xcc000002, 0xcc000001} {
		s.enter("MPI_Type_contiguous", 2, typeInt)
		s.leave("MPI_Type_contiguous", raw, 8, 0, 8, 0, 8)
		s.enter("MPI_Type_commit", raw)
		s.leave("MPI_Type_commit", raw)
		s.enter("MPI_Type_free", raw)
		s.leave("MPI_Type_free")
	}
	got := vals(tracked(t, s), 0)
	for i := range 3 {
		check(t, got[3*i:3*i+3], [][]int64{{0, 2, abiInt, local, 8, 0, 8, 0, 8}, {0, local, local}, {0, local}})
	}
}

// A rank that gets no communicator still counts the creation, so that later
// ones have equal numbers on all ranks.
func TestOrdinalCountsNull(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.enter("MPI_Comm_split", cat(commWorld, -32766, 0)...)
	s.leave("MPI_Comm_split", commNull)
	s.enter("MPI_Comm_split", cat(commWorld, 0, 0)...)
	s.leave("MPI_Comm_split", cat(0x84000001, 2, 0, 2, -1, 0, 0)...)
	undefined := mpi.NumberTableOf(mpi.FlavourMPICH, mpi.KindSplitColor).ToABI(-32766)
	check(t, vals(tracked(t, s), 0), [][]int64{
		{0, abiWorld, undefined, 0, abiCommNull},
		{0, abiWorld, 0, 0, local, 1, 2, 0, 2, -1, 0, 0},
	})
}

// A nonblocking duplicate is described like its parent, and may get its handle
// when it is complete.
func TestIdup(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.enter("MPI_Comm_idup", commWorld)
	s.leave("MPI_Comm_idup", commNull, 0x98000000, 0x5000)
	s.wait(0x98000000, 0x5000)
	s.enter("MPI_Comm_rank", 0x84000001)
	s.leave("MPI_Comm_rank", 1)
	check(t, vals(tracked(t, s), 0), [][]int64{
		{0, abiWorld, local, 2, 0, 0, 1, 4, -1, 0, 0},
		{0, 2, 4, 0},
		{0, local, 1},
	})
}

// Calls made by a callback stand behind the call that called back.
func TestNested(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	for range 2 {
		s.enter("MPI_Barrier", commWorld)
		s.commRank()
		s.enter("MPI_Comm_size", commWorld)
		s.commRank()
		s.leave("MPI_Comm_size", 4)
		s.leave("MPI_Barrier")
		s.iprobe()
	}
	want := []string{"MPI_Barrier", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Comm_rank", "MPI_Iprobe"}
	check(t, names(t, tracked(t, s), 0), append(want, want...))
}

func names(tb testing.TB, t *track.Track, stream int) []string {
	var list []string
	for _, s := range calls(t, stream) {
		c, ok := mpi.CallByID(s.FunctionID)
		if !ok {
			tb.Fatalf("no call %d", s.FunctionID)
		}
		list = append(list, c.Name)
	}
	return list
}

// While tracing is off, handles are followed and nothing is recorded.
func TestMuted(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.commRank()
	s.w.Write(0, event.KindTracingSwitch, 0, []uint64{0})
	s.w.Enter(id(t, "MPI_Comm_dup"), event.FlagTracingOff, 0x401000, commWorld)
	s.leave("MPI_Comm_dup", cat(0x84000001, 0, 1, 4, -1, 0, 0)...)
	s.w.NextTicks += 1000
	s.w.Write(0, event.KindTracingSwitch, 0, []uint64{1})
	s.enter("MPI_Comm_rank", 0x84000001)
	s.leave("MPI_Comm_rank", 1)
	got := tracked(t, s)
	check(t, vals(got, 0), [][]int64{{0, abiWorld, 0}, {0, local, 1}})
	if g := got.Times[1].Gap.Max; g != 5 {
		t.Errorf("gap %d ns: time without tracing counts", g)
	}
}

// What a call under way did when the process died.
func TestUnfinished(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.commRank()
	s.enter("MPI_Wait", requestNull, 0x5000)
	c := attach(t, testConfig(), s)
	if err := c.Drain(); err != nil {
		t.Fatal(err)
	}
	got, err := c.Track(track.EndCrashed)
	if err != nil {
		t.Fatal(err)
	}
	check(t, vals(got, 0), [][]int64{{0, abiWorld, 0}, {ReturnCodeNeverReturned, 0}})
}

// Terminals are numbered by first occurrence over the streams in order,
// whatever the order of time was.
func TestNumbering(t *testing.T) {
	a, b := newSynth(t, 0, 1<<16), newSynth(t, 1, 1<<16)
	b.iprobe()
	b.w.NextTicks = 5000
	a.w.NextTicks = 2000
	a.commRank()
	a.allreduce()
	b.commRank()
	got := tracked(t, a, b)
	check(t, names(t, got, 0), []string{"MPI_Comm_rank", "MPI_Allreduce"})
	check(t, names(t, got, 1), []string{"MPI_Iprobe", "MPI_Comm_rank"})
	var order []uint32
	for _, s := range got.Streams {
		order = append(order, s.Grammar.Terminals()...)
	}
	check(t, order, []uint32{0, 1, 2, 0})
}

// Strings are content hashes with their bytes in a table.
func TestStrings(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.enter("MPI_Comm_set_name", cat(commWorld, 5, uint64(0x6f6c6c6568))...) // "hello"
	s.leave("MPI_Comm_set_name")
	s.enter("MPI_Comm_set_name", cat(commWorld, event.ArrayLenNull)...)
	s.leave("MPI_Comm_set_name")
	got := tracked(t, s)
	v := vals(got, 0)
	if len(v) != 2 || len(v[0]) != 3 || got.Strings[uint64(v[0][2])] != "hello" || v[1][2] != 0 {
		t.Errorf("values %v, strings %v", v, got.Strings)
	}
}

// A lean track has the same calls, lanes included, read from the capture.
func TestLeanTrack(t *testing.T) {
	build := func() *Capture {
		s := newSynth(t, 0, 1<<17)
		for i := range 500 {
			s.send(i, stackBuf) // a lane
			s.enter("MPI_Send", cat(buffer(stackBuf), i*i%97, typeInt, 1, i*i%89, commWorld)...)
			s.leave("MPI_Send")
		}
		c := attach(t, testConfig(), s)
		if err := c.Drain(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	want, err := build().Track(track.EndFinished)
	if err != nil {
		t.Fatal(err)
	}
	got, err := build().TrackSavingMemory(track.EndFinished)
	if err != nil {
		t.Fatal(err)
	}
	calls := got.AllDistinctCalls()
	if len(want.Lanes) == 0 || len(got.Lanes) != len(want.Lanes) || calls.Len() != len(want.Signatures) || len(got.Signatures) > 0 {
		t.Fatalf("%d lanes and %d calls, want %d and %d", len(got.Lanes), calls.Len(), len(want.Lanes), len(want.Signatures))
	}
	var s signature.Signature
	for i := range calls.Len() {
		if err := calls.Fill(i, &s); err != nil {
			t.Fatal(err)
		}
		call, site, width := calls.DescribeCall(i)
		if !s.Equal(want.Signatures[i]) || call != s.FunctionID || site != s.Site || width != len(s.Values) || calls.Times(i) != want.Times[i] {
			t.Errorf("call %d is %v, want %v", i, s, want.Signatures[i])
		}
	}
}
