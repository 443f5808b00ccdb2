package capture

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// sendStatus and recvStatus are what is kept of the statuses that synth writes.
var (
	sendStatus = []int64{4, 0}
	recvStatus = []int64{1, 1, 3, 16, 0}

	postedStatus = []int64{signature.StatusFormImplied} // of a request for that message
)

func waitVals(name int64, status []int64) []int64 { return append([]int64{0, name}, status...) }

// A loop is one terminal for each of its calls, whatever handles the MPI
// gives out, in turn or the same for several operations.
func TestRequestLoop(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	for i := range uint64(50) {
		s.irecv(0x98000000+i%3, 0x5000)
		s.isend(shared, 0x5004)
		s.isend(shared, 0x5008)
		s.waitall(0x5000, 0x98000000+i%3, shared, shared)
	}
	got := tracked(t, s)
	if len(got.Signatures) != 3 {
		t.Errorf("%d signatures, want 3", len(got.Signatures))
	}
	want := []int64{0, 3, 3, 6, 4, 2, 3}
	for _, st := range [][]int64{postedStatus, sendStatus, sendStatus} {
		want = append(want, st...)
	}
	check(t, got.Signatures[2].Values, want)
}

// Requests with the same handle are told apart by their variables.
func TestRequestsSharedByPlace(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.isend(shared, 0x5000)
	s.isend(shared, 0x5004)
	s.irecv(shared, 0x5008)
	s.wait(shared, 0x5008)
	s.wait(shared, 0x5000)
	s.wait(shared, 0x5004)
	check(t, vals(tracked(t, s), 0)[3:], [][]int64{
		waitVals(2, postedStatus), waitVals(6, sendStatus), waitVals(4, sendStatus),
	})
}

// Once the program has copied them, the oldest is taken.
func TestRequestsSharedCopied(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	for range 3 {
		s.isend(shared, 0x5000)
	}
	s.waitall(0x9000, shared, shared, shared)
	got := tracked(t, s)
	want := []int64{0, 3, 3, 6, 4, 2, 3}
	for range 3 {
		want = append(want, sendStatus...)
	}
	check(t, got.Signatures[1].Values, want)
}

// Null and unknown requests, and such that were freed.
func TestRequestsNullUnknownFreed(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.isend(0x98000001, 0x5000)
	s.enter("MPI_Request_free", 0x98000001, 0x5000)
	s.leave("MPI_Request_free")
	s.wait(requestNull, 0x5000)
	s.wait(0x98000001, 0x5000)
	s.isend(requestNull, 0x5000)
	got := vals(tracked(t, s), 0)
	check(t, got[1:4], [][]int64{{0, 2}, waitVals(0, recvStatus), waitVals(-1, recvStatus)})
	if last := got[4]; last[len(last)-1] != 0 {
		t.Errorf("a null request came out as %d", last[len(last)-1])
	}
}

// Persistent requests keep their number until they are freed.
func TestRequestsPersistent(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	init := func(handle, place uint64) {
		s.enter("MPI_Recv_init", cat(buffer(stackBuf), 4, typeInt, 1, 3, commWorld)...)
		s.leave("MPI_Recv_init", handle, place)
	}
	init(0x98000001, 0x5000)
	init(0x98000002, 0x5004)
	for range 2 {
		s.enter("MPI_Startall", cat(2, 2, uint64(0x5000), 4, uint64(0x98000001), uint64(0x98000002))...)
		s.leave("MPI_Startall")
		s.wait(0x98000002, 0x5004)
	}
	s.enter("MPI_Request_free", 0x98000001, 0x5000)
	s.leave("MPI_Request_free")
	init(0x98000003, 0x5008)
	got := vals(tracked(t, s), 0)
	check(t, got[2:7], [][]int64{
		{0, 2, 2, 1, 3}, waitVals(3, postedStatus), {0, 2, 2, 1, 3}, waitVals(3, postedStatus), {0, 1},
	})
	check(t, got[7][len(got[7])-1], int64(1))
}

// Waitany, Waitsome and Testall end what they say they end.
func TestRequestsPartly(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	for i := range uint64(4) {
		s.irecv(0x98000000+i, 0x5000+4*i)
	}
	list := cat(4, 4, uint64(0x5000), 4)
	s.enter("MPI_Waitany", cat(list, uint64(0x98000000), uint64(0x98000001), uint64(0x98000002), uint64(0x98000003))...)
	s.leave("MPI_Waitany", cat(2, statusOf(1, 3, 16))...)
	s.enter("MPI_Testall", cat(list, uint64(0x98000000), uint64(0x98000001), requestNull, uint64(0x98000003))...)
	s.leave("MPI_Testall", cat(0, 4, make([]uint64, 24))...)
	s.enter("MPI_Waitsome", cat(list, uint64(0x98000000), uint64(0x98000001), requestNull, uint64(0x98000003))...)
	s.leave("MPI_Waitsome", cat(2, 2, uint64(3)|uint64(0)<<32, 2, statusOf(1, 3, 16), statusOf(1, 3, 16))...)
	s.enter("MPI_Testall", cat(list, requestNull, uint64(0x98000001), requestNull, requestNull)...)
	s.leave("MPI_Testall", cat(1, 4, statusOf(1, 3, 16), statusOf(1, 3, 16), statusOf(1, 3, 16), statusOf(1, 3, 16))...)
	s.irecv(0x98000001, 0x5000)
	c := attach(t, testConfig(), s)
	if err := c.Drain(); err != nil {
		t.Fatal(err)
	}
	got, err := c.Track("finished")
	if err != nil {
		t.Fatal(err)
	}
	v := vals(got, 0)
	check(t, v[4][:7], []int64{0, 4, 4, 8, 6, 4, 2})
	for _, as := range v[5:8] {
		check(t, as[:3], []int64{0, 4, signature.LengthFromEarlierCall})
	}
	if i := c.requests.FindIndex(0x98000001, 0x5000); i < 0 || c.requests.Name(i, 0x98000001, 0) != 2 {
		t.Errorf("the handle's second request is not the only one left")
	}
}

// With MPI_ERR_IN_STATUS, requests that are still pending stay.
func TestRequestsPending(t *testing.T) {
	s := newSynth(t, 0, 1<<16)
	s.irecv(0x98000001, 0x5000)
	s.irecv(0x98000002, 0x5004)
	const inStatus, pending = 17, 18 // MPICH's
	s.enter("MPI_Waitall", cat(2, 2, uint64(0x5000), 4, uint64(0x98000001), uint64(0x98000002))...)
	first, second := statusOf(1, 3, 16), statusOf(1, 3, 0)
	second[5] = pending
	s.w.Leave(id(t, "MPI_Waitall"), event.FlagReturnCode, cat(inStatus, 2, first, second)...)
	s.wait(0x98000002, 0x5004)
	s.wait(0x98000001, 0x5000)
	v := vals(tracked(t, s), 0)
	check(t, v[3][1], int64(2))
	check(t, v[4][1], int64(-1))
}

// A request may be waited for by another thread than the one that made it.
func TestRequestsOfOtherThread(t *testing.T) {
	a, b := newSynth(t, 0, 1<<16), newSynth(t, 1, 1<<16)
	a.irecv(0x98000001, 0x5000)
	a.irecv(0x98000002, 0x5004)
	b.w.NextTicks = 5000
	b.wait(0x98000001, 0x5000)
	v := vals(tracked(t, a, b), 1)
	check(t, v[0][1], int64(-2-1<<10))
}
