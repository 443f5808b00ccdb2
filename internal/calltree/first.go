package calltree

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A firstCall is the compute time before the first call at a leaf, and the duration of that call, in ns; 0: unknown.
type firstCall struct{ compute, mpi float64 }

// firstOf determines whether the first of some calls, or the computation before it, took far longer than for later
// ones. list is the calls in one occurrence of the node; times is the number of occurrences. entry is the compute time
// before later entries of a loop that begins with the calls; nil for calls.
func (b *builder) firstOf(out *Node, list terms, times uint64, entry *float64) {
	if len(list) == 0 || b.StructureOnly {
		return
	}
	out.FirstComputeNs, out.FirstCallNs = nil, nil
	at := slices.MinFunc(list, func(x, y term) int { return cmp.Compare(b.begins[x.leaf], b.begins[y.leaf]) })
	first := b.first[at.leaf]
	calls := float64(list.sum() * times)
	if calls < 2 || entry != nil && out.Entries < 2 {
		return
	}
	var all Sums
	for _, t := range list {
		sum := b.each[t.leaf].Scaled(t.count * times)
		all.Add(&sum)
	}
	later := (all.ComputeNs - first.compute) / (calls - 1)
	if entry != nil {
		later = *entry
	}
	if model.FirstCallsDiffer(first.compute, later, b.total) {
		out.FirstComputeNs = &first.compute
	}
	if entry == nil && model.FirstCallsDiffer(first.mpi, (all.InCallsNs()-first.mpi)/(calls-1), b.total) {
		out.FirstCallNs = &first.mpi
	}
}

// EntryNote describes the computation before a loop's entry, if it differs considerably from that before further
// iterations. It also describes the first of several calls or entries, if that took far longer than later ones.
func (n *Node) EntryNote() string {
	if n.Kind == "call" && n.MostRounds == 1 {
		return n.firstCall()
	}
	return n.entered()
}

func (n *Node) firstCall() (text string) {
	later := float64(n.Sums.Calls - 1)
	if n.FirstComputeNs != nil {
		text += ", first after " + show.FormatDuration(*n.FirstComputeNs) + ", then " + show.FormatDuration((n.Sums.ComputeNs-*n.FirstComputeNs)/later)
	}
	if n.FirstCallNs != nil {
		text += ", first takes " + show.FormatDuration(*n.FirstCallNs) + ", then " + show.FormatDuration((n.Sums.InCallsNs()-*n.FirstCallNs)/later)
	}
	return text
}

func (n *Node) entered() string {
	if n.EntryComputeNs == nil {
		return ""
	}
	first := n.head()
	if first == nil {
		return ""
	}
	entries := *n.EntryComputeNs * float64(n.Entries)
	if n.FirstComputeNs != nil {
		entries += *n.FirstComputeNs - *n.EntryComputeNs
	}
	mean := first.Sums.ComputeNs / float64(max(1, first.Sums.Calls))
	if entries < 2*mean*float64(n.Entries) || entries < n.Sums.TotalNs()/100 {
		return ""
	}
	text, then := ", entered after "+show.FormatDuration(*n.EntryComputeNs), ", then "
	if n.FirstComputeNs != nil {
		text = ", first entered after " + show.FormatDuration(*n.FirstComputeNs) + ", later " + show.FormatDuration(*n.EntryComputeNs)
		then = "; then "
	}
	if n.LaterIterationComputeNs != nil {
		text += then + show.FormatDuration(*n.LaterIterationComputeNs)
	} else if calls := first.Sums.Calls; calls > n.Entries && first.Sums.ComputeNs > entries {
		text += then + show.FormatDuration((first.Sums.ComputeNs-entries)/float64(calls-n.Entries))
	}
	return text
}

// head returns the call that a loop begins with; nil if unknown.
func (n *Node) head() *Node {
	for n.Kind == "loop" || n.Kind == "part" || n.Kind == "function" {
		if len(n.Body) == 0 {
			return nil
		}
		n = n.Body[0]
	}
	return n
}

// sayOnce removes the compute time before the first call from the call that begins a loop, if the loop has it.
func (n *Node) sayOnce() {
	if first := n.head(); first != nil && n.FirstComputeNs != nil {
		first.FirstComputeNs = nil
	}
}
