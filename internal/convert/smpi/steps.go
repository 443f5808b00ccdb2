package smpi

import (
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// steps are the messages of one member in a collective.
func steps(list []step, p meaning.Pattern, op *ops.Operation, g group, flat bool) []step {
	whole := max(op.Sent, op.Received)
	same := func(bytes uint64) func(int) uint64 { return func(int) uint64 { return bytes } }
	out, in := share(op.Shares.Out.By), share(op.Shares.In.By)
	base := ops.Base(op.Function)
	atRoot := op.Root == g.me
	n := uint64(g.size)
	switch {
	case p == meaning.None || base == "Allreduce":
		if p == meaning.None {
			whole = 1
		}
		if flat {
			return exchange(list, g, same(whole), same(whole))
		}
		return all(list, g, whole)
	case p == meaning.FromRoot && !flat:
		return downTree(list, g, op.Root, whole)
	case p == meaning.FromRoot:
		return star(list, g, op.Root, false, same(whole))
	case base == "Reduce" && !flat:
		return upTree(list, g, op.Root, whole)
	case p == meaning.ToRoot:
		part := same(whole) // of a reduction
		switch {
		case base == "Reduce":
		case !atRoot:
			part = same(op.Sent)
		case in != nil:
			part = in
		default:
			part = same(op.Received / n)
		}
		return star(list, g, op.Root, true, part)
	case p == meaning.PartFromRoot:
		part := same(op.Received)
		if atRoot && out != nil {
			part = out
		} else if atRoot {
			part = same(op.Sent / n)
		}
		return star(list, g, op.Root, false, part)
	case base == "Allgather" || base == "Allgatherv":
		if in == nil {
			in = same(op.Received / n)
		}
		if flat {
			return exchange(list, g, same(in(g.me)), in)
		}
		return ring(list, g, in)
	case p == meaning.ToNext:
		return chain(list, g, whole, flat)
	}
	if p == meaning.PartReduced {
		own := op.Received
		if out != nil {
			own = out(g.me)
		} else {
			out = same(own)
		}
		in = same(own)
	}
	if out == nil {
		out = same(op.Sent / n)
	}
	if in == nil {
		in = same(op.Received / n)
	}
	return exchange(list, g, out, in)
}

// share returns a member's part by its rank; nil if there is no list.
func share(list []uint64) func(int) uint64 {
	if list == nil {
		return nil
	}
	return func(i int) uint64 {
		if i < len(list) {
			return list[i]
		}
		return 0
	}
}

// all has each member hear of all others in about log₂ n rounds (dissemination).
func all(list []step, g group, bytes uint64) []step {
	for far := 1; far < g.size; far *= 2 {
		list = append(list, step{(g.me + far) % g.size, (g.me - far + g.size) % g.size, bytes, bytes})
	}
	return list
}

// exchange has each member send a part to each other.
func exchange(list []step, g group, out, in func(int) uint64) []step {
	for far := 1; far < g.size; far++ {
		to, from := (g.me+far)%g.size, (g.me-far+g.size)%g.size
		list = append(list, step{to, from, out(to), in(from)})
	}
	return list
}

// ring passes all members' parts on from each to the next.
func ring(list []step, g group, part func(int) uint64) []step {
	next, before := (g.me+1)%g.size, (g.me-1+g.size)%g.size
	for i := range g.size - 1 {
		list = append(list, step{next, before, part((g.me - i + g.size) % g.size), part((before - i + g.size) % g.size)})
	}
	return list
}

// star has the root send to each other member, or receive from each.
func star(list []step, g group, root int, up bool, part func(int) uint64) []step {
	if g.me != root {
		s := step{-1, root, 0, part(g.me)}
		if up {
			s = step{root, -1, part(g.me), 0}
		}
		return append(list, s)
	}
	for i := range g.size {
		switch {
		case i == root:
		case up:
			list = append(list, step{-1, i, 0, part(i)})
		default:
			list = append(list, step{i, -1, part(i), 0})
		}
	}
	return list
}

// downTree passes the root's data down a binomial tree.
func downTree(list []step, g group, root int, bytes uint64) []step {
	me := (g.me - root + g.size) % g.size
	far := 1
	for ; far < g.size; far *= 2 {
		if me&far != 0 {
			list = append(list, step{-1, (me - far + root) % g.size, 0, bytes})
			break
		}
	}
	for far /= 2; far > 0; far /= 2 {
		if me+far < g.size {
			list = append(list, step{(me + far + root) % g.size, -1, bytes, 0})
		}
	}
	return list
}

// upTree passes what members have up to the root.
func upTree(list []step, g group, root int, bytes uint64) []step {
	me := (g.me - root + g.size) % g.size
	for far := 1; far < g.size; far *= 2 {
		if me&far != 0 {
			return append(list, step{(me - far + root) % g.size, -1, bytes, 0})
		}
		if me+far < g.size {
			list = append(list, step{-1, (me + far + root) % g.size, 0, bytes})
		}
	}
	return list
}

// chain passes partial results from each member to the next; without waiting, from each to all behind it.
func chain(list []step, g group, bytes uint64, flat bool) []step {
	if flat {
		for i := range g.size {
			switch {
			case i < g.me:
				list = append(list, step{-1, i, 0, bytes})
			case i > g.me:
				list = append(list, step{i, -1, bytes, 0})
			}
		}
		return list
	}
	if g.me > 0 {
		list = append(list, step{-1, g.me - 1, 0, bytes})
	}
	if g.me+1 < g.size {
		list = append(list, step{g.me + 1, -1, bytes, 0})
	}
	return list
}
