package code

import (
	"fmt"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/code/insn"
)

// A Body is what is known of a function's inside.
type Body struct {
	Blocks []BasicBlock // by ascending addresses
	Graph  *FlowGraph
	Calls  []Call // by ascending addresses
	// UnresolvedJumps counts jumps through tables that weren't found: blocks that are reached through them alone seem
	// not to be reached.
	UnresolvedJumps int
	// UndecodedCount counts places in which no instruction was found.
	UndecodedCount int
}

// A BasicBlock is a stretch of code that is run from its beginning to its end.
type BasicBlock struct {
	Lo, Hi uint64
	Next   []int // blocks that may follow, by index
}

// A Call is a call, or a jump that ends a function as a call would: the callee then returns to this function's
// caller, and call stacks don't show this function.
type Call struct {
	Addr      uint64    // of the instruction
	Return    uint64    // the return address: of what follows the instruction
	Block     int       // that it is in
	Symbol    string    // of the callee, "" if it isn't known
	Callee    *Function // nil if it is in another binary or isn't known
	Tail      bool      // it is a jump
	Resolved  bool      // the binary says what is called; else a pointer does
	MayReturn bool      // it may come back
}

// maxBlocks bounds the blocks of one function.
const maxBlocks = 1 << 18

// Body returns the function's blocks, loops and calls. The error says that its code can't be read or that there is
// too much of it.
func (f *Function) Body() (*Body, error) {
	if f.body == nil && f.err == nil {
		f.body, f.err = f.build()
	}
	return f.body, f.err
}

func (f *Function) build() (*Body, error) {
	f.gather()
	for _, p := range f.parts {
		switch {
		case p.hi-p.lo > maxCode:
			return nil, fmt.Errorf("function at 0x%x: more than %d bytes of code", f.first.lo, maxCode)
		case uint64(len(f.image.bytes(p.lo))) < p.hi-p.lo:
			return nil, fmt.Errorf("function at 0x%x: its code can't be read", f.first.lo)
		}
	}
	x := &bodyBuilder{f: f, b: &Body{}, moves: make([]moveEffect, len(f.moves)), starts: make([]uint64, 0, 2*len(f.moves)+len(f.parts))}
	x.findStarts()
	if err := x.b.split(f, x.starts); err != nil {
		return nil, err
	}
	x.link()
	x.analyse()
	return x.b, nil
}

// A bodyBuilder makes a function's body in three passes.
type bodyBuilder struct {
	f      *Function
	b      *Body
	moves  []moveEffect // of the function's moves
	starts []uint64     // of blocks
}

// A moveEffect is what a move means for the blocks.
type moveEffect struct {
	pads []uint64 // where an exception that leaves the call goes
	ends bool     // it ends its block
	call int      // index of the call + 1
}

// findStarts finds the calls, and where blocks begin and end.
func (x *bodyBuilder) findStarts() {
	f := x.f
	for _, p := range f.parts {
		x.b.UndecodedCount += p.bad
		x.starts = append(x.starts, p.lo)
	}
	for i := range f.moves {
		v, e := &f.moves[i], &x.moves[i]
		e.ends = true
		switch v.kind {
		case insn.KindBranch, insn.KindJump:
			if f.Contains(v.target) {
				x.starts = append(x.starts, v.target)
			} else {
				x.addCall(v, e)
			}
		case insn.KindIndirectJump:
			switch v.via.Origin {
			case insn.TargetFromTable:
				x.starts = append(x.starts, f.tables[v.target]...)
			case insn.TargetFromUnknownTable:
				x.b.UnresolvedJumps++
			default:
				x.addCall(v, e)
			}
		case insn.KindCall, insn.KindIndirectCall:
			c := x.addCall(v, e)
			x.findPads(v, e)
			e.ends = !c.MayReturn || e.pads != nil
		}
		if e.ends {
			x.starts = append(x.starts, v.end)
		}
	}
}

func (x *bodyBuilder) addCall(v *move, e *moveEffect) Call {
	c := x.f.call(v)
	x.b.Calls = append(x.b.Calls, c)
	e.call = len(x.b.Calls)
	return c
}

// findPads finds the landing pads of a call.
func (x *bodyBuilder) findPads(v *move, e *moveEffect) {
	for _, s := range x.f.partAt(v.addr).pads {
		if v.addr >= s.Lo && v.addr < s.Hi && x.f.Contains(s.Pad) {
			e.pads = append(e.pads, s.Pad)
			x.starts = append(x.starts, s.Pad)
		}
	}
}

// link says in which blocks calls are, and which blocks may follow those that end with a move.
func (x *bodyBuilder) link() {
	b, f := x.b, x.f
	for i := range f.moves {
		v, e := &f.moves[i], &x.moves[i]
		at := b.at(v.addr)
		if at < 0 {
			continue
		}
		if e.call > 0 {
			b.Calls[e.call-1].Block = at
		}
		if !e.ends || b.Blocks[at].Hi != v.end {
			continue
		}
		b.Blocks[at].Next = []int{} // it doesn't just go on
		switch v.kind {
		case insn.KindBranch:
			b.lead(at, v.target)
			b.goOn(f, at)
		case insn.KindJump:
			b.lead(at, v.target)
		case insn.KindIndirectJump:
			if v.via.Origin == insn.TargetFromTable {
				for _, to := range f.tables[v.target] {
					b.lead(at, to)
				}
			}
		case insn.KindCall, insn.KindIndirectCall:
			if b.Calls[e.call-1].MayReturn {
				b.goOn(f, at)
			}
			for _, to := range e.pads {
				b.lead(at, to)
			}
		}
	}
}

// analyse links the other blocks to what is after them, and finds the loops.
func (x *bodyBuilder) analyse() {
	b := x.b
	next := make([][]int, len(b.Blocks))
	for i := range b.Blocks {
		if b.Blocks[i].Next == nil {
			b.goOn(x.f, i)
		}
		next[i] = b.Blocks[i].Next
	}
	b.Graph = AnalyseFlow(b.at(x.f.first.lo), next)
}

// call says what a call is.
func (f *Function) call(v *move) Call {
	g, name := f.image.callee(v)
	c := Call{Addr: v.addr, Return: v.end, Callee: g, Symbol: name, Resolved: g != nil || name != "", MayReturn: true}
	c.Tail = v.kind != insn.KindCall && v.kind != insn.KindIndirectCall
	if g != nil {
		c.MayReturn = g.MayReturn()
	}
	c.MayReturn = c.MayReturn && comesBackByName(g, name)
	return c
}

// split makes blocks that begin at the starts.
func (b *Body) split(f *Function, starts []uint64) error {
	slices.Sort(starts)
	starts = slices.Compact(starts)
	if len(starts) > maxBlocks {
		return fmt.Errorf("function at 0x%x: more than %d blocks", f.first.lo, maxBlocks)
	}
	for i, lo := range starts {
		p := f.partAt(lo)
		if p == nil {
			continue
		}
		hi := p.hi
		if i+1 < len(starts) {
			hi = min(hi, starts[i+1])
		}
		b.Blocks = append(b.Blocks, BasicBlock{Lo: lo, Hi: hi})
	}
	return nil
}

// at is the block that holds an address, -1 if none does.
func (b *Body) at(addr uint64) int {
	i := sort.Search(len(b.Blocks), func(i int) bool { return b.Blocks[i].Lo > addr })
	if i == 0 || addr >= b.Blocks[i-1].Hi {
		return -1
	}
	return i - 1
}

func (b *Body) lead(from int, to uint64) {
	if i := b.at(to); i >= 0 && !slices.Contains(b.Blocks[from].Next, i) {
		b.Blocks[from].Next = append(b.Blocks[from].Next, i)
	}
}

// goOn links to the following block, if that is of the same part.
func (b *Body) goOn(f *Function, from int) {
	if hi := b.Blocks[from].Hi; f.partAt(hi) == f.partAt(hi-1) {
		b.lead(from, hi)
	}
}

// Call finds the call that returns to an address; nil if none. Jumps have no return address.
func (b *Body) Call(address uint64) *Call {
	i := sort.Search(len(b.Calls), func(i int) bool { return b.Calls[i].Return >= address })
	for ; i < len(b.Calls) && b.Calls[i].Return == address; i++ {
		if !b.Calls[i].Tail {
			return &b.Calls[i]
		}
	}
	return nil
}

// IsReachable reports whether a way leads from the function's start to a call.
func (b *Body) IsReachable(c *Call) bool { return b.Graph.ReversePostorder[c.Block] != NoIndex }

// Callees lists whom the function calls, or jumps to as a call would, as far as the binary says: the functions, nil for
// those of other binaries, and their names, "" for those without. It needs less than Body.
func (f *Function) Callees() (list []*Function, names []string) {
	f.gather()
	for i := range f.moves {
		v := &f.moves[i]
		switch v.kind {
		case insn.KindBranch, insn.KindJump:
			if f.Contains(v.target) {
				continue
			}
		case insn.KindIndirectJump, insn.KindIndirectCall:
			if v.via.Origin != insn.TargetFromSlot {
				continue
			}
		case insn.KindCall:
		default:
			continue
		}
		if g, name := f.image.callee(v); g != nil || name != "" {
			list, names = append(list, g), append(names, name)
		}
	}
	return list, names
}
