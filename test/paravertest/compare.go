package paravertest

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/trace"
)

// Types of events that stand for calls.
const (
	firstCallType = 50000001
	lastCallType  = 50000005
)

// Compare says how files differ from the trace that they were made of: in calls by function, in
// messages and bytes between ranks, in states that overlap.
func (t *Trace) Compare(r *trace.Reader) error {
	calls, want := make(map[string]int), make(map[string]int)
	for _, e := range t.Events {
		if e.Type >= firstCallType && e.Type <= lastCallType && e.Value != 0 {
			name, ok := t.Names[e.Type][e.Value]
			if !ok {
				return fmt.Errorf("value %d of type %d has no name", e.Value, e.Type)
			}
			calls[name]++
		}
	}
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			return err
		}
		for stream := range k.Streams() {
			for c, err := range k.Calls(stream) {
				if err != nil {
					return err
				}
				want[c.Name()]++
			}
		}
	}
	for name, n := range want {
		// A call within another is followed by the other's value again.
		if calls[name] < n {
			return fmt.Errorf("%d events of %s, want %d", calls[name], name, n)
		}
	}
	if len(calls) != len(want) {
		return fmt.Errorf("events of %d functions, want %d", len(calls), len(want))
	}
	until := make(map[Object]int64)
	for _, s := range t.States {
		if s.From < until[s.Object] {
			return fmt.Errorf("states of %v overlap at %d", s.Object, s.From)
		}
		until[s.Object] = s.To
	}
	got := make(map[[2]int]matrix.Cell)
	for _, m := range t.Messages {
		p := [2]int{m.From.Task - 1, m.To.Task - 1}
		cell := got[p]
		got[p] = matrix.Cell{Messages: cell.Messages + 1, Bytes: cell.Bytes + uint64(m.Bytes)}
	}
	cancels := want["MPI_Cancel"]
	m, err := matrix.Compute(r, matrix.Options{PointToPoint: true})
	if err != nil {
		return err
	}
	for from, row := range m.Dense() {
		for to, want := range row {
			// A cancelled send was sent, but has no other end.
			if cell := got[[2]int{from, to}]; cell != want && (cancels == 0 || cell.Messages > want.Messages) {
				return fmt.Errorf("from %d to %d: %v, the matrix says %v", from, to, cell, want)
			}
		}
	}
	return nil
}
