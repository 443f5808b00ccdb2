package reissue

import (
	"fmt"
	"sort"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// StreamEnds is, by rank and thread, how many calls can be made again of a program that did not finish. It excludes
// calls that never returned and everything that needs them: collective calls that some rank of the communicator
// doesn't reach, receives of messages that are sent later, and all later calls.
type StreamEnds [][]uint64

// whole is the largest number of calls, over all ranks, of a trace for which FindStreamEnds works. It walks them one
// by one.
const whole = 1 << 28

// FindStreamEnds returns how far the streams of a trace can be made again; nil if all ranks finished.
func FindStreamEnds(r *trace.Reader) (StreamEnds, error) {
	x := ends{r: r, ends: make(StreamEnds, r.Ranks()), met: make(map[rendezvous][][]callIndex), loose: make(map[rendezvous]bool)}
	var err error
	if x.comms, err = handles.TableOf(r).Comms(); err != nil {
		return nil, fmt.Errorf("reissue: %w", err)
	}
	open, calls := false, uint64(0)
	ranks := make([]*trace.Rank, r.Ranks())
	for rank := range ranks {
		if r.ClassOf(rank) < 0 {
			return nil, fmt.Errorf("rank %d left no track: no call that all ranks make can be made again", rank)
		}
		if ranks[rank], err = r.Rank(rank); err != nil {
			return nil, fmt.Errorf("reissue: %w", err)
		}
		p, err := ranks[rank].Process()
		if err != nil {
			return nil, fmt.Errorf("reissue: %w", err)
		}
		open = open || p.EndState != "finished"
		calls += ranks[rank].TotalCallCount()
	}
	if !open {
		return nil, nil
	}
	if calls > whole {
		return nil, fmt.Errorf("%d calls are too many to find out how far they can be made again", calls)
	}
	for _, k := range ranks {
		if err := x.rank(k); err != nil {
			return nil, fmt.Errorf("reissue: %w", err)
		}
	}
	for x.cut() {
	}
	return x.ends, nil
}

type ends struct {
	r     *trace.Reader
	comms *handles.Comms
	ends  StreamEnds
	// By rendezvous: its calls, in a list for each rank, or for each side of the message. A list has one stream after
	// the other, each in program order.
	met   map[rendezvous][][]callIndex
	loose map[rendezvous]bool // true for messages of persistent sends: their number is unknown
}

// A rendezvous identifies where ranks depend on each other: the collective calls of a communicator, or the messages
// from one rank to another.
type rendezvous struct {
	comm     *handles.Comm
	from, to int // ranks in MPI_COMM_WORLD; -1 for collective calls
}

// A callIndex identifies a call of a rank: its stream and its index in the stream, from 0.
type callIndex struct {
	stream int
	index  uint64
}

func (x *ends) note(m rendezvous, side, sides int, p callIndex) {
	list := once.GetOrMake(x.met, m, func() [][]callIndex { return make([][]callIndex, sides) })
	list[side] = append(list[side], p)
}

// rank walks through a rank's calls up to the first that never returned.
func (x *ends) rank(k *trace.Rank) error {
	rank := k.Number()
	x.ends[rank] = make([]uint64, k.Streams())
	defs := make([]*mpi.Call, k.Terminals())
	// received: all nonblocking calls send or receive messages, so each request that a wait completes is a message.
	received := true
	for t := range defs {
		c, err := k.Terminal(t)
		if err != nil {
			return err
		}
		if defs[t], _ = mpi.CallNamed(c.Name()); defs[t] != nil && defs[t].Has(mpi.AttrNonblocking) && c.Param("dest") == nil && c.Param("source") == nil {
			received = false
		}
	}
	own, err := handles.TableOf(x.r).Rank(k)
	if err != nil {
		return err
	}
	for stream := range k.Streams() {
		w, err := k.Walk(stream, 0)
		if err != nil {
			return err
		}
		for w.Next() {
			c := w.Call()
			def := defs[c.Terminal]
			if c.Return == trace.ReturnCodeNeverReturned || c.Name() == "MPI_Abort" || def == nil {
				break
			}
			x.ends[rank][stream] = c.Index + 1
			at := callIndex{stream, c.Index}
			comm := own.CommOf(c, stream, c.Index)
			switch {
			case def.Has(mpi.AttrFinalises):
				x.note(rendezvous{x.comms.World(), -1, -1}, rank, x.r.Ranks(), at)
			case def.Has(mpi.AttrCollective) && comm != nil && !strings.Contains(c.Name(), "_group"):
				x.note(rendezvous{comm, -1, -1}, rank, x.r.Ranks(), at)
			}
			x.sends(c, def, comm, at, rank)
			if received || !def.Has(mpi.AttrCompletes) {
				x.receives(c, comm, at, rank)
			}
		}
		if err := w.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Indices of the two sides of a message in ends.met.
const (
	sending   = 0
	receiving = 1
)

// sends records the messages that a call sends.
func (x *ends) sends(c *trace.Call, def *mpi.Call, comm *handles.Comm, at callIndex, rank int) {
	p := c.Param("dest")
	if comm == nil || p == nil || p.In.Type != trace.TypeInt || p.In.Num < 0 {
		return
	}
	m := rendezvous{nil, rank, comm.PeerWorldRank(int(p.In.Num))}
	if def.Has(mpi.AttrPersistent) {
		x.loose[m] = true
	}
	x.note(m, sending, 2, at)
}

// receives records the messages that a call's statuses describe.
func (x *ends) receives(c *trace.Call, comm *handles.Comm, at callIndex, rank int) {
	got := func(s *trace.StatusValue) {
		if s == nil || s.Form != trace.StatusFormFilled && s.Form != trace.StatusFormIgnored || s.Source < 0 || s.Cancelled {
			return
		}
		// A wait's status lacks the communicator that its source is a rank of. It is known only if MPI_COMM_WORLD is
		// the only communicator.
		of := comm
		if of == nil {
			of = x.comms.World()
			if len(x.comms.List()) > 1 {
				return
			}
		}
		if from := of.PeerWorldRank(int(s.Source)); from >= 0 {
			x.note(rendezvous{nil, from, rank}, receiving, 2, at)
		}
	}
	if def, _ := mpi.CallByID(c.Func.ID); !meaning.WaitBehaviourOf(def).Completes && !meaning.WaitBehaviourOf(def).Receives {
		return // the call completes no receive
	}
	for i := range c.Params {
		v := &c.Params[i].Out
		if v.Type == trace.TypeStatus {
			got(v.Status)
		}
		for k := range v.Elems {
			if v.Elems[k].Type == trace.TypeStatus {
				got(v.Elems[k].Status)
			}
		}
	}
}

// before returns how many calls of list are before the end of their stream. The list is one of ends.met, of one rank.
func (x *ends) before(rank int, list []callIndex) int {
	return sort.Search(len(list), func(i int) bool { return list[i].index >= x.ends[rank][list[i].stream] })
}

// cut ends streams before the first call that needs a call beyond the end of another rank's stream. It reports
// whether it shortened any.
func (x *ends) cut() bool {
	some := false
	to := func(rank int, p callIndex) {
		if end := &x.ends[rank][p.stream]; p.index < *end {
			*end = p.index
			some = true
		}
	}
	for m, sides := range x.met {
		if m.from >= 0 {
			sent, received := x.before(m.from, sides[sending]), x.before(m.to, sides[receiving])
			if received > sent && !x.loose[m] {
				to(m.to, sides[receiving][sent])
			}
			continue
		}
		least := -1
		for _, rank := range m.comm.Members() {
			if rank < 0 {
				continue
			}
			if n := x.before(rank, sides[rank]); least < 0 || n < least {
				least = n
			}
		}
		for rank, list := range sides {
			if least >= 0 && len(list) > least {
				to(rank, list[least])
			}
		}
	}
	return some
}
