package code

import "slices"

// IsInside reports whether a loop equals another or is within it; every loop is inside NoIndex.
func (g *FlowGraph) IsInside(loop, outer int) bool {
	if outer == NoIndex {
		return true
	}
	for ; loop != NoIndex; loop = g.Loops[loop].Parent {
		if loop == outer {
			return true
		}
	}
	return false
}

// A Branch is a choice between several arms, each a range of a list's elements. With a single arm, the alternative
// contains nothing of the list.
type Branch struct {
	Arms []BranchArm `json:"ways"`
}

// A BranchArm is the elements of a list from FirstItem up to EndItem, without EndItem.
type BranchArm struct {
	FirstItem  int      `json:"from"`
	EndItem    int      `json:"to"`
	TakenCount uint64   `json:"taken,omitempty"`    // iterations of the enclosing loop that took this arm; 0: unknown
	Branches   []Branch `json:"branches,omitempty"` // branches within it
	// TakenIterations are the iterations that took the arm, if these are the same each time that the loop runs. nil:
	// not known, or they don't follow a progression.
	TakenIterations *IterationPattern `json:"iterations,omitempty"`
}

// MaxBranchItems is the largest length of a list that is analysed.
const MaxBranchItems = 256

// Branches returns the branches of a list, given which of its items exclude each other. Unstructured code, such as a
// goto from one arm into another, has none.
func Branches(n int, apart func(i, j int) bool) []Branch {
	if n > MaxBranchItems {
		return nil
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	list, _ := branches(all, apart)
	return list
}

// branches returns the branches of a part of the list; ok is false if some elements exclude each other in a way that
// no nesting of branches describes.
func branches(list []int, apart func(i, j int) bool) (out []Branch, ok bool) {
	ok = true
	for _, step := range components(list, apart) {
		if len(step) == 1 {
			continue
		}
		ways := components(step, func(i, j int) bool { return !apart(i, j) })
		if len(ways) == 1 || !inRow(step) {
			ok = false
			continue
		}
		b := Branch{}
		row := true
		for _, w := range ways {
			inner, fits := branches(w, apart)
			if row = row && inRow(w); !fits {
				row = false
			}
			b.Arms = append(b.Arms, BranchArm{FirstItem: w[0], EndItem: w[len(w)-1] + 1, Branches: inner})
		}
		if !row {
			ok = false
			continue
		}
		out = append(out, b)
	}
	return out, ok
}

func inRow(list []int) bool { return list[len(list)-1]-list[0] == len(list)-1 }

// components returns the connected components of a list, each ascending, sorted by their first elements.
func components(list []int, joined func(i, j int) bool) [][]int {
	var out [][]int
	left := slices.Clone(list)
	for len(left) > 0 {
		part := []int{left[0]}
		left = left[1:]
		for k := 0; k < len(part); k++ {
			rest := left[:0]
			for _, x := range left {
				if joined(part[k], x) {
					part = append(part, x)
				} else {
					rest = append(rest, x)
				}
			}
			left = rest
		}
		slices.Sort(part)
		out = append(out, part)
	}
	return out
}

// A BodyItem is a call or a loop in the body of a function or loop.
type BodyItem struct {
	Block int    // block of a call, or header of a loop
	Addr  uint64 // of a call: address of the instruction
	Loop  int    // index of a loop; NoIndex: the item is a call
}

// ExclusiveItems returns a function that reports whether two items directly in a loop, or with NoIndex in the function
// itself, exclude each other: no path leads from one to the other within an iteration. It reports none if the code
// is not completely known.
func (b *Body) ExclusiveItems(loop int, list []BodyItem) func(i, j int) bool {
	never := func(int, int) bool { return false }
	if len(list) < 2 || b.UnresolvedJumps > 0 || b.UndecodedCount > 0 {
		return never
	}
	for i := range b.Calls {
		switch b.Calls[i].CalleeSymbol { // such functions may return a second time
		case "setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "getcontext", "vfork":
			return never
		}
	}
	after := make([][]bool, len(list))
	for i, p := range list {
		after[i] = b.after(loop, p.Block)
	}
	leads := func(i, j int) bool {
		p, q := list[i], list[j]
		if q.Loop == NoIndex {
			return after[i][q.Block] || p.Loop == NoIndex && p.Block == q.Block
		}
		for block, reached := range after[i] {
			if reached && b.Graph.IsInside(b.Graph.InnermostLoop[block], q.Loop) {
				return true
			}
		}
		return false
	}
	return func(i, j int) bool { return !leads(i, j) && !leads(j, i) }
}

// after returns which blocks are reachable from the end of a block, within an iteration of a loop.
func (b *Body) after(loop, from int) []bool {
	header := NoIndex
	if loop != NoIndex {
		header = b.Graph.Loops[loop].Header
	}
	reached := make([]bool, len(b.Blocks))
	for work := []int{from}; len(work) > 0; {
		block := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range b.Blocks[block].Next {
			if !reached[to] && to != header && b.Graph.IsInside(b.Graph.InnermostLoop[to], loop) {
				reached[to] = true
				work = append(work, to)
			}
		}
	}
	return reached
}
