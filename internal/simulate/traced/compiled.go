package traced

import (
	"encoding/binary"
	"math"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A compiledCall is the operations of a distinct call that are the same each time that it is made.
type compiledCall struct {
	ops   []dataflow.Op
	waits []int // for each request that the call waits for: how many request creations ago it was made, from 1
	makes bool  // the call makes a request, even if that is complete at once
	role  role  // how a call that takes the visit's time (timed) is treated
	timed bool
	name  string
}

func recorded(ns float64) int64 { return int64(math.Round(min(ns*1000, 1e18))) }

// compile returns the program of a rank as distinct calls; nil if its calls must be interpreted one by one.
func (s *ProgramSource) compile(k *trace.Rank) (*dataflow.CompiledProgram, error) {
	process, err := k.Process()
	if err != nil || k.Streams() > 1 || process.FirstThreadTracingOffNs() > 0 || s.o.apart || s.o.single {
		return nil, err
	}
	calls := make([]compiledCall, k.Terminals())
	account, err := s.calls.Interpreter(k)
	if err != nil {
		return nil, err
	}
	w := &writer{s: s, k: k, groups: make(map[*handles.Comm]*commView)}
	made, waited, most := uint64(0), uint64(0), 1
	for t, n := range k.TerminalCounts(0) {
		if n == 0 {
			continue
		}
		known, err := w.compile(account, t, &calls[t])
		if err != nil || !known {
			return nil, err
		}
		c := &calls[t]
		if c.makes {
			made += n
		}
		waited += n * uint64(len(c.waits))
		for _, ago := range c.waits {
			most = max(most, ago)
		}
	}
	if made != waited || most > mostAgo { // a request that is never waited for would never be removed
		return nil, nil
	}
	p := &dataflow.CompiledProgram{}
	p.Code, p.Operands = s.codes.of(calls, most)
	p.Visits, err = s.visits(k, calls)
	return p, err
}

// codes has the DistinctCallOps made so far, so that ranks can share them.
type codes struct {
	calls map[string][]dataflow.Op
	codes map[string]*dataflow.DistinctCallOps
	text  []byte
	names map[string]uint64
}

// of returns the DistinctCallOps of a rank's calls, by terminal, and the rank's slots. most is the largest number in
// compiledCall.waits.
func (x *codes) of(calls []compiledCall, most int) (*dataflow.DistinctCallOps, []dataflow.RankOperands) {
	var slots []dataflow.RankOperands
	number := make(map[dataflow.RankOperands]int32)
	code := &dataflow.DistinctCallOps{OpsOfCall: make([][]dataflow.Op, len(calls)), RequestMask: 1}
	for code.RequestMask < uint32(most+1) {
		code.RequestMask *= 2
	}
	code.RequestMask--
	whole := binary.AppendUvarint(nil, uint64(code.RequestMask))
	for t := range calls {
		c := &calls[t]
		x.text = x.text[:0]
		for i := range c.ops {
			o := &c.ops[i]
			switch o.Kind {
			case dataflow.OpSend, dataflow.OpReceive, dataflow.OpMeet:
				s := dataflow.RankOperands{IsMeeting: o.Kind == dataflow.OpMeet, IsSend: o.Kind == dataflow.OpSend, Peer: o.Peer, Context: o.Context, Tag: o.Tag}
				n, fresh := once.NumberOf(number, s)
				if fresh {
					slots = append(slots, s)
				}
				o.OperandsIndex, o.Peer, o.Context, o.Tag = n, 0, 0, 0
			}
			x.text = appendOp(x.text, o)
		}
		ops, ok := x.calls[string(x.text)]
		if !ok {
			ops = append([]dataflow.Op(nil), c.ops...)
			x.calls[string(x.text)] = ops
			x.names[string(x.text)] = uint64(len(x.names))
		}
		code.OpsOfCall[t] = ops
		whole = binary.AppendUvarint(whole, x.names[string(x.text)])
	}
	if known := x.codes[string(whole)]; known != nil {
		return known, slots
	}
	x.codes[string(whole)] = code
	return code, slots
}

// appendOp appends an encoding of operation o that is equal only for equal operations.
func appendOp(b []byte, o *dataflow.Op) []byte {
	flags := byte(o.WaitPattern)
	for i, set := range []bool{o.IsSynchronous, o.IsBuffered, o.IsRoot, o.RequestCountsBack, o.TakesVisitTime} {
		if set {
			flags |= 8 << i
		}
	}
	b = append(b, byte(o.Kind), flags)
	for _, n := range []int64{int64(o.Request), int64(o.Members), int64(o.OperandsIndex), int64(o.CallIndex), o.Bytes, o.TimePs} {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// mostAgo is the largest number in compiledCall.waits with which a rank's calls are compiled.
const mostAgo = 1 << 20

// compile determines the operations of a distinct call. It returns false if they depend on more than the call, for
// example on earlier calls.
func (w *writer) compile(account *ops.CallInterpreter, terminal int, x *compiledCall) (bool, error) {
	c, err := w.k.Terminal(terminal)
	if err != nil || c.RequestsFromEarlierCall() || !repeatable(c) {
		return false, err
	}
	pieces := account.Handles().GroupOccurrences(0, c)
	if len(pieces) != 1 || w.k.Lane(terminal) != nil {
		return false, nil // calls with the terminal differ in values or in the meaning of handles
	}
	at := *c
	at.Index = pieces[0].ExampleIndex
	call := &ops.Call{Call: &at}
	w.ops, w.site = nil, int32(terminal)
	x.name, x.makes = c.Name(), c.Func.Has(trace.AttrNonblocking)
	if c.Func.Has(trace.AttrCompletes) {
		for _, done := range ops.RequestsCompleted(c) {
			switch v := done.Request; v.RequestForm {
			case trace.RequestNull:
			case trace.RequestOneShot:
				if v.RequestID < 1 || v.RequestID > mostAgo {
					return false, nil
				}
				x.waits = append(x.waits, int(v.RequestID))
				w.add(dataflow.Op{Kind: dataflow.OpWait, RequestCountsBack: true, Request: int32(v.RequestID)})
			default:
				return false, nil
			}
		}
		x.ops = w.ops
		return true, nil
	}
	acts, unclear := account.ActsOf(nil, c, 0, at.Index)
	if call.Acts = acts; unclear > 0 {
		call.Acts = nil
	}
	begins := 0
	for i := range call.Acts {
		a := &call.Acts[i]
		switch a.Kind {
		case ops.ActSendBegin, ops.ActRecvBegin, ops.ActCollectiveBegin:
			if begins++; a.Kind == ops.ActRecvBegin && (a.PeerInComm < 0 || a.Tag < 0) {
				return false, nil
			}
		}
		if a.Kind != ops.ActCollectiveBegin && a.Kind != ops.ActCollective && a.Comm != nil && a.PeerInComm >= 0 && a.PeerWorldRank() < 0 {
			return false, nil
		}
	}
	w.requests, w.made, w.spare = make(map[uint64]int32), 0, nil
	f := w.s.function(call.Func)
	known := w.acts(f, call)
	if begins > 1 || begins == 1 && (!known || !x.makes) {
		return false, nil
	}
	switch {
	case begins == 1:
		o := &w.ops[len(w.ops)-1]
		o.RequestCountsBack, o.Request = true, 0
	case x.makes:
		w.add(dataflow.Op{Kind: dataflow.OpCompletedRequest, RequestCountsBack: true})
	}
	if !known {
		switch x.role = w.kind(f.Call, call); {
		case x.role == waitsLater:
		case x.role == unknown && moves(c):
			return false, nil
		default:
			kind := dataflow.OpRecorded
			if x.role == local {
				kind = dataflow.OpLocalCall
			}
			x.timed = true
			w.add(dataflow.Op{Kind: kind, TakesVisitTime: true})
		}
	}
	x.ops = w.ops
	return true, nil
}

// repeatable reports whether a call's arguments determine what it does in the simulation. It must be a message, a
// collective, the completion of requests for such, or irrelevant.
func repeatable(c *trace.Call) bool {
	def, ok := mpi.CallNamed(c.Name())
	if !ok || c.Return != 0 || def.Has(mpi.AttrPolls) || def.Has(mpi.AttrNeighborhood) || c.Func.Has(trace.AttrPersistent) || c.Func.Has(trace.AttrStarts) || c.Func.Has(trace.AttrCreatesWin) {
		return false
	}
	for i := range c.Params {
		switch c.Params[i].Kind() {
		case mpi.KindMessage, mpi.KindWin, mpi.KindFile:
			return false
		}
	}
	if ops.AbandonsRequest(c.Func) {
		return false
	}
	m := meaning.DataMovementOf(c.Name())
	return m == nil || m.Pattern == meaning.PatternToPeer || m.Pattern == meaning.PatternReceive || m.Pattern.IsCollective()
}

// moves reports whether a call makes a request, or sends or receives messages.
func moves(c *trace.Call) bool {
	m := meaning.DataMovementOf(c.Name())
	return c.Func.Has(trace.AttrNonblocking) || m != nil && !m.Pattern.IsCollective()
}
