package sections

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// maxBases is the largest number of classes that are tried as a base: a class whose times others refer to.
const maxBases = 4

// A timeWriter writes the times of all classes.
type timeWriter struct {
	list  []*ClassPools // by class; nil if the class has no times
	codes []*TimeCodes
	base  []int // by class: its base class; -1: none
	ranks int   // number of ranks in the run
}

// AppendTimes returns the encoded times of each class. index returns, by rank, the index that the rank has in a class.
func AppendTimes(list []*ClassPools, codes []*TimeCodes, ranks int, index func(class int) map[int32]uint64) [][]byte {
	w := &timeWriter{list, codes, make([]int, len(list)), ranks}
	for _, n := range w.choose() {
		w.unite(n, index)
	}
	blobs := make([][]byte, len(list))
	for i, p := range list {
		if p == nil {
			continue
		}
		t := TimeCoder{Ranks: ranks, IsBaseForOthers: codes[i].common[0] != nil}
		switch n := w.base[i]; {
		case n >= 0:
			t.Buf, t.BaseClass = wire.AppendUvarint(nil, uint64(2+n)), codes[n]
		case t.IsBaseForOthers:
			t.Buf = append(t.Buf, 1)
		default:
			t.Buf = append(t.Buf, 0)
		}
		t.code(p, codes[i], func(string, int) {})
		blobs[i] = t.Buf
	}
	return blobs
}

// choose selects the base of each class, processing those with many call sites and ranks first. It returns the
// classes that are a base.
func (w *timeWriter) choose() (used []int) {
	var order, bases []int
	for i, p := range w.list {
		if w.base[i] = -1; p != nil {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(w.list[b].ExtremesRowCount, w.list[a].ExtremesRowCount), cmp.Compare(w.list[b].Ranks, w.list[a].Ranks))
	})
	for _, i := range order {
		p, c := w.list[i], w.codes[i]
		least := p.cost(c, nil)
		for _, n := range bases {
			if cost := p.cost(c, w.codes[n]); cost < least {
				w.base[i], least = n, cost
			}
		}
		if n := w.base[i]; n >= 0 {
			if !slices.Contains(used, n) {
				used = append(used, n)
			}
		} else if len(bases) < maxBases {
			c.IndexAsBase(p)
			bases = append(bases, i)
		}
	}
	return used
}

// unite replaces the extremes of a base, and of all classes that refer to it, by the extremes over all of these
// classes.
func (w *timeWriter) unite(base int, index func(class int) map[int32]uint64) {
	p, c := w.list[base], w.codes[base]
	members := []int{base}
	for i, n := range w.base {
		if n == base {
			members = append(members, i)
		}
	}
	var together [2][]SiteExtremes
	for k := range together {
		together[k] = slices.Clone(p.exact[k])
		for _, m := range members[1:] {
			w.common(m, c, k, func(i, at int) { together[k][at].Merge(&w.list[m].exact[k][i]) })
		}
		for i := range together[k] {
			c.extremes[k][i] = p.extremeCode(&c.rows[k][i], &together[k][i], true, nil)
		}
		for _, m := range members {
			q := w.list[m]
			if q.Ranks > 1 {
				continue
			}
			sums := q.sums(w.codes[m].PoolCodes[k])
			w.common(m, c, k, func(i, at int) {
				if q.exact[k][i].Max == together[k][at].Max {
					c.extremes[k][at].atMost(sums[i], p, &c.rows[k][at])
				}
			})
		}
	}
	c.readCommon(p)
	for _, m := range members {
		q, d := w.list[m], w.codes[m]
		if q.Ranks < 2 {
			continue
		}
		index := index(m)
		for k := range d.spreads {
			sums := q.sums(d.PoolCodes[k])
			for i := range d.spreads[k] {
				d.spreads[k][i] = q.spreadApart(&q.spreads[k][i], index)
			}
			w.common(m, c, k, func(i, at int) {
				if q.exact[k][i].Max == together[k][at].Max {
					d.spreads[k][i].atLeast(c.common[k][at].Max, q, sums[i])
				}
			})
		}
	}
}

// common calls do for each row (see callRow) that a class has in common with its base. i is the row's index in the
// class, at its index in the base.
func (w *timeWriter) common(class int, base *TimeCodes, k int, do func(i, at int)) {
	p := w.list[class]
	for i := range p.exact[k] {
		if at, ok := base.commonRow(p, k, i); ok && p.exact[k][i].Count > 0 {
			do(i, at)
		}
	}
}

func ownNumber(i int) int32 { return int32(i) }

// IndexAsBase notes by which keys other classes find the pools, rows and sites of this one, so that it can be a base.
func (c *TimeCodes) IndexAsBase(p *ClassPools) {
	c.byKey, c.byRow, c.bySite = make(map[PoolKey]int, len(p.keys)), make(map[any]int, p.ExtremesRowCount), make(map[any]int, len(p.sites))
	for i, k := range slices.Backward(p.keys) {
		c.byKey[k] = i
	}
	for i := range slices.Backward(c.extremes[0]) {
		c.byRow[p.rowKey(i)] = i
	}
	for i, g := range p.sites {
		c.bySite[g] = i
	}
	for k := range c.means {
		c.means[k] = p.means(c.PoolCodes[k])
	}
}

// Decode reads the times of a class into p. It also returns them as encoded, for classes that refer to them.
func (p *ClassPools) Decode(t *TimeCoder, ranks []int, took func(what string, n int)) *TimeCodes {
	c := newTimeCodes(p)
	t.code(p, c, took)
	if t.Reader.Err() != nil {
		return c
	}
	member := func(i int) int32 {
		if i >= len(ranks) {
			return 0
		}
		return int32(ranks[i])
	}
	if t.IsBaseForOthers {
		c.readCommon(p)
	}
	for k := range c.PoolCodes {
		p.Stats[k] = p.decodeStats(c, k, t.BaseClass, member)
		p.HasCrossClassExtremes[k] = make([]bool, len(p.OnlyPoolOfGroup))
		for i := range p.OnlyPoolOfGroup {
			_, common := t.BaseClass.commonRow(p, k, i)
			p.HasCrossClassExtremes[k][i] = common || t.IsBaseForOthers
		}
		sums := p.sums(c.PoolCodes[k])
		for i := range c.spreads[k] {
			p.spreads[k] = append(p.spreads[k], c.spreads[k][i].spreadOf(p, i, sums[i], p.Stats[k], member))
		}
	}
	return c
}
