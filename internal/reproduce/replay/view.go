package replay

import (
	"errors"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A Message is a message that a call sends, from the receiver's point of view.
type Message struct {
	ToWorldRank  int           // world rank of the receiver
	Comm         *handles.Comm // as the receiver has it: for an intercommunicator, its side
	SourceInComm int           // rank of the sender in Comm
	Tag          int64
	Bytes        int64
}

// A RoleAndMessages is a call's role, and the messages that it sends.
type RoleAndMessages struct {
	Role     Role
	Messages []Message

	with     *handles.Comm // for RoleMeets: communicator whose members make the call together
	function string
	static   bool // true: all calls of the terminal have this role and these messages, whatever handles mean
}

// RankCallRoles determines the roles of a rank's calls. It is not safe for concurrent use.
type RankCallRoles struct {
	k       *trace.Rank
	account *ops.CallInterpreter
	acts    []*RoleAndMessages // by terminal: role and messages of its first call
	all     []bool             // by terminal: entry of acts holds for all calls; set together with acts
}

func newView(s *ops.Source, k *trace.Rank) (*RankCallRoles, error) {
	account, err := s.Interpreter(k)
	return &RankCallRoles{k, account, make([]*RoleAndMessages, k.Terminals()), make([]bool, k.Terminals())}, err
}

// RoleOf returns the role and messages of a call.
func (v *RankCallRoles) RoleOf(c *trace.Call) (*RoleAndMessages, error) {
	if a := v.acts[c.Terminal]; a != nil && v.all[c.Terminal] {
		return a, nil
	}
	a, err := v.act(c)
	if err != nil {
		return nil, fmt.Errorf("rank %d: call %d, %s: %w", c.Rank, c.Index, c.Name(), err)
	}
	if v.acts[c.Terminal] == nil { // it is the first call of the terminal
		v.acts[c.Terminal] = a
		v.all[c.Terminal] = a.static || v.k.Lane(c.Terminal) == nil && len(v.account.Handles().GroupOccurrences(c.Stream, c)) == 1
	}
	return a, nil
}

// Comm returns the communicator that a call's value means.
func (v *RankCallRoles) Comm(x *trace.Value, c *trace.Call) *handles.Comm {
	return v.account.Handles().Comm(x, c.Stream, c.Index)
}

func (v *RankCallRoles) act(c *trace.Call) (a *RoleAndMessages, err error) {
	def, ok := mpi.CallNamed(c.Name())
	if !ok {
		return &RoleAndMessages{static: true}, nil
	}
	// A call and its large-count form can be parts of one collective call.
	a = &RoleAndMessages{Role: roleOf(def), function: def.BaseForm().Name}
	a.static = a.Role <= RoleDropped
	switch a.Role {
	case RoleSends, RoleStartsPersistent:
		a.Messages, err = v.messages(c)
	case RoleMeets:
		a.with, err = v.members(def, c)
		if err == nil && a.with.Size == 1 && a.with.RemoteSize == 0 && !def.Has(mpi.AttrFinalises) {
			a.Role = RoleOwn
		}
	}
	return a, err
}

// messages lists the messages that a call sends, or starts to send.
func (v *RankCallRoles) messages(c *trace.Call) (list []Message, err error) {
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
		x := Message{ToWorldRank: a.PeerWorldRank(), Comm: a.Comm, SourceInComm: a.Comm.RankOf(v.k.Number()), Tag: a.Tag, Bytes: int64(a.SentBytes)}
		if a.Comm.RemoteSize > 0 {
			x.Comm = a.Comm.Remote
		}
		if x.ToWorldRank < 0 || x.SourceInComm < 0 || x.Comm == nil {
			return nil, fmt.Errorf("it isn't known who is rank %d in its communicator", a.PeerInComm)
		}
		if a.PerMember.Out.HasUnknownSizes {
			return nil, errors.New("the size of its datatype isn't known")
		}
		list = append(list, x)
	}
	return list, nil
}

// members returns the communicator whose members must all make a call. For calls with a tag, which only a part of a
// communicator makes, and for calls without a communicator, it is the communicator that they make.
func (v *RankCallRoles) members(def *mpi.Call, c *trace.Call) (of *handles.Comm, err error) {
	switch {
	case def.Has(mpi.AttrFinalises):
		of = v.Comm(&trace.Value{Type: trace.TypeHandle, Num: mpi.HandleCommWorld}, c)
	default:
		if of = v.account.CollectiveComm(c, c.Stream, c.Index); of != nil {
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
