package ops

import (
	"cmp"
	"maps"
	"slices"
)

// Losses counts what an export does not say, by name.
type Losses map[string]uint64

// Add counts n more.
func (l Losses) Add(name string, n uint64) { l[name] += n }

// A Loss is one name with its count.
type Loss struct {
	What  string `json:"what"`
	Count uint64 `json:"count"`
}

// List returns the losses, the most frequent first.
func (l Losses) List() []Loss {
	list := []Loss{}
	for _, what := range slices.Sorted(maps.Keys(l)) {
		list = append(list, Loss{what, l[what]})
	}
	slices.SortStableFunc(list, func(a, b Loss) int { return cmp.Compare(b.Count, a.Count) })
	return list
}

// What this package itself can't say, and so no format can.
const (
	lostComm    = "operations on a communicator whose members the trace does not have"
	lostSource  = "receives whose sender the trace does not have"
	lostRequest = "completions of requests that were not seen being made"
	lostFreed   = "operations whose request was freed before they completed"
	lostWindow  = "one-sided transfers and synchronisations on a window that was not seen being made"
	lostFile    = "file operations on a file that was not seen being opened"
	lostFailed  = "operations that failed when they were to be completed"
)

// Unending names the loss of operations that had not completed when the trace ended.
const Unending = "operations that nothing completed"
