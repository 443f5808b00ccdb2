package traced

import "github.com/spoor-hpc/spoor/internal/simulate/dataflow"

// mostCPUs is how many a rank of a schedule can have.
const mostCPUs = 256

// A goalTeam is the threads of a rank, each of which has a CPU of its own in a schedule.
type goalTeam struct {
	*threads
	at      []goalThread  // by stream
	started []goalThread  // where the main thread was when one of a stream began, if it has been there
	rest    []dataflow.Op // what the thread does that waits for the end of all
}

func newGoalTeam(t *threads) *goalTeam {
	x := &goalTeam{threads: t, at: make([]goalThread, len(t.strands)), started: make([]goalThread, len(t.strands))}
	cpus := int64(1)
	for stream := range x.at {
		x.at[stream] = goalThread{last: none, begun: none, thread: int32(stream)}
		x.started[stream].last = unknownPlace
		if stream != t.main {
			x.at[stream].cpu = cpus
			cpus++
		}
	}
	return x
}

const unknownPlace = none - 1

// turn has what follows be a thread's.
func (r *goalRank) turn(thread int32) {
	if r.thread != thread {
		r.team.at[r.thread], r.goalThread = r.goalThread, r.team.at[thread]
	}
}

// shared does what threads have to do with each other; false if an operation is none of that.
func (r *goalRank) shared(op *dataflow.Op) bool {
	t := r.team
	r.turn(op.Thread)
	switch {
	case t.rest != nil && op.Thread == t.rest[0].Thread:
		t.rest = append(t.rest, *op)
	case op.Kind != dataflow.Meet || op.Request != dataflow.NoRequest:
		return false
	case op.Meeting == dataflow.ToRoot && op.Root:
		t.rest = []dataflow.Op{*op}
	case op.Meeting == dataflow.ToRoot:
	case op.Root: // the main thread, where another begins
		t.started[op.Context-t.context] = r.goalThread
	default:
		from := t.started[op.Context-t.context]
		if from.last == unknownPlace {
			r.turn(int32(t.main))
			from = r.goalThread
			r.turn(op.Thread)
		}
		r.last, r.begun = from.last, from.begun
	}
	return true
}

// finish writes what waits for the end of all threads.
func (r *goalRank) finish() {
	t := r.team
	if t == nil || t.rest == nil {
		return
	}
	rest := t.rest
	t.rest = nil
	r.turn(rest[0].Thread)
	r.calculation(0)
	for _, stream := range t.with {
		if x := &t.at[stream]; int32(stream) != r.thread {
			if x.last != none {
				r.out.Write(waits(nil, r.text[:r.name], " requires l", x.last))
			}
			if x.begun != none {
				r.out.Write(waits(nil, r.text[:r.name], " irequires l", x.begun))
			}
		}
	}
	r.ended()
	for i := range rest[1:] {
		r.op(&rest[1+i])
	}
}
