//go:build cgo

package main

import (
	"testing"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/reproduce/replay"
)

// Calls are made again until all are made, each when it is due, or until one fails.
func TestRepeat(t *testing.T) {
	h := &host{}
	at, err := h.Alloc(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	c := (*replay.Call)(*(*unsafe.Pointer)(unsafe.Pointer(&at)))
	at += 1 << 12
	r := (*replay.RepeatedCall)(*(*unsafe.Pointer)(unsafe.Pointer(&at)))
	now := func() int64 {
		c.FunctionAddress, c.NotBeforeNs = h.StandInAddress(reissue.StandInNoOp), 0
		h.MakeCall(c)
		return c.EndNs
	}

	begin := now()
	r.Count, r.PreviousEndNs = 100, begin
	for i := range 100 {
		r.DueTimes[i].Line = begin + int64(i)*100_000
	}
	h.RepeatCall(c, r)
	if last := r.DueTimes[99].Line; r.NextIndex != 100 || c.BeginNs < last || c.ReadyNs > c.BeginNs || c.EndNs < c.BeginNs || r.PreviousEndNs != c.EndNs || r.CurrentDueNs < last || r.CurrentDueNs > c.BeginNs {
		t.Errorf("%d calls, the last from %d to %d, due at %d, seen as from %d", r.NextIndex, c.BeginNs, c.EndNs, last, r.CurrentDueNs)
	}
	if r.HeldNs <= 0 || r.HeldNs+r.MPINs > c.EndNs-begin {
		t.Errorf("held for %d ns, in calls %d, of %d", r.HeldNs, r.MPINs, c.EndNs-begin)
	}

	*r = replay.RepeatedCall{Count: 200, LateNs: 5_000_000}
	r.PreviousEndNs = now()
	begin = r.PreviousEndNs
	for i := range 200 {
		r.DueTimes[i].Gap = 100_000
	}
	h.RepeatCall(c, r)
	// Of 20 ms of gaps, 5 were to be made up for, and what calls were late.
	if took := c.EndNs - begin; r.NextIndex != 200 || took < 15_000_000-r.LateNs || r.HeldNs != 0 {
		t.Errorf("%d calls took %d ns, held for %d", r.NextIndex, took, r.HeldNs)
	}

	*r = replay.RepeatedCall{Count: 3, PreviousEndNs: now()}
	c.FunctionAddress = uint64(uintptr(h.own("getpid")))
	for want := range int64(3) {
		if h.RepeatCall(c, r); r.NextIndex != want+1 || int64(c.Result) <= 0 {
			t.Errorf("%d calls were made, expected to stop after %d, which gave %d", r.NextIndex, want+1, c.Result)
		}
	}
}
