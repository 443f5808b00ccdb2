package replay

import (
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// directed are the functions whose outcome the replay forces, in replayer/under/under.c, large-count forms included.
var directed = map[string]bool{
	"MPI_Test": true, "MPI_Testany": true, "MPI_Testall": true, "MPI_Testsome": true, "MPI_Request_get_status": true,
	"MPI_Waitany": true, "MPI_Waitsome": true, "MPI_Waitall": true, "MPI_Win_test": true, "MPI_Parrived": true,
	"MPI_Iprobe": true, "MPI_Improbe": true, "MPI_Probe": true, "MPI_Mprobe": true,
	"MPI_Recv": true, "MPI_Irecv": true, "MPI_Sendrecv": true, "MPI_Sendrecv_replace": true, "MPI_Isendrecv": true, "MPI_Isendrecv_replace": true,
	"MPI_File_open": true, "MPI_File_delete": true,
}

// HasForcedOutcome reports whether the replay forces the outcome of a function's calls.
func HasForcedOutcome(name string) bool { return directed[strings.TrimSuffix(name, "_c")] }

// outcome lays out a struct under_outcome, the outcome that a call must have, and returns its address. 0 means no
// constraint: the call has only one possible outcome, or the recorded one isn't known.
func (s *Stream) outcome(c *trace.Call, plan *callPlan) (uint64, error) {
	switch {
	case c.Name() == "MPI_File_get_size":
		return 0, s.p.fileSize(c)
	case !plan.directed:
		return 0, nil
	case plan.call.Index("filename") >= 0:
		path, err := s.file(c)
		if err != nil || path == 0 {
			return 0, err
		}
		at := s.layOut(c, 0, nil, nil)
		store(at+24, 8, path)
		return at, s.arena.err
	case c.Return != 0 && c.Return != mpi.ErrInStatus:
		return 0, nil
	}
	if err := ops.CheckCompletedRequests(c); err != nil {
		return 0, err
	}
	q := &s.question
	*q = question{c: c, is: plan.waits, polls: plan.call.Has(mpi.AttrPolls), later: plan.call.Has(mpi.AttrNonblocking), vain: ops.FoundNothing(c)}
	if !s.answer(q) {
		return 0, nil
	}
	flag := int64(0)
	if p := c.Param("flag"); p != nil {
		flag = p.Out.Num
	}
	s.vain = q.vain && len(s.p.streams) == 1 && s.derived == nil
	return s.layOut(c, flag, q.match, q.done), s.arena.err
}

// A question is a call whose outcome may have to be forced, with the findings about it.
type question struct {
	c     *trace.Call
	is    meaning.WaitBehaviour
	polls bool
	later bool // c makes a request, which a later call completes
	vain  bool // c is a test that found nothing

	done  []ops.Completion
	match *trace.StatusValue
}

// answers are the ways to determine the outcome of a call. The first whose applies holds is taken. find returns false
// if nothing must be forced.
var answers = []struct {
	applies func(q *question) bool
	find    func(s *Stream, q *question) bool
}{
	// MPI_Waitany, MPI_Testsome and the like: outputs show which requests completed.
	{func(q *question) bool {
		return q.is.Choice == meaning.ChooseAnyRequest || q.is.Choice == meaning.ChooseSomeRequests
	}, (*Stream).completedSome},
	// MPI_Waitall: all requests complete, and only the failed ones must be forced.
	{func(q *question) bool { return q.is.Choice == meaning.ChooseAllRequests && !q.polls }, (*Stream).failedSome},
	// Other tests, and calls that found nothing: the flag is the whole outcome.
	{func(q *question) bool { return q.polls && !q.is.Probes || q.vain }, func(*Stream, *question) bool { return true }},
	// Other calls without wildcards that don't poll, such as MPI_Irecv: MPI's message order determines the outcome.
	{func(q *question) bool { return !q.polls && !wildcard(q.c) }, func(*Stream, *question) bool { return false }},
	// A call that makes a request: the call that completed the request shows the message.
	{func(q *question) bool { return q.later }, (*Stream).completedMessage},
	// Receives and probes have the message in their status.
	{func(*question) bool { return true }, func(_ *Stream, q *question) bool { q.match = statusOf(q.c); return q.match != nil }},
}

// answer finds the outcome that q's call must have; false if nothing must be forced.
func (s *Stream) answer(q *question) bool {
	for i := range answers {
		if answers[i].applies(q) {
			return answers[i].find(s, q)
		}
	}
	return false
}

func (s *Stream) completedSome(q *question) bool {
	q.done = ops.RequestsCompleted(q.c)
	return len(q.done) > 0 || q.vain // otherwise no request was active
}

func (s *Stream) failedSome(q *question) bool {
	if q.c.Return != mpi.ErrInStatus {
		return false
	}
	q.done = ops.RequestsCompleted(q.c)
	return true
}

func (s *Stream) completedMessage(q *question) bool {
	if s.completion != nil && s.completion.status != nil && !s.completion.status.Cancelled {
		q.match = message(s.completion.status)
	}
	return q.match != nil
}

func (s *Stream) layOut(c *trace.Call, flag int64, match *trace.StatusValue, done []ops.Completion) uint64 {
	name := s.cstring(&trace.Value{Text: "P" + c.Name()})
	at := s.arena.take(int64(32 + 4*len(done)))
	if at == 0 {
		return 0
	}
	clear(bytesAt(at, 32))
	store(at, 8, name)
	store(at+8, 4, uint64(flag))
	if match != nil {
		store(at+12, 4, uint64(mpi.NumberTableOf(s.p.flavour, mpi.KindRank).FromABI(match.Source)))
		store(at+16, 4, uint64(mpi.NumberTableOf(s.p.flavour, mpi.KindTag).FromABI(match.Tag)))
	}
	store(at+20, 4, uint64(len(done)))
	for i := range done {
		store(at+32+4*uint64(i), 4, uint64(done[i].ArrayIndex))
	}
	return at
}

// wildcard reports whether a receive or probe takes messages of several senders
// or tags.
func wildcard(c *trace.Call) bool {
	r, _ := ops.ReceiveSelectionOf(c)
	return r.HasWildcard
}

// statusOf returns the status of a call if it describes a message; else nil.
func statusOf(c *trace.Call) *trace.StatusValue {
	p := c.Param("status")
	if p == nil || p.Out.Status == nil {
		return nil
	}
	return message(p.Out.Status)
}

// message returns a status if it describes a message. The cancelled bit counts for requests only: after a probe it is
// undefined.
func message(v *trace.StatusValue) *trace.StatusValue {
	if v.Form != trace.StatusFormFilled && v.Form != trace.StatusFormIgnored || v.Source == mpi.AnySource || v.Tag == mpi.AnyTag {
		return nil
	}
	return v
}
