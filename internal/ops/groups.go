package ops

import (
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// groupEmpty is MPI_GROUP_EMPTY.
const groupEmpty = 0x109

// group returns the ranks of the world that a group which a call passes has, in its order; -1 are ranks of
// which nobody knows which they are.
func (p *process) group(c *Call, name string) ([]int, bool) {
	v := input(c.Call, name)
	if v == nil {
		return nil, false
	}
	if v.Num == groupEmpty {
		return nil, true
	}
	list, ok := p.groups[v.Num]
	return list, ok
}

// makesGroup follows what groups are made of.
func makesGroup(p *process, _ *thread, _ *plan, c *Call) {
	name := "newgroup"
	base := Base(c.Func)
	if strings.HasSuffix(base, "_group") {
		name = "group"
	}
	out := c.Param(name)
	if out == nil || out.Out.Type != trace.Handle {
		return
	}
	list, ok := p.groupOf(base, c)
	if !ok {
		delete(p.groups, out.Out.Num) // what it was before
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
	case "Group_union", "Group_intersection", "Group_difference":
		a, known := p.group(c, "group1")
		b, too := p.group(c, "group2")
		if !known || !too || slices.Contains(a, -1) || slices.Contains(b, -1) { // nobody knows which are the same
			return nil, false
		}
		if base == "Group_union" {
			return slices.Concat(a, without(b, a)), true
		}
		rest := without(a, b)
		if base == "Group_intersection" {
			rest = without(a, rest)
		}
		return rest, true
	default:
		of, known := p.group(c, "group")
		if !known {
			return nil, false
		}
		places, valid := placesIn(c, len(of))
		if !valid {
			return nil, false
		}
		if strings.HasSuffix(base, "excl") {
			for i, r := range of {
				if !slices.Contains(places, i) {
					list = append(list, r)
				}
			}
			return list, true
		}
		for _, i := range places {
			list = append(list, of[i])
		}
		return list, true
	}
	if comm == nil {
		return nil, false
	}
	return comm.Members(), true
}

// placesIn are those of the ranks, or ranges of ranks, that a call names in a group of a size.
func placesIn(c *Call, size int) (list []int, ok bool) {
	if v := input(c.Call, "ranks"); v != nil {
		for i := range v.Elems {
			list = append(list, int(v.Elems[i].Num))
		}
	} else if v := input(c.Call, "ranges"); v != nil {
		for i := 0; i+2 < len(v.Elems); i += 3 {
			first, last, step := int(v.Elems[i].Num), int(v.Elems[i+1].Num), int(v.Elems[i+2].Num)
			if step == 0 || len(list) > size {
				return nil, false
			}
			for r := first; step > 0 && r <= last || step < 0 && r >= last; r += step {
				if r < 0 || r >= size {
					return nil, false
				}
				list = append(list, r)
			}
		}
	}
	for _, r := range list {
		if r < 0 || r >= size {
			return nil, false
		}
	}
	return list, true
}

// without is what a list has that another has not.
func without(list, other []int) (out []int) {
	for _, x := range list {
		if !slices.Contains(other, x) {
			out = append(out, x)
		}
	}
	return out
}

func freesGroup(p *process, _ *thread, _ *plan, c *Call) { delete(p.groups, number(c.Call, "group")) }

// opensToGroup is MPI_Win_post and MPI_Win_start: an epoch with a group of ranks begins.
func opensToGroup(p *process, _ *thread, _ *plan, c *Call) {
	w, op := p.window(c)
	if w == nil {
		return
	}
	list, ok := p.group(c, "group")
	kind, epoch := Start, &w.started
	if Base(c.Func) == "Win_post" {
		kind, epoch = Post, &w.posted
	}
	*epoch = nil
	if !p.s.o.Finer || !ok || slices.Contains(list, -1) {
		p.lose(lostGroup, 1)
		return
	}
	if op.Group = list; list == nil {
		op.Group = []int{}
	}
	*epoch = op.Group
	c.add(kind, &op)
}

// completesGroup is MPI_Win_complete.
func completesGroup(p *process, _ *thread, _ *plan, c *Call) {
	w, op := p.window(c)
	if w == nil {
		return
	}
	w.complete(c, AllMembers)
	if op.Group = w.started; op.Group != nil {
		c.add(Complete, &op)
	}
	w.started = nil
}

// waitsForGroup is MPI_Win_wait, and MPI_Win_test where it finds something.
func waitsForGroup(p *process, _ *thread, _ *plan, c *Call) {
	w, op := p.window(c)
	if flag := c.Param("flag"); w == nil || flag != nil && flag.Out.Num == 0 {
		return
	}
	if op.Group = w.posted; op.Group != nil {
		c.add(Posted, &op)
	} else {
		p.lose(lostGroup, 1)
	}
	w.posted = nil
}
