// Paths are what a recorder needs to find out which of several nested loops began another iteration between two calls.
// Each call stack has a path: the loops and calls that lead to it in the machine code of its functions, and for each
// loop the counter that is live at the call, if any.
//
// The recorder (shim/turn.c) and the readers of its results (internal/tree) make the same paths from the same binaries.
// ComparePaths determines what two calls share, and what is assumed where nothing was recorded.

package code

import (
	"math"
	"slices"
)

// MaxPathPlaces bounds the places of a path, and MaxPathLoops the loops among them: deeper stacks have no path.
const (
	MaxPathPlaces = 256
	MaxPathLoops  = 32
)

// A PathPlace is a loop or a call on a path.
type PathPlace struct {
	// PrefixID identifies the place with all places before it: if two paths share an ID, they are equal up to it.
	PrefixID           uint32
	IsLoop             bool
	FrameIndex         int         // index of its frame, from 0, the innermost
	PositionInFunction uint64      // position within its function
	Counter            LoopCounter // of a loop; Step is 0 if no counter was found
}

// A Frame is a return address in a binary, as it is linked.
type Frame struct {
	Image      *Image
	ReturnAddr uint64
}

// A key identifies a place among those that can follow the place with PrefixID before.
type key struct {
	before uint32
	in     *Function
	at     uint64    // address of the loop's header, or of the call
	to     *Function // function of the next frame; nil: the MPI function
	loop   bool
}

// A PathBuilder makes paths and assigns IDs to their places. The zero value is ready. It is for one goroutine.
type PathBuilder struct {
	ids map[key]uint32
}

func (p *PathBuilder) id(k key) uint32 {
	n, known := p.ids[k]
	if !known {
		if p.ids == nil {
			p.ids = make(map[key]uint32)
		}
		n = uint32(len(p.ids) + 1)
		p.ids[k] = n
	}
	return n
}

// Path returns the path of a call stack, innermost frame first; nil if a frame is not at a known call.
func (p *PathBuilder) Path(frames []Frame) []PathPlace {
	functions := make([]*Function, len(frames))
	for i, f := range frames {
		if f.Image == nil {
			return nil
		}
		if functions[i] = f.Image.FunctionAt(f.ReturnAddr - 1); functions[i] == nil {
			return nil
		}
	}
	var path []PathPlace
	before, loops := uint32(0), 0
	add := func(k key, place PathPlace) {
		k.before = before
		place.PrefixID = p.id(k)
		before, path = place.PrefixID, append(path, place)
	}
	for i, f := range slices.Backward(functions) {
		b, err := f.Body()
		if err != nil {
			return nil
		}
		c := b.CallByReturnAddr(frames[i].ReturnAddr)
		if c == nil || !b.IsReachable(c) {
			return nil
		}
		var around []int
		for l := b.Graph.InnermostLoop[c.Block]; l != NoIndex; l = b.Graph.Loops[l].Parent {
			around = append(around, l)
		}
		if loops += len(around); loops > MaxPathLoops || len(path)+len(around) >= MaxPathPlaces {
			return nil
		}
		for _, l := range slices.Backward(around) {
			header := b.Graph.Loops[l].Header
			at := b.Blocks[header].Lo
			k, ok := f.LoopCounter(l, c)
			if !ok || k.Step != int64(int32(k.Step)) || k.AddedBeforeCall != int64(int32(k.AddedBeforeCall)) || k.CFAOffset != int64(int32(k.CFAOffset)) || k.Step == math.MinInt32 {
				k = LoopCounter{}
			}
			add(key{in: f, at: at, loop: true}, PathPlace{IsLoop: true, FrameIndex: i, PositionInFunction: order(b.Graph.ReversePostorder[header], at), Counter: k})
		}
		var to *Function
		if i > 0 {
			to = functions[i-1]
		}
		add(key{in: f, at: c.Addr, to: to}, PathPlace{FrameIndex: i, PositionInFunction: order(b.Graph.ReversePostorder[c.Block], c.Addr)})
	}
	return path
}

// order returns the position of an address within its function; block is the position of its block there.
func order(block int, addr uint64) uint64 { return uint64(block)<<44 | addr&(1<<44-1) }

// A PathComparison is the common part of the paths of two consecutive calls.
type PathComparison struct {
	// LoopAdvanced is, for each loop around both calls, outermost first, whether its counter shows if another iteration began.
	LoopAdvanced []bool
	// NewIteration: the second call is not after the first in the order of the code, so a loop around both began another
	// iteration: the innermost one, unless LoopAdvanced shows which.
	NewIteration bool
}

// ComparePaths compares the paths of two consecutive calls.
func ComparePaths(a, b []PathPlace) PathComparison {
	k := 0
	for k < len(a) && k < len(b) && a[k].PrefixID == b[k].PrefixID {
		k++
	}
	c := PathComparison{NewIteration: k == len(a) || k == len(b) || a[k].PositionInFunction >= b[k].PositionInFunction}
	for i := range k {
		if a[i].IsLoop {
			c.LoopAdvanced = append(c.LoopAdvanced, a[i].Counter.Comparable(b[i].Counter))
		}
	}
	return c
}
