package proxy

import "github.com/spoor-hpc/spoor/trace"

// A trace doesn't say when a thread began. The program's begin when everything
// is there that they use and the first thread made, and are waited for before
// any of that goes.

// threads finds out where a variant's threads begin and end.
func (g *generator) threads(v *variant) {
	v.begin = -1
	streams := v.ranks[0].Streams()
	if streams < 2 {
		return
	}
	main, others := v.ranks[0].Counts(0), make([]uint64, len(v.calls))
	for s := 1; s < streams; s++ {
		for t, n := range v.ranks[0].Counts(s) {
			others[t] += n
		}
	}
	type handle struct {
		kind string
		num  int64
	}
	used := make(map[handle]bool)
	each := func(c *call, nodes []node, f func(h handle, p *trace.ParamDef)) {
		for i := range nodes {
			list := []node{nodes[i]}
			if nodes[i].typ == trace.Array {
				list = nodes[i].elems
			}
			for _, n := range list {
				if n.typ != trace.Handle && n.typ != trace.Object {
					continue
				}
				if num := c.vals[0][n.at]; num >= trace.FirstLocal {
					f(handle{c.f.Params[i].Kind, num}, &c.f.Params[i])
				}
			}
		}
	}
	for t, c := range v.calls {
		if others[t] > 0 {
			each(c, c.in, func(h handle, _ *trace.ParamDef) { used[h] = true })
		}
	}
	for t, c := range v.calls {
		if others[t] > 0 {
			each(c, c.out, func(h handle, _ *trace.ParamDef) { delete(used, h) }) // they make it themselves
		}
	}
	for t, c := range v.calls {
		switch {
		case main[t] == 0:
			continue
		case v.begin < 0 && (c.f.Name == "MPI_Init" || c.f.Name == "MPI_Init_thread"):
			v.begin = t
		}
		each(c, c.out, func(h handle, _ *trace.ParamDef) {
			if used[h] && others[t] == 0 {
				v.begin = t
			}
		})
	}
	v.end = make(map[int]bool)
	for t, c := range v.calls {
		if main[t] == 0 {
			continue
		}
		if c.f.Name == "MPI_Finalize" {
			v.end[t] = true
		}
		each(c, c.in, func(h handle, p *trace.ParamDef) {
			if p.Dir == trace.DirFree && used[h] {
				v.end[t] = true
			}
		})
	}
}
