package main

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// same compares a rank of a trace with the rank as it ran: the sequence of
// calls, and everything each of them says.
func same(t *trace.Reader, rank int, v *vmpi.Rank) error {
	k, err := t.Rank(rank)
	if err != nil {
		return err
	}
	own := v.Track()
	if k.Streams() != 1 || k.Len(0) != v.Calls() {
		return fmt.Errorf("%d streams, %d calls, %d were made", k.Streams(), k.Len(0), v.Calls())
	}
	// Terminals of a trace are those of a class, and may be more than the
	// rank's own; each has to be one of these.
	const unknown = ^uint32(0)
	of := slices.Repeat([]uint32{unknown}, k.Terminals())
	next, stop := iter.Pull(own.Streams[0].Grammar.All())
	defer stop()
	sum, at := uint64(0), uint64(0)
	for terminal, vals := range k.Signatures(0) {
		want, _ := next()
		switch of[terminal] {
		case want:
		case unknown:
			of[terminal] = want
			c, err := k.Terminal(terminal)
			if err != nil {
				return err
			}
			if s := own.Sigs[want]; c.Func.ID != s.Call || !samePlace(c.Site, own.Sites[s.Site]) {
				return fmt.Errorf("call %d is %s at %v", at, c.Name(), c.Site)
			}
		default: // perhaps an equal one: the rank has calls in a lane and before it
			if a, b := &own.Sigs[of[terminal]], &own.Sigs[want]; a.Call != b.Call || a.Site != b.Site {
				return fmt.Errorf("call %d is another one", at)
			}
		}
		sum = vmpi.Mix(sum, own.Sigs[want].Call, vals)
		at++
	}
	if sum != v.Sum() {
		return errors.New("calls have other values than those that were made")
	}
	return nil
}

func samePlace(s trace.Site, t track.Site) bool {
	return s == trace.Site{Module: t.Module, BuildID: t.BuildID, Offset: t.Offset}
}
