package code

import "slices"

// IsInside reports whether a loop is another or within it; all are within None.
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

// A Branch is what is done in one of several ways: each is some of a list in a row. If there is one way, nothing is done otherwise.
type Branch struct {
	Arms []BranchArm `json:"ways"`
}

// An BranchArm is the elements of a list from one up to another, which it is without.
type BranchArm struct {
	FirstItem  int      `json:"from"`
	EndItem    int      `json:"to"`
	TakenCount uint64   `json:"taken,omitempty"`    // rounds of the loop around in which it was gone; 0: not known
	Branches   []Branch `json:"branches,omitempty"` // within it
	// TakenIterations are those in which it was gone, the same ones each time that the loop ran; nil: it isn't known or they are no progression.
	TakenIterations *IterationPattern `json:"iterations,omitempty"`
}

// MaxBranchItems bounds the elements of a list that are looked at.
const MaxBranchItems = 256

// Branches finds the branches of a list, from which of its items exclude each other. Unstructured code has none, such
// as a goto from one arm into another.
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

// branches are those of a part of the list; ok is false if some elements exclude each other in another way.
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

// components splits a list into parts that nothing joins, each ascending, by their first.
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

// An BodyItem is a call, or a loop, in the body of a function or of a loop around it.
type BodyItem struct {
	Block int    // of a loop: its header
	Addr  uint64 // of a call
	Loop  int    // None: it is a call
}

// ExclusiveItems reports for places directly in a loop, or with None in the function itself, which of them exclude each other: the code has
// no way from the one to the other that stays in one round of the loop. Where not all of the code is known it reports none.
func (b *Body) ExclusiveItems(loop int, list []BodyItem) func(i, j int) bool {
	never := func(int, int) bool { return false }
	if len(list) < 2 || b.UnresolvedJumps > 0 || b.UndecodedCount > 0 {
		return never
	}
	for i := range b.Calls {
		switch b.Calls[i].Symbol { // come back once more, from elsewhere
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

// after reports which blocks a way leads to from the end of a block, within one round of a loop.
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
