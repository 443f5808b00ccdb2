package main

import (
	"fmt"
	"slices"

	"spoor/bench/scale/vmpi"
	"spoor/trace"
)

// same compares a rank of a trace with the rank as it ran: the sequence of
// calls, and everything each of them says.
func same(t *trace.Reader, rank int, v *vmpi.Rank) error {
	k, err := t.Rank(rank)
	if err != nil {
		return err
	}
	track := v.Track()
	if k.Terminals() != len(track.Sigs) {
		return fmt.Errorf("%d distinct calls, %d were made", k.Terminals(), len(track.Sigs))
	}
	for i, s := range track.Sigs {
		if got := k.Signature(i); !slices.Equal(got, s.Vals) {
			return fmt.Errorf("call %d has the values %v, made with %v", i, got, s.Vals)
		}
		// Terminal takes the values apart, which fails unless they are laid out
		// as the function's parameters are.
		c, err := k.Terminal(i)
		if err != nil {
			return err
		}
		if c.Func.ID != s.Call || c.Site != trace.Site(track.Sites[s.Site]) {
			return fmt.Errorf("call %d is %s at %v", i, c.Name(), c.Site)
		}
	}
	if k.Streams() != 1 || k.Len(0) != v.Calls() {
		return fmt.Errorf("%d streams, %d calls, %d were made", k.Streams(), k.Len(0), v.Calls())
	}
	hash := uint64(0)
	for c, err := range k.Calls(0) {
		if err != nil {
			return err
		}
		hash = vmpi.Mix(hash, uint32(c.Terminal))
	}
	if hash != v.Hash() {
		return fmt.Errorf("calls in another order")
	}
	return nil
}
