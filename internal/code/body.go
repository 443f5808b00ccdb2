package code

import (
	"fmt"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/internal/code/insn"
)

// A Body is the decoded content of a function: its blocks, control flow and calls.
type Body struct {
	Blocks []BasicBlock // by ascending addresses
	Graph  *FlowGraph
	Calls  []Call // by ascending addresses
	// UnresolvedJumps counts jumps through tables that were not found: blocks reached only through them appear
	// unreachable.
	UnresolvedJumps int
	// UndecodedCount counts positions without a valid instruction.
	UndecodedCount int
}

// A BasicBlock is a basic block.
type BasicBlock struct {
	Lo, Hi uint64
	Next   []int // blocks that may follow, by index
}

// A Call is a call, or a tail call: a jump that ends a function like a call. The callee of a tail call returns to
// this function's caller, and call stacks do not show this function.
type Call struct {
	Addr         uint64    // of the instruction
	ReturnAddr   uint64    // return address: the address after the instruction
	Block        int       // index of its block
	CalleeSymbol string    // name of the callee, "" if unknown
	Callee       *Function // nil if it is in another binary or unknown
	IsTail       bool      // it is a tail call
	IsResolved   bool      // the binary determines the callee; false: a call through a pointer
	MayReturn    bool      // the callee may return
}

// maxBlocks is the largest number of blocks of a function.
const maxBlocks = 1 << 18

// Body returns the function's blocks, loops and calls. It returns an error if the code cannot be read or exceeds
// the limits.
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
	moves  []moveEffect // by index of a jump, call or return in Function.moves
	starts []uint64     // addresses at which blocks begin
}

// A moveEffect is the effect of a jump, call or return on the blocks.
type moveEffect struct {
	pads []uint64 // landing pads of the call
	ends bool     // it ends its block
	call int      // index in Body.Calls, plus 1; 0: it is no call
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

// findPads sets the landing pads of a call.
func (x *bodyBuilder) findPads(v *move, e *moveEffect) {
	for _, s := range x.f.partAt(v.addr).pads {
		if v.addr >= s.Lo && v.addr < s.Hi && x.f.Contains(s.Pad) {
			e.pads = append(e.pads, s.Pad)
			x.starts = append(x.starts, s.Pad)
		}
	}
}

// link sets the blocks of calls, and the successors of blocks that end with a jump, call or return.
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
		b.Blocks[at].Next = []int{} // it has no implicit successor
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

// analyse links the blocks that link left out to their successors, and finds the loops.
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

// call returns the description of a call.
func (f *Function) call(v *move) Call {
	g, name := f.image.callee(v)
	c := Call{Addr: v.addr, ReturnAddr: v.end, Callee: g, CalleeSymbol: name, IsResolved: g != nil || name != "", MayReturn: true}
	c.IsTail = v.kind != insn.KindCall && v.kind != insn.KindIndirectCall
	if g != nil {
		c.MayReturn = g.MayReturn()
	}
	c.MayReturn = c.MayReturn && comesBackByName(g, name)
	return c
}

// split makes blocks that begin at starts.
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

// at returns the index of the block that contains an address, -1 if no block does.
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

// goOn links a block to the following one, if both are in one range of the function's code.
func (b *Body) goOn(f *Function, from int) {
	if hi := b.Blocks[from].Hi; f.partAt(hi) == f.partAt(hi-1) {
		b.lead(from, hi)
	}
}

// CallByReturnAddr returns the call with a return address; nil if there is no such call. Tail calls have no return address.
func (b *Body) CallByReturnAddr(address uint64) *Call {
	i := sort.Search(len(b.Calls), func(i int) bool { return b.Calls[i].ReturnAddr >= address })
	for ; i < len(b.Calls) && b.Calls[i].ReturnAddr == address; i++ {
		if !b.Calls[i].IsTail {
			return &b.Calls[i]
		}
	}
	return nil
}

// IsReachable reports whether a path leads from the function's start to a call.
func (b *Body) IsReachable(c *Call) bool { return b.Graph.ReversePostorder[c.Block] != NoIndex }

// Callees lists the function's callees, as far as the binary determines them: the functions, nil for those in other
// binaries, and their names, "" if unnamed. It decodes less than Body.
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
