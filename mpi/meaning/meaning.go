// Package meaning says what calls do with data: what goes out and what comes in, to whom,
// and when. It draws that from the table of the standard alone (calls.txt), without rules
// by the names of functions.
package meaning

import (
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
)

// A DataMovement describes the data movement of a function.
type DataMovement struct {
	*mpi.Call
	Out, In            *DataSide // what the process passes to MPI, and what it gets; nil: nothing
	Rooted             bool      // parameter "root" names the rank with the other side
	TakesEffectAtStart bool      // the data moves when the request that the call makes is started
	Pattern            Pattern
}

// A DataSide is one direction of a data movement.
type DataSide struct {
	mpi.Content
	Buffer     string // parameter
	Peer       string // parameter with the rank at the other end; "" if there is not exactly one
	Tag        string // parameter with the message's tag; "" if it has none
	OnlyRoot   bool   // only the root has this side
	OnlyOthers bool   // all ranks except the root have this side
}

// A Pattern is which ranks need whose data, regardless of how a library moves it. Data that a rank sends itself is
// no message.
type Pattern uint8

// The patterns.
const (
	PatternNone         Pattern = iota // nothing is sent
	PatternToPeer                      // to one rank
	PatternOneSided                    // to or from the memory of one rank, which is passive
	PatternFromRoot                    // the root's data to each other rank
	PatternPartFromRoot                // a part of the root's data to each other rank
	PatternToRoot                      // from each rank to the root
	PatternToAll                       // from each rank the same, or a block, to each other
	PatternPartToAll                   // from each rank an individual part, of individual size, to each other
	PatternPartReduced                 // from each rank its contribution to each other's part of the result
	PatternToNext                      // partial results from each rank to the next
	PatternNeighbors                   // along the edges of the communicator's topology
	PatternFile                        // to or from a file
	PatternReceive                     // from a rank that sends
)

// Collective reports whether all members of a communicator take part in a pattern.
func (p Pattern) Collective() bool { return p >= PatternFromRoot && p <= PatternNeighbors }

// A Need is which members must have arrived before a member can leave a collective call.
type Need uint8

// The needs.
const (
	NeedAll        Need = iota // everybody
	NeedRoot                   // the root
	NeedLowerRanks             // all members of lower rank
	NeedSome                   // some members; which ones depends on more than the call
	NeedNobody                 // no member: the call may return before any other has arrived
)

// NeedOf returns the need of a member in calls of a function, given whether it is the root.
func NeedOf(function string, atRoot bool) Need {
	m := DataMovementOf(function)
	if m == nil {
		return NeedAll
	}
	switch p := m.Pattern; {
	case p == PatternFromRoot || p == PatternPartFromRoot:
		if atRoot {
			return NeedNobody
		}
		return NeedRoot
	case p == PatternToRoot && !atRoot:
		return NeedNobody
	case p == PatternNeighbors || p == PatternFile:
		return NeedSome
	case p == PatternToNext:
		return NeedLowerRanks
	}
	return NeedAll
}

// DataMovementOf returns the data movement of a function; nil if it moves nothing, or is unknown.
func DataMovementOf(function string) *DataMovement {
	if x, ok := known.Load(function); ok {
		return x.(*DataMovement)
	}
	var c *DataMovement
	if def, ok := mpi.Lookup(function); ok {
		c = of(def)
	}
	known.Store(function, c)
	return c
}

var known sync.Map // cache of data movements by the function's name

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
		return &DataSide{Content: q.Content, Buffer: q.Name, OnlyRoot: q.OnlyRoot, Peer: first("target_rank", peer), Tag: first(tag, "tag")}
	}
	for i := range def.Params {
		q := &def.Params[i]
		if !q.Content.Transferred {
			continue
		}
		if q.Dir != mpi.DirOut && c.Out == nil {
			c.Out = side(q, "dest", "sendtag")
		}
		if q.Dir != mpi.DirIn && c.In == nil {
			c.In = side(q, "source", "recvtag")
		}
		if q.Dir == mpi.DirInOut && c.Rooted { // a broadcast
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
	case c.Has(mpi.AttrChained):
		return PatternToNext
	case c.Rooted && c.In.OnlyOthers:
		return PatternFromRoot
	case c.Rooted && out.OnlyRoot:
		return PatternPartFromRoot
	case c.Rooted:
		return PatternToRoot
	case out.Count == c.In.Count && (c.In.OwnElement || out.Comm != c.In.Comm):
		return PatternPartReduced
	case c.IsArrayParam(out.Count):
		return PatternPartToAll
	}
	return PatternToAll
}

// IsArrayParam reports whether a parameter is an array.
func (c *DataMovement) IsArrayParam(param string) bool {
	i := c.Index(param)
	return i >= 0 && c.Params[i].Array
}
