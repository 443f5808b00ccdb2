// Package meaning says what calls do with data: what goes out and what comes in, to whom,
// and when. It draws that from the table of the standard alone (calls.txt), without rules
// by the names of functions.
package meaning

import (
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
)

// A Call is what the calls of one function move.
type Call struct {
	*mpi.Call
	Out, In *Side // what the process hands to MPI, and what it gets; nil: nothing
	Rooted  bool  // parameter "root" says who has the other side
	Later   bool  // it takes effect when the request that it makes is started
	Pattern Pattern
}

// A Side is one direction of what a call moves.
type Side struct {
	mpi.Content
	Buffer     string // parameter
	Peer       string // parameter: the rank at the other end; empty if there is not one alone
	Tag        string // parameter: that of the message; empty if it has none
	OnlyRoot   bool   // only the root has this side
	OnlyOthers bool   // all but the root have
}

// A Pattern is who needs whose data, not how a library moves it. What a rank has for itself
// is no message.
type Pattern uint8

// The patterns.
const (
	None         Pattern = iota // nothing is sent
	ToPeer                      // to one rank
	OneSided                    // to or from the memory of one rank, which does nothing
	FromRoot                    // the root's data to each other rank
	PartFromRoot                // a part of the root's data to each other rank
	ToRoot                      // from each rank to the root
	ToAll                       // from each rank the same, or a block, to each other
	PartToAll                   // from each rank a part to each other, of sizes of their own
	PartReduced                 // from each rank what makes up another's part of the result
	ToNext                      // partial results from each rank to the next
	Neighbors                   // along the edges of the communicator's topology
	File                        // to or from a file
	Receive                     // from a rank that sends
)

// Collective reports whether all members of a communicator take part in a pattern.
func (p Pattern) Collective() bool { return p >= FromRoot && p <= Neighbors }

// A Need says which members have to come before one can go on in a collective call.
type Need uint8

// The needs.
const (
	All    Need = iota // everybody
	Root               // the root
	Lower              // all members of lower rank
	Some               // some, but which depends on more than the call
	Nobody             // none for sure
)

// NeedOf returns whom a member needs in calls of a function, given whether it is the root.
func NeedOf(function string, atRoot bool) Need {
	m := Of(function)
	if m == nil {
		return All
	}
	switch p := m.Pattern; {
	case p == FromRoot || p == PartFromRoot:
		if atRoot {
			return Nobody
		}
		return Root
	case p == ToRoot && !atRoot:
		return Nobody
	case p == Neighbors || p == File:
		return Some
	case p == ToNext:
		return Lower
	}
	return All
}

// Of returns what the calls of a function move; nil if nothing, or nobody knows it.
func Of(function string) *Call {
	if x, ok := known.Load(function); ok {
		return x.(*Call)
	}
	var c *Call
	if def, ok := mpi.Lookup(function); ok {
		c = of(def)
	}
	known.Store(function, c)
	return c
}

var known sync.Map // of functions that traces have, by name

func of(def *mpi.Call) *Call {
	c := &Call{Call: def, Rooted: def.Index("root") >= 0, Later: def.Has(mpi.Persistent)}
	first := func(names ...string) string {
		for _, name := range names {
			if def.Index(name) >= 0 {
				return name
			}
		}
		return ""
	}
	side := func(q *mpi.Param, peer, tag string) *Side {
		return &Side{Content: q.Content, Buffer: q.Name, OnlyRoot: q.OnlyRoot, Peer: first("target_rank", peer), Tag: first(tag, "tag")}
	}
	for i := range def.Params {
		q := &def.Params[i]
		if !q.Content.Transferred {
			continue
		}
		if q.Dir != mpi.Out && c.Out == nil {
			c.Out = side(q, "dest", "sendtag")
		}
		if q.Dir != mpi.In && c.In == nil {
			c.In = side(q, "source", "recvtag")
		}
		if q.Dir == mpi.InOut && c.Rooted { // a broadcast
			c.Out.OnlyRoot, c.In.OnlyOthers = true, true
		}
	}
	if c.Out == nil && c.In == nil {
		return nil
	}
	c.Pattern = c.pattern()
	return c
}

func (c *Call) pattern() Pattern {
	switch out := c.Out; {
	case c.Index("target_rank") >= 0:
		return OneSided
	case c.Index("fh") >= 0:
		return File
	case !c.Has(mpi.Collective) && out == nil:
		return Receive
	case !c.Has(mpi.Collective):
		return ToPeer
	case c.Has(mpi.Neighborhood):
		return Neighbors
	case c.Has(mpi.Chain):
		return ToNext
	case c.Rooted && c.In.OnlyOthers:
		return FromRoot
	case c.Rooted && out.OnlyRoot:
		return PartFromRoot
	case c.Rooted:
		return ToRoot
	case out.Count == c.In.Count && (c.In.Own || out.Of != c.In.Of):
		return PartReduced
	case c.Array(out.Count):
		return PartToAll
	}
	return ToAll
}

// Array reports whether a parameter is an array.
func (c *Call) Array(param string) bool {
	i := c.Index(param)
	return i >= 0 && c.Params[i].Array
}
