package replay

import (
	"fmt"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// An outcomeKind says which function's outcome has to be brought about. The
// numbers are those of enum under_function in replayer/under/under.h.
type outcomeKind int32

const (
	outcomeNone outcomeKind = iota
	outcomeTest
	outcomeTestany
	outcomeTestall
	outcomeTestsome
	outcomeWaitany
	outcomeWaitsome
	outcomeGetStatus
	outcomeIprobe
	outcomeImprobe
	outcomeProbe
	outcomeMprobe
	outcomeRecv
	outcomeRecvC
	outcomeIrecv
	outcomeIrecvC
	outcomeSendrecv
	outcomeSendrecvC
	outcomeReplace
	outcomeReplaceC
	outcomeIsendrecv
	outcomeIsendrecvC
	outcomeIreplace
	outcomeIreplaceC
	outcomeWinTest
	outcomeParrived
	outcomeWaitall
	outcomeFileOpen
	outcomeFileDelete
	outcomeFileSize // known here only: the file is made as large before the call
)

var outcomes = map[string]outcomeKind{
	"MPI_Test": outcomeTest, "MPI_Testany": outcomeTestany, "MPI_Testall": outcomeTestall,
	"MPI_Testsome": outcomeTestsome, "MPI_Waitany": outcomeWaitany, "MPI_Waitsome": outcomeWaitsome,
	"MPI_Request_get_status": outcomeGetStatus,
	"MPI_Iprobe":             outcomeIprobe, "MPI_Improbe": outcomeImprobe,
	"MPI_Probe": outcomeProbe, "MPI_Mprobe": outcomeMprobe,
	"MPI_Recv": outcomeRecv, "MPI_Recv_c": outcomeRecvC, "MPI_Irecv": outcomeIrecv, "MPI_Irecv_c": outcomeIrecvC,
	"MPI_Sendrecv": outcomeSendrecv, "MPI_Sendrecv_c": outcomeSendrecvC,
	"MPI_Sendrecv_replace": outcomeReplace, "MPI_Sendrecv_replace_c": outcomeReplaceC,
	"MPI_Isendrecv": outcomeIsendrecv, "MPI_Isendrecv_c": outcomeIsendrecvC,
	"MPI_Isendrecv_replace": outcomeIreplace, "MPI_Isendrecv_replace_c": outcomeIreplaceC,
	"MPI_Win_test": outcomeWinTest, "MPI_Parrived": outcomeParrived,
	"MPI_Waitall": outcomeWaitall, "MPI_File_open": outcomeFileOpen, "MPI_File_delete": outcomeFileDelete,
	"MPI_File_get_size": outcomeFileSize,
}

func outcomeOf(name string) outcomeKind { return outcomes[name] }

// Directed reports whether calls of a function are told how to end.
func Directed(name string) bool {
	kind := outcomes[name]
	return kind != outcomeNone && kind != outcomeFileSize
}

// outcome lays out what the call is to give: struct under_outcome. 0 means that
// there is nothing to say, because the call can end in one way only or because
// it is not known how it did.
func (s *Stream) outcome(c *trace.Call, plan *plan) (uint64, error) {
	switch plan.outcome {
	case outcomeFileOpen, outcomeFileDelete:
		path, err := s.p.file(c)
		if err != nil || path == "" {
			return 0, err
		}
		at := s.layOut(plan.outcome, 0, nil, nil)
		store(at+24, 8, s.cstring(&trace.Value{Text: path}))
		return at, s.arena.err
	}
	if plan.outcome == outcomeFileSize {
		return 0, s.p.fileSize(c)
	}
	if plan.outcome == outcomeNone || c.Return != 0 && c.Return != mpi.ErrInStatus {
		return 0, nil
	}
	num := func(name string) int64 {
		if p := c.Param(name); p != nil {
			return p.Out.Num
		}
		return 0
	}
	out := func(name string) *trace.Value {
		if p := c.Param(name); p != nil {
			return &p.Out
		}
		return new(trace.Value)
	}
	flag, indices := int64(0), []trace.Value(nil)
	var match *trace.StatusValue
	switch plan.outcome {
	case outcomeTest, outcomeTestall, outcomeGetStatus, outcomeWinTest, outcomeParrived:
		flag = num("flag")
	case outcomeTestany, outcomeWaitany:
		flag = num("flag")
		at := *out("index")
		if at.Num == mpi.Undefined && (flag != 0 || plan.outcome == outcomeWaitany) {
			return 0, nil
		}
		indices = []trace.Value{at}
	case outcomeTestsome, outcomeWaitsome:
		if num("outcount") == mpi.Undefined {
			return 0, nil
		}
		indices = out("array_of_indices").Elems
	case outcomeWaitall:
		if c.Return != mpi.ErrInStatus {
			return 0, nil
		}
		for i, v := range out("array_of_statuses").Elems {
			if !v.Status.Pending() {
				indices = append(indices, trace.Value{Num: int64(i)})
			}
		}
	case outcomeIprobe, outcomeImprobe:
		flag = num("flag")
		if flag != 0 {
			match = statusOf(c)
		}
		if flag != 0 && match == nil {
			return 0, nil
		}
	case outcomeIrecv, outcomeIrecvC, outcomeIsendrecv, outcomeIsendrecvC, outcomeIreplace, outcomeIreplaceC:
		if s.completion == nil || s.completion.status == nil || !wildcard(c) {
			return 0, nil
		}
		if match = message(s.completion.status); match == nil || match.Cancelled {
			return 0, nil
		}
	default: // blocking receives and probes
		if match = statusOf(c); match == nil || !wildcard(c) {
			return 0, nil
		}
	}
	if err := within(c, indices); err != nil && (flag != 0 || plan.outcome != outcomeTestany) {
		return 0, err
	}
	return s.layOut(plan.outcome, flag, match, indices), s.arena.err
}

// within checks that what a call finishes is among its requests.
func within(c *trace.Call, indices []trace.Value) error {
	if len(indices) == 0 {
		return nil
	}
	n := 0
	if p := c.Param("array_of_requests"); p != nil {
		n = len(p.In.Elems)
	}
	for i := range indices {
		if at := indices[i].Num; at < 0 || at >= int64(n) {
			return fmt.Errorf("request %d of %d is said to have finished", at, n)
		}
	}
	return nil
}

func (s *Stream) layOut(kind outcomeKind, flag int64, match *trace.StatusValue, indices []trace.Value) uint64 {
	at := s.arena.take(int64(32 + 4*len(indices)))
	if at == 0 {
		return 0
	}
	store(at, 4, uint64(kind))
	store(at+4, 4, uint64(flag))
	store(at+8, 8, 0)
	if match != nil {
		store(at+8, 4, uint64(mpi.Translation(s.p.flavour, mpi.KindRank).Raw(match.Source)))
		store(at+12, 4, uint64(mpi.Translation(s.p.flavour, mpi.KindTag).Raw(match.Tag)))
	}
	store(at+16, 4, uint64(len(indices)))
	store(at+24, 8, 0)
	for i := range indices {
		store(at+32+4*uint64(i), 4, uint64(indices[i].Num))
	}
	return at
}

// vain reports whether an outcome is that a test found nothing.
func vain(outcome uint64) bool {
	if outcome == 0 {
		return false
	}
	switch outcomeKind(load(outcome, 4)) {
	case outcomeTest, outcomeTestany, outcomeTestall, outcomeGetStatus, outcomeIprobe, outcomeImprobe, outcomeWinTest, outcomeParrived:
		return load(outcome+4, 4) == 0
	case outcomeTestsome:
		return load(outcome+16, 4) == 0
	}
	return false
}

// wildcard reports whether a receive or probe takes messages of several senders
// or tags.
func wildcard(c *trace.Call) bool {
	for i := range c.Params {
		p := &c.Params[i]
		switch p.Kind() {
		case "rank":
			if p.In.Type == trace.Int && p.In.Num == mpi.AnySource {
				return true
			}
		case "tag":
			if p.In.Type == trace.Int && p.In.Num == mpi.AnyTag {
				return true
			}
		}
	}
	return false
}

// statusOf returns the status of a call that has one, if it tells of a message.
func statusOf(c *trace.Call) *trace.StatusValue {
	p := c.Param("status")
	if p == nil || p.Out.Status == nil {
		return nil
	}
	return message(p.Out.Status)
}

// message returns a status if it tells of a message. Whether it was cancelled is
// for requests to say: after a probe that bit may be anything.
func message(v *trace.StatusValue) *trace.StatusValue {
	if v.Form != trace.StatusFilled && v.Form != trace.StatusIgnored || v.Source == mpi.AnySource || v.Tag == mpi.AnyTag {
		return nil
	}
	return v
}
