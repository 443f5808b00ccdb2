// Package goal reads, makes and simulates schedules in GOAL, the Group Operation Assembly Language that
// LogGOPSim and simulators after it take: for each rank sends, receives and calculations, and
// which of them wait for which. Read takes its text, Builder makes one operation by operation.
package goal

import (
	"bufio"
	"fmt"
	"io"
)

// A Kind is a kind of operation. Of operations that become ready at the same time, the smaller kind begins first.
type Kind uint8

// The kinds.
const (
	Send Kind = 1 + iota
	Recv
	Calc
)

// AnyPeerOrTag as peer or tag of a receive takes messages of all ranks, or of all tags.
const AnyPeerOrTag = ^uint32(0)

// An Op is one operation of a rank.
type Op struct {
	Size     uint64 // bytes of a send or receive; the duration of a calculation in the schedule's unit of time
	Peer     uint32 // the other rank of a send or receive
	Tag      uint32
	Kind     Kind
	CPU, NIC uint8 // numbers, from 0, of the rank's CPU and network interface that the operation uses
}

// String writes an operation as GOAL's text has it.
func (o Op) String() string {
	text := ""
	switch o.Kind {
	case Send:
		text = fmt.Sprintf("send %db to %d tag %s", o.Size, o.Peer, orAny(o.Tag))
	case Recv:
		text = fmt.Sprintf("recv %db from %s tag %s", o.Size, orAny(o.Peer), orAny(o.Tag))
	default:
		text = fmt.Sprintf("calc %d", o.Size)
	}
	if o.CPU > 0 {
		text += fmt.Sprintf(" cpu %d", o.CPU)
	}
	if o.NIC > 0 {
		text += fmt.Sprintf(" nic %d", o.NIC)
	}
	return text
}

func orAny(n uint32) string {
	if n == AnyPeerOrTag {
		return "-1"
	}
	return fmt.Sprint(n)
}

// A Schedule is the operations of all ranks. They are numbered rank by rank. Only messages connect operations of
// different ranks.
type Schedule struct {
	Ops   []Op
	first []uint32 // by rank: number of its first operation; after the last rank: the number of all operations
	// The operations that wait for operation op: for its start, dependents[starts[op]:ends[op]]; for its end,
	// dependents[ends[op]:starts[op+1]].
	dependents, starts, ends []uint32
	needs                    []uint32
}

// Ranks returns the number of ranks.
func (s *Schedule) Ranks() int { return len(s.first) - 1 }

// Rank returns a rank's operations: from from up to, but without, to.
func (s *Schedule) Rank(rank int) (from, to uint32) { return s.first[rank], s.first[rank+1] }

// Needs returns the number of starts and ends that an operation waits for.
func (s *Schedule) Needs(op uint32) uint32 { return s.needs[op] }

// AfterStart lists the operations that wait for the start of op.
func (s *Schedule) AfterStart(op uint32) []uint32 { return s.dependents[s.starts[op]:s.ends[op]] }

// AfterEnd lists the operations that wait for the end of op.
func (s *Schedule) AfterEnd(op uint32) []uint32 { return s.dependents[s.ends[op]:s.starts[op+1]] }

// Write writes a schedule as GOAL's text. Read gives the same schedule again.
func (s *Schedule) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "num_ranks %d\n", s.Ranks())
	for rank := range s.Ranks() {
		fmt.Fprintf(out, "\nrank %d {\n", rank)
		from, to := s.Rank(rank)
		for op := from; op < to; op++ {
			fmt.Fprintf(out, "l%d: %s\n", op-from, s.Ops[op])
		}
		for op := from; op < to; op++ {
			for _, waits := range s.AfterStart(op) {
				fmt.Fprintf(out, "l%d irequires l%d\n", waits-from, op-from)
			}
			for _, waits := range s.AfterEnd(op) {
				fmt.Fprintf(out, "l%d requires l%d\n", waits-from, op-from)
			}
		}
		fmt.Fprintln(out, "}")
	}
	return out.Flush()
}
