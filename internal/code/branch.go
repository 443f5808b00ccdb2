package code

// A Place is a call, or a loop, in the body of a function or of a loop around it.
type Place struct {
	Block int    // of a loop: its header
	Addr  uint64 // of a call
	Loop  int    // None: it is a call
}

// Apart reports for places directly in a loop, or with None in the function itself, which of them exclude each other: the code has
// no way from the one to the other that stays in one round of the loop. Where not all of the code is known it reports none.
func (b *Body) Apart(loop int, list []Place) func(i, j int) bool {
	never := func(int, int) bool { return false }
	if len(list) < 2 || b.Lost > 0 || b.Undecoded > 0 {
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
		if q.Loop == None {
			return after[i][q.Block] || p.Loop == None && p.Block == q.Block
		}
		for block, reached := range after[i] {
			if reached && b.Graph.Inside(b.Graph.Loop[block], q.Loop) {
				return true
			}
		}
		return false
	}
	return func(i, j int) bool { return !leads(i, j) && !leads(j, i) }
}

// after reports which blocks a way leads to from the end of a block, within one round of a loop.
func (b *Body) after(loop, from int) []bool {
	header := None
	if loop != None {
		header = b.Graph.Loops[loop].Header
	}
	reached := make([]bool, len(b.Blocks))
	for work := []int{from}; len(work) > 0; {
		block := work[len(work)-1]
		work = work[:len(work)-1]
		for _, to := range b.Blocks[block].Next {
			if !reached[to] && to != header && b.Graph.Inside(b.Graph.Loop[to], loop) {
				reached[to] = true
				work = append(work, to)
			}
		}
	}
	return reached
}
