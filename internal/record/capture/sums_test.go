package capture

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
)

// ints is an array of 32-bit numbers as the shim writes it.
func ints(list ...int) []uint64 {
	out := []uint64{uint64(len(list))}
	for i, v := range list {
		if i%2 == 0 {
			out = append(out, uint64(uint32(v)))
		} else {
			out[len(out)-1] |= uint64(uint32(v)) << 32
		}
	}
	return out
}

// longs is one of 64-bit numbers.
func longs(list ...int) []uint64 {
	out := []uint64{uint64(len(list))}
	for _, v := range list {
		out = append(out, uint64(v))
	}
	return out
}

// Displacements that are the sums of their counts are left out, those of which one is
// no sum, and those that aren't there, stay; with 64-bit counts and at a checkpoint, too.
func TestSums(t *testing.T) {
	const typ = 0x209
	absent := []uint64{^uint64(3)} // -4
	exchange := func(s *synth, name string, counts, displs, rcounts, rdispls []uint64) {
		s.enter(name, cat(buffer(stackBuf), counts, displs, typeInt, buffer(stackBuf+512), rcounts, rdispls, typeInt, commWorld)...)
		s.leave(name)
	}
	s := newSynth(t, 0, 1<<16)
	exchange(s, "MPI_Alltoallv", ints(4, 0, 7), ints(2, 6, 6), ints(1, 2, 3), ints(0, 1, 4))
	exchange(s, "MPI_Alltoallv_c", longs(1<<40, 0, 7), longs(-5, 1<<40-5, 1<<40-5), longs(1, 2), longs(0, 2))
	exchange(s, "MPI_Alltoallv", absent, absent, ints(), ints())
	s.enter("MPI_Gatherv", cat(buffer(stackBuf), 1, typeInt, buffer(stackBuf), absent, absent, typeInt, 0, commWorld)...)
	s.leave("MPI_Gatherv")
	s.enter("MPI_Gatherv", cat(buffer(stackBuf), 1, typeInt, buffer(stackBuf), ints(3, 3), ints(0, 3), typeInt, 0, commWorld)...)
	s.leave("MPI_Gatherv")
	// Arrays of other things are what they are, though they be sums.
	s.enter("MPI_Cart_create", cat(commWorld, 2, ints(2, 2), ints(0, 2), 0)...)
	s.leave("MPI_Cart_create", cat(0x84000001, 0, 1, 4, -1, 0, 0)...)
	c := attach(t, testConfig(), s)
	if err := c.Drain(); err != nil {
		t.Fatal(err)
	}
	got, err := c.Track(track.EndFinished)
	if err != nil {
		t.Fatal(err)
	}
	list := vals(got, 0)
	if len(list) != 6 {
		t.Fatalf("%d calls", len(list))
	}
	holds := func(call int, part ...int64) {
		t.Helper()
		for at := range list[call] {
			if slices.Equal(list[call][at:min(at+len(part), len(list[call]))], part) {
				return
			}
		}
		t.Errorf("call %d has no %d: %d", call, part, list[call])
	}
	holds(0, 3, 4, 0, 7, -9, 2, 0, 0, typ)
	holds(0, 3, 1, 2, 3, 3, 0, 1, 4, typ)
	holds(1, 3, 1<<40, 0, 7, -9, -5, 0, 0, typ)
	holds(1, 2, 1, 2, 2, 0, 2, typ)
	holds(2, -4, -4, typ)
	holds(2, 0, 0, typ)
	holds(3, -4, -4, typ)
	holds(4, 2, 3, 3, -8, 0, 0, typ)
	holds(5, 2, 2, 2, 2, 0, 2, 0)
	for n := range c.sigs.Len() {
		if err := c.checkKey(c.sigs.Key(uint32(n))); err != nil {
			t.Error(err)
		}
	}
	if n, summed := signature.ArrayLength(event.ArrayLenIgnored); summed || n != event.ArrayLenIgnored {
		t.Error("what stands for no array reads as one with sums")
	}
}
