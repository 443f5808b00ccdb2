package hang

import (
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// A view combines what the follower found with the last calls of all threads, and makes the report.
type view struct {
	*follower
	o Options
	r *trace.Reader

	end              int64     // end of the run in ns on the time line; 0 without times
	last             []rankEnd // by rank
	placeOfOperation []int     // index of the call site that began an operation, by index in Snapshot.Operations
	analysis         *Analysis // polling ranks count as able to go on
	patient          *Analysis // polling ranks count as waiting for what they poll
}

// A rankEnd is the state of one rank at the end of the trace.
type rankEnd struct {
	process Process
	known   bool        // the rank left a track
	calls   int64       // number of calls that the rank made
	kind    string      // one of the State… constants
	threads []threadEnd // by thread
	shown   int         // index of the thread whose call is reported as the rank's
	unsure  bool        // what some of the rank's calls did isn't known
}

// A threadEnd is the state of a thread at the end of the trace.
type threadEnd struct {
	call    *trace.Call // the last call; nil: the thread made none
	place   int         // index of the last call's site
	kind    string      // one of the State… constants
	since   int64       // for how many ns the thread has been in this state; 0: not known
	polls   uint64      // number of polls in vain; 0: the thread doesn't poll
	wait    ThreadWait
	blocked bool       // the thread is in a call that waits for other ranks
	in      *Operation // the collective operation that the thread is in; nil: none
	of      string     // name of the function that the thread runs; "": not known
}

// look determines the state of each rank, and whether ranks can go on.
func (v *view) look() error {
	var err error
	if v.r.HasTimes() {
		if _, v.end, err = v.r.TimeExtent(); err != nil {
			return err
		}
	}
	v.last = make([]rankEnd, v.r.Ranks())
	patient := Snapshot{Messages: v.snap.Messages}
	for rank := range v.last {
		e := &v.last[rank]
		e.process, e.kind = v.o.ProcessOfRank(rank), StateUnknown
		w := RankWait{OtherThreadBusy: true}
		p := w
		if n := v.ranks[rank]; n != nil {
			if err := v.lookAt(n, e); err != nil {
				return err
			}
			w, p = e.waits()
		}
		w.IsProcessHeld, p.IsProcessHeld = e.process.HeldBy != "", e.process.HeldBy != ""
		v.snap.Ranks[rank] = w
		patient.Ranks = append(patient.Ranks, p)
	}
	patient.Groups, patient.Operations = v.snap.Groups, v.snap.Operations
	v.analysis = v.snap.Analyse()
	v.patient = patient.Analyse()
	return nil
}

// waits returns what a rank waits for. In strict, a thread that polls counts as busy; in patient, as waiting for what
// it polls.
func (e *rankEnd) waits() (strict, patient RankWait) {
	switch e.kind {
	case StateFinalized, StateEnded:
		return RankWait{EndedOrFinalizing: true}, RankWait{EndedOrFinalizing: true}
	case StateMakingCalls:
		return RankWait{OtherThreadBusy: true}, RankWait{OtherThreadBusy: true}
	}
	if e.unsure {
		return RankWait{OtherThreadBusy: true}, RankWait{OtherThreadBusy: true}
	}
	for i := range e.threads {
		switch t := &e.threads[i]; {
		case t.blocked:
			strict.Threads, patient.Threads = append(strict.Threads, t.wait), append(patient.Threads, t.wait)
		case t.kind == StatePolling && len(t.wait.Operations) > 0:
			strict.OtherThreadBusy, patient.Threads = true, append(patient.Threads, t.wait)
		case t.call != nil:
			strict.OtherThreadBusy, patient.OtherThreadBusy = true, true
		}
	}
	return strict, patient
}

// lookAt determines the state of one rank, e.
func (v *view) lookAt(n *rankState, e *rankEnd) error {
	about, err := n.k.Process()
	if err != nil {
		return err
	}
	if e.process.Host == "" {
		e.process.Host, e.process.PID = about.Host, about.PID
	}
	e.known, e.calls = true, about.Calls
	off := slices.ContainsFunc(about.Asides, func(a trace.Aside) bool { return a.TracingOff })
	e.unsure = n.unsure || off || about.LostCalls > 0 || e.process.HasUnreadableRecords
	number := v.operations(n)
	finished := about.EndState == "finished"
	for stream := range n.threads {
		x, err := v.thread(n, stream, number)
		if err != nil {
			return err
		}
		for _, s := range n.k.StartFunctions(stream) {
			x.of = strings.TrimPrefix(x.of+", "+v.o.NameThread(s), ", ")
		}
		finished = finished || x.call != nil && ops.HasAttr(x.call.Func, mpi.AttrFinalises)
		e.threads = append(e.threads, x)
	}
	n.k.DropDistinctCalls()
	e.shown = slices.IndexFunc(e.threads, func(t threadEnd) bool { return t.blocked })
	e.shown = max(0, e.shown)
	e.kind = e.threads[e.shown].kind
	switch {
	case finished:
		e.kind = StateFinalized
	case e.process.Ended:
		e.kind = StateEnded
	case e.process.MadeCalls:
		e.kind = StateMakingCalls
	}
	return nil
}

// operations adds a rank's incomplete operations to the snapshot, and returns their indices in Snapshot.Operations.
func (v *view) operations(n *rankState) map[*begun]int {
	var list []*begun
	for _, b := range n.pending {
		if b.known {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b *begun) int { return a.order - b.order })
	for _, t := range n.threads {
		for _, b := range t.under {
			if b.known {
				list = append(list, b)
			}
		}
		for _, terminal := range sortedKeys(t.polled) {
			for _, b := range t.polled[terminal] {
				if b.known && b.Kind == OperationProbe {
					list = append(list, b)
				}
			}
		}
	}
	number := make(map[*begun]int, len(list))
	for _, b := range list {
		number[b] = len(v.snap.Operations)
		v.snap.Operations = append(v.snap.Operations, b.Operation)
		v.placeOfOperation = append(v.placeOfOperation, b.place)
	}
	return number
}

// thread determines the state of one thread of rank n. number has the indices of the rank's operations in
// Snapshot.Operations.
func (v *view) thread(n *rankState, stream int, number map[*begun]int) (x threadEnd, err error) {
	length := n.k.CallCount(stream)
	if length == 0 {
		x.kind = StateOutsideMPI
		return x, nil
	}
	if x.call, err = n.k.Call(stream, length-1); err != nil {
		return x, err
	}
	x.place = v.placeOf(x.call)
	open := x.call.Return == trace.ReturnCodeNeverReturned
	if v.r.HasTimes() {
		for c, err := range n.k.TimedCallsFrom(stream, length-1) {
			if err != nil {
				return x, err
			}
			if open {
				x.since = int64(c.Timing.Duration.Ns)
			} else {
				x.since = max(0, v.end-c.EndNs())
			}
			break
		}
	}
	t := n.threads[stream]
	if open {
		for _, b := range t.under {
			if b.known && b.Kind == OperationCollective {
				x.in = &b.Operation
			}
		}
	}
	polls := t.polls
	if polls > 0 { // t.polls may be too small: package ops passes only the first of many polls in a row
		if polls, err = pollsAtEnd(n.k, stream); err != nil {
			return x, err
		}
	}
	switch {
	case polls >= manyPolls && (!open || isPoll(x.call)):
		x.kind, x.polls = StatePolling, polls
		x.wait.AnySuffices = true
		for _, terminal := range sortedKeys(t.polled) {
			for _, b := range t.polled[terminal] {
				if i, ok := number[b]; ok {
					x.wait.Operations = append(x.wait.Operations, i)
				}
			}
		}
	case !open:
		x.kind = StateOutsideMPI
	default:
		x.kind = StateInLocalCall
		v.blocks(n, t, &x, number)
	}
	return x, nil
}

func isPoll(c *trace.Call) bool {
	def, _ := mpi.CallNamed(c.Func.Name)
	return def.Has(mpi.AttrPolls)
}

// blocks determines what a thread's open call waits for, and whether it blocks the thread.
func (v *view) blocks(n *rankState, t *thread, x *threadEnd, number map[*begun]int) {
	def, _ := mpi.CallNamed(x.call.Func.Name)
	if w := meaning.WaitBehaviourOf(def); w.Blocks {
		x.wait.AnySuffices = w.Choice == meaning.ChooseAnyRequest || w.Choice == meaning.ChooseSomeRequests
	}
	list := t.under
	for _, id := range t.awaits {
		if b := n.pending[id]; b != nil {
			list = append(list, b)
		}
	}
	sure := x.since == 0 || x.since >= brief
	for _, b := range list {
		i, ok := number[b]
		switch {
		case !ok && x.wait.AnySuffices:
			return // an operation that isn't known may complete, and so may the call
		case !ok:
			continue
		case !sure && b.Kind != OperationReceive && b.Kind != OperationProbe:
			return
		}
		x.wait.Operations = append(x.wait.Operations, i)
	}
	if len(x.wait.Operations) > 0 {
		x.kind, x.blocked = StateBlocked, true
	}
}
