// Package meaning says what calls do with data: what goes out and what comes in, to whom,
// and when. It draws that from the table of the standard alone (calls.txt), without rules
// by the names of functions.
package meaning

import (
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
)

// A DataMovement describes which data a function moves, and between which ranks.
type DataMovement struct {
	*mpi.Call
	Out, In            *DataSide // data that the calling process passes to the MPI, and data that it gets; nil: none
	Rooted             bool      // the call has a parameter "root": data goes from that rank to the others, or to it
	TakesEffectAtStart bool      // the call makes a persistent request, and data moves each time that is started
	Pattern            Pattern
}

// A DataSide is the data that a process passes to the MPI in a call, or the data that it gets.
type DataSide struct {
	mpi.BufferContent
	Buffer     string // name of the parameter with the data
	Peer       string // name of the parameter with the rank at the other end; "" if there is not exactly one such rank
	Tag        string // name of the parameter with the message's tag; "" if there is no tag
	OnlyRoot   bool   // only the root passes or gets this data
	OnlyOthers bool   // all ranks except the root pass or get this data
}

// A Pattern is which ranks get data from which ranks in a call, however the MPI library moves it. Data that a rank
// sends to itself does not count.
type Pattern uint8

// The patterns, as seen from the calling rank or, for collective calls, from all.
const (
	PatternNone         Pattern = iota // no data is sent
	PatternToPeer                      // from the calling rank to one other rank
	PatternOneSided                    // to or from the memory of one other rank, which makes no call for it
	PatternFromRoot                    // the same data from the root to all other ranks
	PatternPartFromRoot                // from the root to each other rank a part of the root's data
	PatternToRoot                      // from each rank to the root
	PatternToAll                       // from each rank to every other: the same data, or blocks of equal size
	PatternPartToAll                   // from each rank to every other: a block of its own, of any size
	// From each rank to every other: what it contributes to the part of the result that the other gets.
	PatternPartReduced
	PatternToNext    // partial results from each rank to the next one, as in MPI_Scan
	PatternNeighbors // from each rank to its neighbours in the communicator's topology
	PatternFile      // between the calling rank and a file
	PatternReceive   // to the calling rank from one that sends
)

// IsCollective reports whether all members of a communicator take part in calls of this pattern.
func (p Pattern) IsCollective() bool { return p >= PatternFromRoot && p <= PatternNeighbors }

// An AwaitedMembers is which members must have begun a collective call before a given member can return from it.
type AwaitedMembers uint8

// The values of AwaitedMembers.
const (
	AwaitsAllMembers  AwaitedMembers = iota // all members
	AwaitsRoot                              // the root
	AwaitsLowerRanks                        // all members of lower rank
	AwaitsSomeMembers                       // some members; the call alone does not determine which
	AwaitsNoMember                          // none: the call may return before any other member has begun it
)

// AwaitedMembersOf returns the need of a member in collective calls of a function. atRoot says whether the member is
// the root.
func AwaitedMembersOf(function string, atRoot bool) AwaitedMembers {
	m := DataMovementOf(function)
	if m == nil {
		return AwaitsAllMembers
	}
	switch p := m.Pattern; {
	case p == PatternFromRoot || p == PatternPartFromRoot:
		if atRoot {
			return AwaitsNoMember
		}
		return AwaitsRoot
	case p == PatternToRoot && !atRoot:
		return AwaitsNoMember
	case p == PatternNeighbors || p == PatternFile:
		return AwaitsSomeMembers
	case p == PatternToNext:
		return AwaitsLowerRanks
	}
	return AwaitsAllMembers
}

// DataMovementOf returns the data movement of a function; nil if it moves nothing, or is unknown.
func DataMovementOf(function string) *DataMovement {
	if x, ok := known.Load(function); ok {
		return x.(*DataMovement)
	}
	var c *DataMovement
	if def, ok := mpi.CallNamed(function); ok {
		c = of(def)
	}
	known.Store(function, c)
	return c
}

var known sync.Map // cache: *DataMovement by name of the function

func of(def *mpi.Call) *DataMovement {
	c := &DataMovement{Call: def, Rooted: def.Index("root") >= 0, TakesEffectAtStart: def.Has(mpi.AttrPersistent)}
	first := func(names ...string) string {
		for _, name := range names {
			if def.Index(name) >= 0 {
				return name
			}
		}
		return ""
	}
	side := func(q *mpi.Param, peer, tag string) *DataSide {
		return &DataSide{BufferContent: q.BufferContent, Buffer: q.Name, OnlyRoot: q.OnlyRoot, Peer: first("target_rank", peer), Tag: first(tag, "tag")}
	}
	for i := range def.Params {
		q := &def.Params[i]
		if !q.BufferContent.Transferred {
			continue
		}
		if q.Dir != mpi.DirOut && c.Out == nil {
			c.Out = side(q, "dest", "sendtag")
		}
		if q.Dir != mpi.DirIn && c.In == nil {
			c.In = side(q, "source", "recvtag")
		}
		if q.Dir == mpi.DirInOut && c.Rooted { // a broadcast: the root passes the data, all other ranks get it
			c.Out.OnlyRoot, c.In.OnlyOthers = true, true
		}
	}
	if c.Out == nil && c.In == nil {
		return nil
	}
	c.Pattern = c.pattern()
	return c
}

func (c *DataMovement) pattern() Pattern {
	switch out := c.Out; {
	case c.Index("target_rank") >= 0:
		return PatternOneSided
	case c.Index("fh") >= 0:
		return PatternFile
	case !c.Has(mpi.AttrCollective) && out == nil:
		return PatternReceive
	case !c.Has(mpi.AttrCollective):
		return PatternToPeer
	case c.Has(mpi.AttrNeighborhood):
		return PatternNeighbors
	case c.Has(mpi.AttrPrefixReduction):
		return PatternToNext
	case c.Rooted && c.In.OnlyOthers:
		return PatternFromRoot
	case c.Rooted && out.OnlyRoot:
		return PatternPartFromRoot
	case c.Rooted:
		return PatternToRoot
	case out.Count == c.In.Count && (c.In.IsOwnElementOnly || out.Comm != c.In.Comm):
		return PatternPartReduced
	case c.IsArrayParam(out.Count):
		return PatternPartToAll
	}
	return PatternToAll
}

// IsArrayParam reports whether the named parameter is an array.
func (c *DataMovement) IsArrayParam(param string) bool {
	i := c.Index(param)
	return i >= 0 && c.Params[i].Array
}
