package code

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/spoor-hpc/spoor/internal/code/insn"
	"github.com/spoor-hpc/spoor/internal/once"
)

// A LoopCounter is a number that each iteration of a loop changes by the same step, on every path, and that calls
// preserve: a callee-saved register, or a word of the function's frame.
type LoopCounter struct {
	Register         string // "" if it is in the frame
	CFAOffset        int64  // of a word of the frame, relative to the frame's address (CFA)
	Step             int64
	BaseCounterIndex int   // which of the loop's counters it is derived from: a loop may have several
	AddedBeforeCall  int64 // what the iteration has added to the counter up to the call
}

// Comparable reports whether the difference of two readings of a loop's counters, each less its AddedBeforeCall,
// gives the number of iterations between two calls.
func (k LoopCounter) Comparable(o LoopCounter) bool {
	return k.Step != 0 && k.Step == o.Step && k.BaseCounterIndex == o.BaseCounterIndex
}

// counters is the analysis of a function's places: its registers and words of its frame.
type counters struct {
	conv    insn.CallingConvention
	order   []int  // reachable blocks in reverse postorder
	ops     [][]op // by block: effects of its instructions
	effects [][]insn.Effect
	words   []int64           // offsets of words in the frame; their numbers follow those of registers
	taken   []bool            // by word: its address is taken somewhere
	at      []registerOffsets // by block: the addresses of the frame that registers hold at the block's beginning
	loops   map[int]*loopState
}

// An op is the effect of an instruction on places.
type op struct {
	addr     uint64
	call     bool
	to, from int // numbers of places; -1: unknown
	add      int64
	changed  uint32
	over     []int // numbers of the words that the instruction overwrites with unknown values
}

// A registerOffsets has for each register the offset of its value from the frame's address, if known.
type registerOffsets [32]address

// An address is an address in the frame, relative to the frame's address.
type address struct {
	known bool
	at    int64
}

// A held is the content of a place, as the sum of add and what the place with number of held at the loop's header. If
// of is -1, the content is unknown.
type held struct {
	of  int32
	add int64
}

// maxCounted limits the work for one loop: blocks times places.
const maxCounted = 1 << 22

func (f *Function) newCounters(b *Body) *counters {
	m := f.image.machine
	c := &counters{conv: m.Convention(), ops: make([][]op, len(b.Blocks)), at: make([]registerOffsets, len(b.Blocks)), loops: make(map[int]*loopState)}
	for i, n := range b.Graph.ReversePostorder {
		if n != NoIndex {
			c.order = append(c.order, i)
		}
	}
	slices.SortFunc(c.order, func(x, y int) int { return cmp.Compare(b.Graph.ReversePostorder[x], b.Graph.ReversePostorder[y]) })
	if len(c.order) == 0 {
		return c
	}
	c.effects = make([][]insn.Effect, len(b.Blocks))
	for _, i := range c.order {
		x := &b.Blocks[i]
		code := f.image.bytes(x.Lo)
		for at := x.Lo; at < x.Hi; {
			inst, ok := m.Next(code[at-x.Lo:x.Hi-x.Lo], at)
			if !ok {
				at += uint64(m.InstructionAlignment())
				continue
			}
			at = inst.End()
			c.ops[i] = append(c.ops[i], op{addr: inst.Addr, to: -1, from: -1, call: inst.Kind == insn.KindCall || inst.Kind == insn.KindIndirectCall})
			c.effects[i] = append(c.effects[i], m.Effect())
		}
	}
	c.frames(b)
	c.resolve()
	// A word whose address is taken may change at any time.
	for _, ops := range c.ops {
		for k := range ops {
			for _, p := range []*int{&ops[k].to, &ops[k].from} {
				if i := *p - len(c.conv.RegisterNames); i >= 0 && c.taken[i] {
					*p = -1
				}
			}
		}
	}
	return c
}

// frames determines where registers hold addresses of the frame.
func (c *counters) frames(b *Body) {
	known := make([]bool, len(b.Blocks))
	c.at[c.order[0]][c.conv.StackPointer] = address{true, -c.conv.CFAOffsetAtEntry}
	known[c.order[0]] = true
	for again := true; again; {
		again = false
		for _, i := range c.order {
			s := c.at[i]
			for k := range c.effects[i] {
				c.follow(&s, &c.ops[i][k], &c.effects[i][k])
			}
			for _, to := range b.Blocks[i].Next {
				if !known[to] {
					known[to], c.at[to], again = true, s, true
					continue
				}
				for r := range s {
					if p := &c.at[to][r]; p.known && *p != s[r] {
						*p, again = address{}, true
					}
				}
			}
		}
	}
}

// follow updates addresses for an instruction.
func (c *counters) follow(s *registerOffsets, o *op, e *insn.Effect) {
	changed := e.ClobberedRegisters
	if o.call {
		changed = ^(c.conv.CalleeSaved | 1<<c.conv.StackPointer)
	}
	var v address
	if e.IsMoveOrAdd && !e.Source.IsMemory && s[e.Source.Reg].known {
		v = address{true, s[e.Source.Reg].at + e.AddedConstant}
	}
	for ; changed != 0; changed &= changed - 1 {
		s[bits.TrailingZeros32(changed)] = address{}
	}
	if e.IsMoveOrAdd && !e.Destination.IsMemory {
		s[e.Destination.Reg] = v
	}
}

// offset returns the offset of a word in the frame that an instruction names.
func (s *registerOffsets) offset(p insn.Operand) (int64, bool) {
	if !p.IsMemory || p.Reg >= len(s) || !s[p.Reg].known {
		return 0, false
	}
	return s[p.Reg].at + p.Disp, true
}

// resolve numbers the words of the frame that instructions move or add constants to. It determines what else changes
// them.
func (c *counters) resolve() {
	registers := len(c.conv.RegisterNames)
	walk := func(see func(o *op, e *insn.Effect, s *registerOffsets)) {
		for _, i := range c.order {
			s := c.at[i]
			for k := range c.effects[i] {
				see(&c.ops[i][k], &c.effects[i][k], &s)
				c.follow(&s, &c.ops[i][k], &c.effects[i][k])
			}
		}
	}
	walk(func(_ *op, e *insn.Effect, s *registerOffsets) {
		for _, p := range []insn.Operand{e.Destination, e.Source} {
			if at, ok := s.offset(p); e.IsMoveOrAdd && ok {
				c.words = append(c.words, at)
			}
		}
	})
	slices.Sort(c.words)
	c.words = slices.Compact(c.words)
	c.taken = make([]bool, len(c.words))
	take := func(at int64) {
		if i, ok := slices.BinarySearch(c.words, at); ok {
			c.taken[i] = true
		}
	}
	number := func(p insn.Operand, s *registerOffsets) int {
		if !p.IsMemory {
			return p.Reg
		}
		if at, ok := s.offset(p); ok {
			i, _ := slices.BinarySearch(c.words, at)
			return registers + i
		}
		return -1
	}
	walk(func(o *op, e *insn.Effect, s *registerOffsets) {
		o.changed, o.add = e.ClobberedRegisters, e.AddedConstant
		where, at, written := e.StoredAt, int64(0), e.StoresOther
		if e.IsMoveOrAdd {
			o.to, o.from = number(e.Destination, s), number(e.Source, s)
			where, written = e.Destination, e.Destination.IsMemory
			if v := s[e.Source.Reg]; !e.Source.IsMemory && v.known && e.Destination.Reg != c.conv.StackPointer {
				take(v.at + e.AddedConstant) // a pointer to a word of the frame, or a copy of such a pointer
			}
		}
		at, ok := s.offset(where)
		switch {
		case !ok:
		case e.AddressTaken:
			take(at)
		case written:
			for i, _ := slices.BinarySearch(c.words, at-7); i < len(c.words) && c.words[i] < at+e.StoredSize; i++ {
				if registers+i != o.to {
					o.over = append(o.over, registers+i)
				}
			}
		}
	})
}

// run updates the contents of places, s, for the instructions of a block, up to the call at address until if it is
// there.
func (c *counters) run(s []held, block int, until uint64) {
	registers := len(c.conv.RegisterNames)
	for k := range c.ops[block] {
		o := &c.ops[block][k]
		if o.addr == until {
			return
		}
		v := held{of: -1}
		if o.from >= 0 {
			if v = s[o.from]; v.of >= 0 {
				v.add += o.add
			}
		}
		changed := o.changed
		if o.call {
			changed = ^(c.conv.CalleeSaved | 1<<c.conv.StackPointer)
		}
		for changed &= 1<<registers - 1; changed != 0; changed &= changed - 1 {
			s[bits.TrailingZeros32(changed)] = held{of: -1}
		}
		for _, i := range o.over {
			s[i] = held{of: -1}
		}
		if o.to >= 0 {
			s[o.to] = v
		}
	}
}

// A loopState is the contents of places in a loop.
type loopState struct {
	at    map[int][]held // by block: contents of places at its beginning
	steps map[int]int64  // by number of a place: what each iteration adds to its content
}

// loop computes the contents of places in a loop, relative to those at the begin of the iteration.
func (c *counters) loop(b *Body, loop int) *loopState {
	x := &loopState{at: make(map[int][]held), steps: make(map[int]int64)}
	l := &b.Graph.Loops[loop]
	n := len(c.conv.RegisterNames) + len(c.words)
	if l.Irreducible || len(c.order)*n > maxCounted {
		return x
	}
	var blocks []int
	for _, i := range c.order {
		at := b.Graph.InnermostLoop[i]
		for at != NoIndex && at != loop {
			at = b.Graph.Loops[at].Parent
		}
		if at == loop {
			blocks = append(blocks, i)
			x.at[i] = nil
		}
	}
	first := make([]held, n)
	for i := range first {
		if first[i].of = int32(i); i >= len(c.conv.RegisterNames) && c.taken[i-len(c.conv.RegisterNames)] {
			first[i].of = -1
		}
	}
	x.at[l.Header] = first
	pending := map[int]bool{l.Header: true}
	out := make([]held, n)
	var round []held // contents at the ends of all paths to the next iteration
	for len(pending) > 0 {
		for _, i := range blocks {
			if !pending[i] {
				continue
			}
			delete(pending, i)
			copy(out, x.at[i])
			c.run(out, i, 0)
			for _, to := range b.Blocks[i].Next {
				if to == l.Header {
					round, _ = meet(round, out)
					continue
				}
				if old, inside := x.at[to]; inside {
					s, changed := meet(old, out)
					if x.at[to] = s; changed {
						pending[to] = true
					}
				}
			}
		}
	}
	for i, v := range round {
		if v.of == int32(i) && v.add != 0 {
			x.steps[i] = v.add
		}
	}
	return x
}

// meet keeps the elements of s that equal those of t; changed reports whether it removed some.
func meet(s, t []held) (_ []held, changed bool) {
	if s == nil {
		return slices.Clone(t), true
	}
	for i, v := range s {
		if v.of >= 0 && v != t[i] {
			s[i], changed = held{of: -1}, true
		}
	}
	return s, changed
}

// LoopCounter returns where a loop's iterations can be read at a call in it; false if there is no such place.
func (f *Function) LoopCounter(loop int, call *Call) (LoopCounter, bool) {
	b, err := f.Body()
	if err != nil || call.IsTail {
		return LoopCounter{}, false
	}
	c := f.countersOf(b)
	x := once.GetOrMake(c.loops, loop, func() *loopState { return c.loop(b, loop) })
	if x.at[call.Block] == nil || len(x.steps) == 0 {
		return LoopCounter{}, false
	}
	s := slices.Clone(x.at[call.Block])
	c.run(s, call.Block, call.Addr)
	var best LoopCounter
	for i, v := range s {
		if v.of < 0 || x.steps[int(v.of)] == 0 {
			continue
		}
		k := LoopCounter{Step: x.steps[int(v.of)], BaseCounterIndex: int(v.of), AddedBeforeCall: v.add}
		if n := len(c.conv.RegisterNames); i >= n {
			k.CFAOffset = c.words[i-n]
		} else if c.conv.CalleeSaved>>i&1 == 0 {
			continue
		} else {
			k.Register = c.conv.RegisterNames[i]
		}
		// Of several counters take the same one at all calls, if possible.
		if best.Step == 0 || cmp.Or(cmp.Compare(max(k.Step, -k.Step), max(best.Step, -best.Step)), cmp.Compare(k.BaseCounterIndex, best.BaseCounterIndex)) < 0 {
			best = k
		}
	}
	return best, best.Step != 0
}

// String renders a counter's place and step.
func (k LoopCounter) String() string {
	where := cmp.Or(k.Register, fmt.Sprintf("CFA%+d", k.CFAOffset))
	return fmt.Sprintf("%s, %+d", where, k.Step)
}

// SameCounterLoopDistance returns how many loops further out a loop is that continues with the same counter: everything in the
// outer loop that changes it, in the inner loop or beside it, adds the same step. Compilers divide loops in this
// way, for example if a condition holds only in the first iterations. 0: there is no such loop.
func (f *Function) SameCounterLoopDistance(loop int) int {
	b, err := f.Body()
	if err != nil {
		return 0
	}
	n := 0
	for outer := b.Graph.Loops[loop].Parent; outer != NoIndex; outer = b.Graph.Loops[outer].Parent {
		if n++; f.countersOf(b).shared(b, loop, outer) {
			return n
		}
	}
	return 0
}

// shared reports whether two nested loops continue with one counter.
func (c *counters) shared(b *Body, loop, outer int) bool {
	within := func(block, loop int) bool {
		at := b.Graph.InnermostLoop[block]
		for at != NoIndex && at != loop {
			at = b.Graph.Loops[at].Parent
		}
		return at == loop
	}
	type writes struct {
		add           int64
		inner, beside bool
		other         bool
	}
	all := make([]writes, len(c.conv.RegisterNames)+len(c.words))
	for _, i := range c.order {
		if !within(i, outer) {
			continue
		}
		inner := within(i, loop)
		for k := range c.ops[i] {
			o := &c.ops[i][k]
			steps := o.to >= 0 && o.from == o.to && o.add != 0
			changed := o.changed
			if o.call {
				changed |= ^(c.conv.CalleeSaved | 1<<c.conv.StackPointer)
			}
			for changed &= 1<<len(c.conv.RegisterNames) - 1; changed != 0; changed &= changed - 1 {
				if p := bits.TrailingZeros32(changed); !steps || p != o.to {
					all[p].other = true
				}
			}
			for _, p := range o.over {
				all[p].other = true
			}
			if steps {
				w := &all[o.to]
				w.other = w.other || w.add != 0 && w.add != o.add
				w.add, w.inner, w.beside = o.add, w.inner || inner, w.beside || !inner
			} else if o.to >= 0 {
				all[o.to].other = true
			}
		}
	}
	return slices.ContainsFunc(all, func(w writes) bool { return w.inner && w.beside && !w.other })
}

// countersOf returns the analysis of a function. Only the last one is kept, as it is larger than a body.
func (f *Function) countersOf(b *Body) *counters {
	if m := f.image; m.counted != f {
		m.counted, m.counters = f, f.newCounters(b)
	}
	return f.image.counters
}
