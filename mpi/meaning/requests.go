package meaning

import (
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
)

// A RequestChoice is which requests a call completes or asks about, of those that it is given.
type RequestChoice uint8

// The choices.
const (
	ChooseNoRequest RequestChoice = iota
	ChooseOneRequest
	ChooseAllRequests
	ChooseAnyRequest   // one of them, given by its output "index"
	ChooseSomeRequests // several; its output "outcount" is their number
)

// WaitBehaviour is what calls of a function have to do with messages and requests of others.
type WaitBehaviour struct {
	Choice    RequestChoice
	Completes bool // what Choice says; else they only ask
	Probes    bool // look for a message, and take no more than hold of it
	Receives  bool // get a message from a rank that sends, or make a request that does
	Blocks    bool // return only when another rank has done something about a message or request

	// Parameters that choose the message to receive or to look for; empty: the call has a message at hand, or none.
	Source, Tag string
}

// WaitBehaviourOf returns that of a function; nothing of one that nobody knows.
func WaitBehaviourOf(c *mpi.Call) WaitBehaviour {
	if c == nil {
		return WaitBehaviour{}
	}
	if w, ok := waitings.Load(c.ID); ok {
		return w.(WaitBehaviour)
	}
	w := waitingOf(c)
	waitings.Store(c.ID, w)
	return w
}

// waitings is what was asked for, by id. A recorder asks of the functions that its program
// calls; to look at all of them would take more memory than all else that it has.
var waitings sync.Map

func waitingOf(c *mpi.Call) WaitBehaviour {
	has := func(param string) bool { return c.Index(param) >= 0 }
	var w WaitBehaviour
	switch {
	case has("request") && has("status"):
		w.Choice = ChooseOneRequest
	case !has("array_of_requests") || c.Has(mpi.AttrStarts):
	case has("array_of_indices"):
		w.Choice = ChooseSomeRequests
	case has("index"):
		w.Choice = ChooseAnyRequest
	default:
		w.Choice = ChooseAllRequests
	}
	w.Completes = w.Choice != ChooseNoRequest && c.Has(mpi.AttrCompletes)
	if m := DataMovementOf(c.Name); m != nil {
		if w.Receives = m.In != nil && (m.Pattern == PatternReceive || m.Pattern == PatternToPeer); w.Receives {
			w.Source, w.Tag = m.In.Peer, m.In.Tag
		}
	} else if w.Probes = has("source") && has("tag") && has("status"); w.Probes {
		w.Source, w.Tag = "source", "tag"
	}
	w.Blocks = (w.Completes || w.Receives || w.Probes) && !c.Has(mpi.AttrLocal) && !c.Has(mpi.AttrNonblocking) && !c.Has(mpi.AttrPersistent)
	return w
}

// IsWildcard reports whether a receive with this source and tag takes messages of several ranks or tags.
func IsWildcard(source, tag int64) bool { return source == mpi.AnySource || tag == mpi.AnyTag }

// ReceiveParams returns the parameters in which a function's calls say which message they ask for, and for how much
// there is room; false if they ask for none, or don't say so.
func ReceiveParams(c *mpi.Call) (source, tag, count, datatype string, ok bool) {
	w := WaitBehaviourOf(c)
	if !w.Receives || w.Source == "" || w.Tag == "" {
		return
	}
	in := DataMovementOf(c.Name).In
	return w.Source, w.Tag, in.Count, in.Type, in.Partitions == ""
}

// A CompletionParams is where the calls of a function that completes requests, or asks about them, have what that takes:
// numbers of parameters, -1 for those that there are none of.
type CompletionParams struct {
	Request, Requests int
	Flag, Count       int // found anything, or how many
	Index, Indices    int // of those that completed
	Status, Statuses  int
	Completes         bool // the calls end requests; else they only ask, or give them up
}

// CompletionParamsOf returns that of a function, given the number of its parameters and their names.
func CompletionParamsOf(c *mpi.Call, params int, name func(param int) string) CompletionParams {
	x := CompletionParams{-1, -1, -1, -1, -1, -1, -1, -1, WaitBehaviourOf(c).Completes}
	for i := range params {
		switch name(i) {
		case "request":
			x.Request = i
		case "array_of_requests":
			x.Requests = i
		case "flag":
			x.Flag = i
		case "outcount":
			x.Count = i
		case "index":
			x.Index = i
		case "array_of_indices":
			x.Indices = i
		case "status":
			x.Status = i
		case "array_of_statuses":
			x.Statuses = i
		}
	}
	return x
}
