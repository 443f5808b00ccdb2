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
	r := (*replay.Repeats)(*(*unsafe.Pointer)(unsafe.Pointer(&at)))
	now := func() int64 {
		c.Function, c.NotBefore = h.StandIn(reissue.StandInNothing), 0
		h.Make(c)
		return c.End
	}

	begin := now()
	r.N, r.Last = 100, begin
	for i := range 100 {
		r.At[i].Line = begin + int64(i)*100_000
	}
	h.Repeat(c, r)
	if last := r.At[99].Line; r.Next != 100 || c.Begin < last || c.Ready > c.Begin || c.End < c.Begin || r.Last != c.End || r.From < last || r.From > c.Begin {
		t.Errorf("%d calls, the last from %d to %d, due at %d, seen as from %d", r.Next, c.Begin, c.End, last, r.From)
	}
	if r.Held <= 0 || r.Held+r.MPINs > c.End-begin {
		t.Errorf("held for %d ns, in calls %d, of %d", r.Held, r.MPINs, c.End-begin)
	}

	*r = replay.Repeats{N: 200, Late: 5_000_000}
	r.Last = now()
	begin = r.Last
	for i := range 200 {
		r.At[i].Gap = 100_000
	}
	h.Repeat(c, r)
	// Of 20 ms of gaps, 5 were to be made up for, and what calls were late.
	if took := c.End - begin; r.Next != 200 || took < 15_000_000-r.Late || r.Held != 0 {
		t.Errorf("%d calls took %d ns, held for %d", r.Next, took, r.Held)
	}

	*r = replay.Repeats{N: 3, Last: now()}
	c.Function = uint64(uintptr(h.own("getpid")))
	for want := range int64(3) {
		if h.Repeat(c, r); r.Next != want+1 || int64(c.Result) <= 0 {
			t.Errorf("%d calls were made, expected to stop after %d, which gave %d", r.Next, want+1, c.Result)
		}
	}
}
