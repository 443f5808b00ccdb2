package meaning

import (
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
)

// A RequestChoice is which of the requests passed to it a call completes or tests.
type RequestChoice uint8

// The values of RequestChoice.
const (
	ChooseNoRequest RequestChoice = iota
	ChooseOneRequest
	ChooseAllRequests
	ChooseAnyRequest   // one of several requests; output "index" says which
	ChooseSomeRequests // any number of several requests; output "outcount" is how many
)

// WaitBehaviour is how a function depends on messages and requests: what it completes, receives, and waits for.
type WaitBehaviour struct {
	Choice    RequestChoice
	Completes bool // the call completes the requests of Choice; false: it only tests them
	Probes    bool // the call searches for a message without receiving it, and may take it by a message handle
	Receives  bool // receives a message, or makes a request that does
	Blocks    bool // the call returns only after another rank has sent a message, or done its part of a request

	// Names of the parameters with source and tag of the message to receive or probe; "": the call has a message
	// handle, or no message.
	Source, Tag string
}

// WaitBehaviourOf returns the behaviour of a function; the zero value if c is nil.
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

// waitings caches behaviours by the function's id. A recorder asks only for functions that its program calls.
// Computing those of all functions would take more memory than the rest of the recorder.
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

// IsWildcard reports whether source is MPI_ANY_SOURCE or tag is MPI_ANY_TAG.
func IsWildcard(source, tag int64) bool { return source == mpi.AnySource || tag == mpi.AnyTag }

// ReceiveParams returns the names of the parameters with source, tag, count and datatype of a receive. ok is false if
// the function receives no message, or lacks some of these parameters.
func ReceiveParams(c *mpi.Call) (source, tag, count, datatype string, ok bool) {
	w := WaitBehaviourOf(c)
	if !w.Receives || w.Source == "" || w.Tag == "" {
		return
	}
	in := DataMovementOf(c.Name).In
	return w.Source, w.Tag, in.Count, in.Type, in.Partitions == ""
}

// A CompletionParams is the positions of parameters of a function that completes or tests requests, from 0; -1 for a
// parameter that the function lacks.
type CompletionParams struct {
	RequestPosition, RequestsPosition int
	FlagPosition, CountPosition       int // flag that says whether something completed; number of completed requests
	IndexPosition, IndicesPosition    int // index of the completed request; array of the indices of completed requests
	StatusPosition, StatusesPosition  int
	Completes                         bool // the function completes requests; false: it only tests, frees or cancels them
}

// CompletionParamsOf returns the positions for function c. name returns the name of each of its params parameters.
func CompletionParamsOf(c *mpi.Call, params int, name func(param int) string) CompletionParams {
	x := CompletionParams{-1, -1, -1, -1, -1, -1, -1, -1, WaitBehaviourOf(c).Completes}
	for i := range params {
		switch name(i) {
		case "request":
			x.RequestPosition = i
		case "array_of_requests":
			x.RequestsPosition = i
		case "flag":
			x.FlagPosition = i
		case "outcount":
			x.CountPosition = i
		case "index":
			x.IndexPosition = i
		case "array_of_indices":
			x.IndicesPosition = i
		case "status":
			x.StatusPosition = i
		case "array_of_statuses":
			x.StatusesPosition = i
		}
	}
	return x
}
