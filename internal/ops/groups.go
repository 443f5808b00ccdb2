package ops

import (
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// group returns the world ranks of the group that a call passes, in its order; -1 for unknown ranks.
func (p *process) group(c *Call, name string) ([]int, bool) {
	v := input(c.Call, name)
	if v == nil {
		return nil, false
	}
	if v.Num == handles.GroupEmpty {
		return nil, true
	}
	list, ok := p.groups[v.Num]
	return list, ok
}

// makesGroup computes the ranks of a new group.
func makesGroup(p *process, _ *thread, _ *plan, c *Call) {
	name := "newgroup"
	base := BaseName(c.Func)
	if strings.HasSuffix(base, "_group") {
		name = "group"
	}
	out := c.Param(name)
	if out == nil || out.Out.Type != trace.TypeHandle {
		return
	}
	list, ok := p.groupOf(base, c)
	if !ok {
		delete(p.groups, out.Out.Num) // another group that had this handle before
		return
	}
	if p.groups == nil {
		p.groups = make(map[int64][]int)
	}
	p.groups[out.Out.Num] = list
}

func (p *process) groupOf(base string, c *Call) (list []int, ok bool) {
	var comm *handles.Comm
	switch base {
	case "Comm_group", "Comm_remote_group":
		if comm = p.comm(c); comm != nil && base == "Comm_remote_group" {
			comm = comm.Remote
		}
	case "Win_get_group":
		if w := p.windows[number(c.Call, "win")]; w != nil {
			comm = w.Comm
		}
	case "File_get_group":
		if f := p.files[number(c.Call, "fh")]; f != nil {
			comm = f.Comm
		}
	default:
		return handles.DeriveGroup(handles.InputArgumentsOf(c.Call), func(name string) ([]int, bool) { return p.group(c, name) })
	}
	if comm == nil {
		return nil, false
	}
	return comm.Members(), true
}

func freesGroup(p *process, _ *thread, _ *plan, c *Call) { delete(p.groups, number(c.Call, "group")) }

// opensToGroup handles MPI_Win_post and MPI_Win_start: an epoch with a group of ranks begins.
func opensToGroup(p *process, _ *thread, _ *plan, c *Call) {
	w, op := p.window(c)
	if w == nil {
		return
	}
	list, ok := p.group(c, "group")
	kind, epoch := ActWinStart, &w.started
	if BaseName(c.Func) == "Win_post" {
		kind, epoch = ActWinPost, &w.posted
	}
	*epoch = nil
	if !p.s.o.PassFineSync || !ok || slices.Contains(list, -1) {
		p.lose(lostGroup, 1)
		return
	}
	if op.GroupWorldRanks = list; list == nil {
		op.GroupWorldRanks = []int{}
	}
	*epoch = op.GroupWorldRanks
	c.add(kind, &op)
}

// completesGroup handles MPI_Win_complete.
func completesGroup(p *process, _ *thread, _ *plan, c *Call) {
	w, op := p.window(c)
	if w == nil {
		return
	}
	w.complete(c, AllMembers)
	if op.GroupWorldRanks = w.started; op.GroupWorldRanks != nil {
		c.add(ActWinComplete, &op)
	}
	w.started = nil
}

// waitsForGroup handles MPI_Win_wait, and MPI_Win_test if it returns true.
func waitsForGroup(p *process, _ *thread, _ *plan, c *Call) {
	w, op := p.window(c)
	if flag := c.Param("flag"); w == nil || flag != nil && flag.Out.Num == 0 {
		return
	}
	if op.GroupWorldRanks = w.posted; op.GroupWorldRanks != nil {
		c.add(ActWinWait, &op)
	} else {
		p.lose(lostGroup, 1)
	}
	w.posted = nil
}
