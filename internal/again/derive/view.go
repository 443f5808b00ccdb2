package derive

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A Message is what a call sends, as the rank that gets it sees it.
type Message struct {
	To     int           // world rank
	Comm   *handles.Comm // of the receiver
	Source int           // in that
	Tag    int64
	Bytes  int64
}

// An Act is what a call is to other ranks.
type Act struct {
	Role     Role
	Messages []Message

	with     *handles.Comm // of one that Meets
	function string
	static   bool // whatever its handles stand for
}

// A View says what the calls of a rank are to others. It is for one goroutine.
type View struct {
	k    *trace.Rank
	x    *handles.Rank
	acts []*Act // by terminal, of those that are always the same
	all  []bool // by terminal: whether it is one of these, once looked up
}

func newView(r *trace.Reader, k *trace.Rank) (*View, error) {
	x, err := handles.Of(r).Rank(k)
	if err != nil {
		return nil, err
	}
	return &View{k, x, make([]*Act, k.Terminals()), make([]bool, k.Terminals())}, nil
}

// Of returns what a call is to others.
func (v *View) Of(c *trace.Call) (*Act, error) {
	if a := v.acts[c.Terminal]; a != nil && v.all[c.Terminal] {
		return a, nil
	}
	a, err := v.act(c)
	if err != nil {
		return nil, fmt.Errorf("rank %d: call %d, %s: %w", c.Rank, c.Index, c.Name(), err)
	}
	if v.acts[c.Terminal] == nil { // the first one
		v.acts[c.Terminal] = a
		v.all[c.Terminal] = a.static || v.k.Lane(c.Terminal) == nil && len(v.x.Pieces(c.Stream, c)) == 1
	}
	return a, nil
}

// Comm returns the communicator that a value stands for in a call.
func (v *View) Comm(x *trace.Value, c *trace.Call) *handles.Comm {
	return v.x.Comm(x, c.Stream, c.Index)
}

func (v *View) act(c *trace.Call) (a *Act, err error) {
	def, ok := mpi.Lookup(c.Name())
	if !ok {
		return &Act{static: true}, nil
	}
	a = &Act{Role: roleOf(def), function: def.Name}
	a.static = a.Role <= Dropped
	if def.Small != nil {
		a.function = def.Small.Name // the two may meet
	}
	switch a.Role {
	case Sends:
		a.Messages, err = v.message(nil, c, c.Stream, c.Index)
	case Starts:
		a.Messages, err = v.started(c)
	case Meets:
		a.with, err = v.members(def, c)
		if err == nil && a.with.Size == 1 && a.with.RemoteSize == 0 && !def.Has(mpi.Ends) {
			a.Role = Own
		}
	}
	return a, err
}

// message adds the message that a call sends, or makes a request for, that stands somewhere.
func (v *View) message(list []Message, c *trace.Call, stream int, index uint64) ([]Message, error) {
	m := meaning.Of(c.Name())
	comm, peer, count := c.Param("comm"), c.Param(m.Out.Peer), c.Param(m.Out.Count)
	if comm == nil || peer == nil || count == nil {
		return nil, errors.New("to whom it sends how much isn't in the trace")
	}
	if peer.In.Num == mpi.ProcNull {
		return list, nil
	}
	at := v.x.Comm(&comm.In, stream, index)
	if at == nil {
		return nil, errors.New("its communicator isn't known")
	}
	x := Message{To: at.Peer(int(peer.In.Num)), Comm: at, Source: -1, Bytes: count.In.Num}
	for i, rank := range at.Members() {
		if rank == v.k.Number() {
			x.Source = i
		}
	}
	if at.RemoteSize > 0 {
		x.Comm = at.Remote
	}
	if x.To < 0 || x.Source < 0 || x.Comm == nil {
		return nil, fmt.Errorf("it isn't known who is rank %d in its communicator", peer.In.Num)
	}
	for _, name := range []string{"sendtag", "tag"} {
		if p := c.Param(name); p != nil {
			x.Tag = p.In.Num
			break
		}
	}
	if p := c.Param(m.Out.Type); p != nil {
		size, ok := v.x.TypeSize(p.In.Num, stream, index)
		if !ok {
			return nil, errors.New("the size of its datatype isn't known")
		}
		x.Bytes *= size
	}
	return append(list, x), nil
}

// started lists the messages that start with persistent requests.
func (v *View) started(c *trace.Call) (list []Message, err error) {
	for _, x := range Requests(c) {
		if x.Form != trace.RequestPersistent {
			continue
		}
		made, ok := v.x.Request(x.ID, c.Stream, c.Index)
		if !ok {
			return nil, fmt.Errorf("persistent request %d isn't known", x.ID)
		}
		if m := meaning.Of(made.Call.Name()); m == nil || m.Out == nil {
			continue
		}
		if list, err = v.message(list, made.Call, made.Stream, made.Index); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Requests lists the requests that a call is given.
func Requests(c *trace.Call) []trace.Value {
	for i := range c.Params {
		if p := &c.Params[i]; p.Def.Type == trace.Request {
			if p.In.Type == trace.Array {
				return p.In.Elems
			}
			return []trace.Value{p.In}
		}
	}
	return nil
}

// members returns the communicator whose members have to make a call. Of calls that only a part of a communicator makes,
// which therefore have a tag, or that are passed none, that is the one that they make.
func (v *View) members(def *mpi.Call, c *trace.Call) (of *handles.Comm, err error) {
	passed := func(kind string) bool {
		return slices.ContainsFunc(c.Params, func(p trace.Param) bool { return p.Kind() == kind && p.In.Type == trace.Handle })
	}
	switch {
	case def.Has(mpi.Ends):
		of = v.Comm(&trace.Value{Type: trace.Handle, Num: mpi.CommWorld}, c)
	case def.Index("tag") < 0 && (passed("comm") || passed("file")):
		of = v.x.CommOf(c, c.Stream, c.Index)
	default:
		for i := range c.Params {
			if p := &c.Params[i]; p.Kind() == "comm" && p.Out.Type == trace.Handle {
				of = v.Comm(&p.Out, c)
			}
		}
	}
	if of == nil || of.RemoteSize > 0 && of.Remote == nil {
		return nil, errors.New("who makes it together isn't known")
	}
	return of, nil
}
