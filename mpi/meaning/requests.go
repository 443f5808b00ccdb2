package meaning

import (
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
)

// A RequestChoice is which of the given requests a call completes or tests.
type RequestChoice uint8

// The choices.
const (
	ChooseNoRequest RequestChoice = iota
	ChooseOneRequest
	ChooseAllRequests
	ChooseAnyRequest   // one of them, given by its output "index"
	ChooseSomeRequests // several; its output "outcount" is their number
)

// WaitBehaviour describes how a function depends on messages and requests of other ranks.
type WaitBehaviour struct {
	Choice    RequestChoice
	Completes bool // completes the requests of Choice; false: only tests them
	Probes    bool // searches for a message without receiving it, though it may take a message handle
	Receives  bool // receives a message, or makes a request that does
	Blocks    bool // returns only after another rank acted on a message or request

	// Parameters that select the message to receive or probe; "": the call has a message handle, or no message.
	Source, Tag string
}

// WaitBehaviourOf returns the description of a function; the zero value for an unknown one.
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

// waitings caches descriptions by the function's id. A recorder only asks for the functions that its program calls;
// describing all of them would take more memory than the rest of the recorder.
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

// IsWildcard reports whether a receive with this source and tag has a wildcard.
func IsWildcard(source, tag int64) bool { return source == mpi.AnySource || tag == mpi.AnyTag }

// ReceiveParams returns the parameters with source, tag, count and datatype of a receive. ok is false if the
// function does not receive, or lacks some of these parameters.
func ReceiveParams(c *mpi.Call) (source, tag, count, datatype string, ok bool) {
	w := WaitBehaviourOf(c)
	if !w.Receives || w.Source == "" || w.Tag == "" {
		return
	}
	in := DataMovementOf(c.Name).In
	return w.Source, w.Tag, in.Count, in.Type, in.Partitions == ""
}

// A CompletionParams is the positions of the parameters of a function that completes requests or tests them; -1 for
// missing ones.
type CompletionParams struct {
	Request, Requests int
	Flag, Count       int // the flag whether something completed, and the number of completed requests
	Index, Indices    int // indices of completed requests
	Status, Statuses  int
	Completes         bool // completes requests; false: only tests, frees or cancels them
}

// CompletionParamsOf returns the positions for a function, given the number of its parameters and their names.
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
