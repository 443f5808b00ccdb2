package extrapolate

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/stats"
)

// divide moves iterations from an inner loop l to the loop around it, on ranks on which the outer loop shows only one
// iteration and no other calls. If the inner iterations repeat there, several executions of l were seen as one.
func (m *pattern) divide(l *node) bool {
	outer := l.around[len(l.around)-1]
	if outer == m.shape.root || outer.mask != 0 || outer.cycle.every != 0 {
		return false
	}
	alone := make(map[seenBy]bool) // ranks on which the outer loop shows one iteration
	times := int32(0)
	for _, r := range m.rows[outer.number] {
		switch {
		case r.what == 1:
			alone[seenBy{r.run, r.rank}] = true
		case r.what > 1 && (times == 0 || times == r.what):
			times = r.what
		case r.what > 1:
			return false
		}
	}
	for _, c := range outer.children {
		for _, r := range m.rows[c.number] {
			reached := c.place >= 0 && r.what >= 0 || c.place < 0 && r.what > 0
			if c != l && reached {
				delete(alone, seenBy{r.run, r.rank})
			}
		}
	}
	long := make(map[seenBy]int64)
	common := int64(0)
	for _, r := range m.rows[l.number] {
		if k := (seenBy{r.run, r.rank}); alone[k] {
			long[k] = int64(r.what)
			common = stats.GCD(common, int64(r.what))
		}
	}
	if common < 2 || times > 1 && common%int64(times) != 0 {
		return false
	}
	depth := len(l.around)
	below := m.shape.below(l)
	// by index in below, then by rank: what was observed in each iteration of l
	of := make([]map[seenBy][]int32, len(below))
	for i, n := range below {
		if n.mask>>depth&1 == 0 || n.mask != 1<<depth {
			continue
		}
		of[i] = make(map[seenBy][]int32)
		for _, r := range m.rows[n.number] {
			if k := (seenBy{r.run, r.rank}); long[k] > 0 {
				of[i][k] = append(of[i][k], r.what)
			}
		}
	}
	if times < 2 {
		for t := common; t > 1 && times < 2; t-- {
			if common%t == 0 && m.repeats(below, of, t) {
				times = int32(t)
			}
		}
	}
	if times < 2 || !m.repeats(below, of, int64(times)) {
		return false
	}
	is := func(r *seen) bool { return long[seenBy{r.run, r.rank}] > 0 }
	for _, n := range below {
		if n.mask>>depth&1 == 0 {
			continue
		}
		rows := slices.Clone(m.rows[n.number])
		for i := range rows {
			if r := &rows[i]; is(r) {
				each := int32(long[seenBy{r.run, r.rank}] / int64(times))
				r.index[depth-1], r.index[depth] = r.index[depth]/each, r.index[depth]%each
			}
		}
		m.rows[n.number] = rows
		n.mask |= 1 << (depth - 1)
	}
	for i := range m.rows[l.number] {
		if r := &m.rows[l.number][i]; is(r) {
			r.what /= times
		}
	}
	for i := range m.rows[outer.number] {
		if r := &m.rows[outer.number][i]; is(r) {
			r.what = times
		}
	}
	for _, c := range outer.children { // the outer loop's other children are not reached in its new iterations either
		if c == l || c.mask>>(depth-1)&1 == 0 {
			continue
		}
		for _, r := range m.rows[c.number] {
			for r.index[depth-1] = 1; is(&r) && r.index[depth-1] < times; r.index[depth-1]++ {
				m.rows[c.number] = append(m.rows[c.number], r)
			}
		}
	}
	for _, n := range append(below, l, outer) {
		m.count(n)
	}
	return true
}

// repeats reports whether the inner loop's iterations are repeated, times times in all. Each value must equal the one a
// repetition earlier, or be the same throughout its repetition. Some value must differ within a repetition.
func (m *pattern) repeats(below []*node, of []map[seenBy][]int32, times int64) bool {
	depends := false
	for i, n := range below {
		if n.place < 0 && of[i] != nil {
			return false
		}
		for _, list := range of[i] {
			each := len(list) / int(times)
			if each*int(times) != len(list) {
				return false
			}
			for k, what := range list {
				before, first := int32(0), list[k/each*each]
				if k >= each {
					before = list[k-each]
				} else {
					before = what
				}
				if (what < 0) != (before < 0) {
					return false
				}
				if what < 0 || first < 0 {
					continue
				}
				a, b, c := m.values[what], m.values[before], m.values[first]
				if len(a) != len(b) {
					return false
				}
				for j := range a {
					if a[j] != b[j] && (len(a) != len(c) || a[j] != c[j]) {
						return false
					}
					depends = depends || len(a) == len(c) && a[j] != c[j]
				}
			}
		}
	}
	return depends
}
