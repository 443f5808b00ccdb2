package signature

import (
	"testing"
)

// Which lane takes a call in follows from the signatures alone, never from what the
// table guesses: whoever goes on from a saved table has no guesses. Here the first
// lane has one word and the second one both; what comes then would fit the first.
func TestLanesWithoutGuesses(t *testing.T) {
	both := func(Key) []int32 { return []int32{2, 3} }
	run := func(guess bool) (table LaneTable, numbers []uint32) {
		table.PromoteAfter = 4
		prev := NoStep
		follow := func(k Key) {
			if !guess && table.Len() > 0 {
				for i := range table.Len() + 1 {
					table.RecordSuccessor(uint32(i)-1, NoStep)
				}
			}
			prev = table.LookUpOrInsertInLane(prev, 0, k, both)
			numbers = append(numbers, prev)
		}
		call := func(a, b int64) { follow(laneKey(1, 7, a, b)) }
		other := func() { follow(laneKey(2, 7, 0, 0)) }
		for i := range int64(20) {
			other() // after which the guess is the first lane
			call(i, 0)
		}
		for i := range int64(20) {
			call(100+i, 1+i) // another value in turn
			call(100+i, 0)
		}
		for i := range int64(20) {
			other()
			call(200+i, 0)
		}
		return table, numbers
	}
	with, got := run(true)
	without, want := run(false)
	if len(with.lanes) != 2 {
		t.Fatalf("%d lanes, that is no test of two", len(with.lanes))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("call %d is signature %d with guesses, %d without", i, got[i], want[i])
		}
	}
	for i, l := range with.lanes {
		if a, b := l.DistinctStepCount(), without.lanes[i].DistinctStepCount(); a != b {
			t.Errorf("lane %d has %d steps with guesses, %d without", i, a, b)
		}
	}
}

func laneKey(call uint16, site uint64, vals ...int64) Key {
	k := make(Key, KeyHeaderWords)
	k.SetHeader(call, site)
	return append(k, vals...)
}
