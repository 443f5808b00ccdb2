package merge

import (
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// HeldBytes returns approximately how many bytes of memory s takes:
//
//	per class      600, and its key twice
//	per terminal   52: skeleton, layout, number of its summary of times
//	per summary    112, and as much for what ranks spent on all calls of a skeleton
//	per symbol     16, of the grammars of streams and lanes
//	per value      4
//	per run        24, and 32 for each distinct column
//	per rank       two for each call site, until these are 8 MiB; its part of the table of processes:
//	               9 columns, a run each at worst
//
// So it grows with the differences between ranks, and by at most 216 bytes a rank for the table. A node of the tree
// holds its own state, one message, and the state decoded from that message. Strings, call sites and allocation
// events come in addition, and histograms if they were recorded.
func (s *MergedBlock) HeldBytes() int {
	n := s.processes.MemoryBytes()
	for _, c := range s.classes {
		n += c.held()
	}
	for _, text := range s.strings {
		n += len(text) + 48
	}
	n += len(s.sites) * 200
	for _, set := range s.allocs.sets {
		n += columnsHeld([]column.Column{set.Ranks})
		for i := range set.List {
			l := &set.List[i]
			n += columnsHeld([]column.Column{l.CallsSincePrevious, l.Segment, l.Size})
		}
		for _, g := range set.Streams {
			n += grammarHeld(g)
		}
	}
	return n
}

// DistinctCalls returns how many distinct calls the classes have.
func (s *MergedBlock) DistinctCalls() (n int) {
	for _, c := range s.classes {
		n += c.shape().terminals()
	}
	return n
}

func (c *class) held() int {
	sh := c.shape()
	n := 600 + 2*len(c.key) + c.values.nums.held()
	n += sh.terminals()*3*4 + len(sh.kinds)*(int(unsafe.Sizeof(skeleton{}))+2*8)
	n += len(c.times) * int(unsafe.Sizeof(summary{}))
	n += len(c.totals) * int(unsafe.Sizeof(totals{}[0]))
	for _, list := range c.ranked {
		n += 24 + 2*len(list)
	}
	for _, r := range c.valued {
		for _, list := range r {
			n += 24 + 2*len(list)
		}
	}
	for _, list := range c.own.of {
		n += 24 + len(list)*int(unsafe.Sizeof(course{}))
		for i := range list {
			for _, phases := range list[i].lists() {
				n += 16 * len(*phases)
			}
		}
	}
	for _, g := range sh.streams {
		n += grammarHeld(g)
	}
	for i := range sh.lanes {
		n += grammarHeld(sh.lanes[i].steps) + 64
	}
	return n + columnsHeld([]column.Column{c.ranks}) + columnsHeld(c.counts) + columnsHeld(c.steps) + columnsHeld(c.values.cols) + 8*len(c.values.ones)
}

func grammarHeld(g *grammar.Grammar) int {
	n := 0
	for _, body := range g.Rules {
		n += 24 + len(body)*int(unsafe.Sizeof(grammar.Symbol{}))
	}
	return n
}

func columnsHeld(list []column.Column) int {
	n := len(list) * int(unsafe.Sizeof(column.Column{}))
	for i := range list {
		n += len(list[i].Runs()) * int(unsafe.Sizeof(column.Run{}))
	}
	return n
}
