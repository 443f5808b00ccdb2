package main

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/trace"
)

// verify compares all calls with those of a trace, and returns how many there are.
func verify(trees []*tree, r *trace.Reader, requests bool) (calls uint64, err error) {
	for k, err := range r.Tracks() {
		if err != nil {
			return 0, err
		}
		threads := 0
		for _, t := range trees {
			threads += int(t.nodes[0].cols[k.Number()][0])
		}
		if threads != k.Streams() {
			return 0, fmt.Errorf("rank %d: %d threads, %d expected", k.Number(), threads, k.Streams())
		}
		for stream := range k.Streams() {
			if err := verifyStream(trees[stream], k, stream, requests); err != nil {
				return 0, fmt.Errorf("rank %d: %w", k.Number(), err)
			}
			calls += k.Len(stream)
		}
	}
	return calls, nil
}

var (
	errMore  = errors.New("more calls than there were")
	errFewer = errors.New("fewer calls than there were")
)

func verifyStream(t *tree, k *trace.Rank, stream int, requests bool) error {
	next, stop := iter.Pull2(k.Signatures(stream))
	defer stop()
	type what struct {
		function uint16
		place    int
	}
	known := make([]*what, k.Terminals())
	err := t.walk(k.Number(), requests, func(s *site, vals []int64) error {
		n, want, ok := next()
		if !ok {
			return errMore
		}
		if known[n] == nil {
			c, err := k.Called(n)
			if err != nil {
				return err
			}
			place, err := k.Place(n)
			if err != nil {
				return err
			}
			known[n] = &what{c.Func.ID, place}
		}
		if x := known[n]; x.function != s.function.ID || x.place != s.place || !slices.Equal(vals, want) {
			return fmt.Errorf("%s %v at place %d; function %d %v at %d expected", s.function.Name, vals, s.place, x.function, want, x.place)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, _, more := next(); more {
		return errFewer
	}
	return nil
}
