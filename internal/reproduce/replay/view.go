package replay

import (
	"errors"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
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

// A RoleAndMessages is what a call is to other ranks.
type RoleAndMessages struct {
	Role     Role
	Messages []Message

	with     *handles.Comm // of one that Meets
	function string
	static   bool // independent of its handles
}

// A RankView says what the calls of a rank are to others. It is for one goroutine.
type RankView struct {
	k       *trace.Rank
	account *ops.CallInterpreter
	acts    []*RoleAndMessages // by terminal, of those that are always the same
	all     []bool             // by terminal: whether it is one of these, once looked up
}

func newView(s *ops.Source, k *trace.Rank) (*RankView, error) {
	account, err := s.Interpreter(k)
	return &RankView{k, account, make([]*RoleAndMessages, k.Terminals()), make([]bool, k.Terminals())}, err
}

// RoleOf returns what a call is to others.
func (v *RankView) RoleOf(c *trace.Call) (*RoleAndMessages, error) {
	if a := v.acts[c.Terminal]; a != nil && v.all[c.Terminal] {
		return a, nil
	}
	a, err := v.act(c)
	if err != nil {
		return nil, fmt.Errorf("rank %d: call %d, %s: %w", c.Rank, c.Index, c.Name(), err)
	}
	if v.acts[c.Terminal] == nil { // the first one
		v.acts[c.Terminal] = a
		v.all[c.Terminal] = a.static || v.k.Lane(c.Terminal) == nil && len(v.account.Handles().GroupOccurrences(c.Stream, c)) == 1
	}
	return a, nil
}

// Comm returns the communicator that a call's value means.
func (v *RankView) Comm(x *trace.Value, c *trace.Call) *handles.Comm {
	return v.account.Handles().Comm(x, c.Stream, c.Index)
}

func (v *RankView) act(c *trace.Call) (a *RoleAndMessages, err error) {
	def, ok := mpi.Lookup(c.Name())
	if !ok {
		return &RoleAndMessages{static: true}, nil
	}
	a = &RoleAndMessages{Role: roleOf(def), function: def.BaseForm().Name} // both forms may meet
	a.static = a.Role <= RoleDropped
	switch a.Role {
	case RoleSends, RoleStarts:
		a.Messages, err = v.messages(c)
	case RoleMeets:
		a.with, err = v.members(def, c)
		if err == nil && a.with.Size == 1 && a.with.RemoteSize == 0 && !def.Has(mpi.AttrFinalises) {
			a.Role = RoleOwn
		}
	}
	return a, err
}

// messages lists what a call sends, or starts to.
func (v *RankView) messages(c *trace.Call) (list []Message, err error) {
	acts, unknown := v.account.ActsOf(nil, c, c.Stream, c.Index)
	if err := v.account.Err(); err != nil {
		return nil, err
	}
	if unknown > 0 {
		return nil, errors.New("to whom it sends isn't known")
	}
	for i := range acts {
		a := &acts[i]
		if a.Kind != ops.ActSend && a.Kind != ops.ActSendBegin {
			continue
		}
		x := Message{To: a.World(), Comm: a.Comm, Source: a.Comm.RankOf(v.k.Number()), Tag: a.Tag, Bytes: int64(a.SentBytes)}
		if a.Comm.RemoteSize > 0 {
			x.Comm = a.Comm.Remote
		}
		if x.To < 0 || x.Source < 0 || x.Comm == nil {
			return nil, fmt.Errorf("it isn't known who is rank %d in its communicator", a.Peer)
		}
		if a.PerMember.Out.UnknownSizes {
			return nil, errors.New("the size of its datatype isn't known")
		}
		list = append(list, x)
	}
	return list, nil
}

// members returns the communicator whose members have to make a call. Of calls that only a part of a communicator makes,
// which therefore have a tag, or that are passed none, that is the one that they make.
func (v *RankView) members(def *mpi.Call, c *trace.Call) (of *handles.Comm, err error) {
	switch {
	case def.Has(mpi.AttrFinalises):
		of = v.Comm(&trace.Value{Type: trace.TypeHandle, Num: mpi.HandleCommWorld}, c)
	default:
		if of = v.account.CommOfAll(c, c.Stream, c.Index); of != nil {
			break
		}
		for i := range c.Params {
			if p := &c.Params[i]; p.Kind() == mpi.KindComm && p.Out.Type == trace.TypeHandle {
				of = v.Comm(&p.Out, c)
			}
		}
	}
	if of == nil || of.RemoteSize > 0 && of.Remote == nil {
		return nil, errors.New("who makes it together isn't known")
	}
	return of, nil
}
