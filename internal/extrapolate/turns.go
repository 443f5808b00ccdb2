package extrapolate

import (
	"fmt"
	"strings"
)

// turns are what takes turns over the iterations of a loop that is equally long everywhere, as roots do that are i % ranks: one form for
// all iterations, in which t is the iteration. One iteration says too little.
type turns struct {
	there *tried         // whether the call is reached; nil: that takes no turns
	cells map[int]*tried // of its values
}

// fewestTurns is from how many iterations on turns are looked for.
const fewestTurns = 4

// innermost is the innermost loop of a mask.
func innermost(mask uint) (depth int) {
	for d := 1; d <= maxDepth; d++ {
		if mask>>d&1 != 0 {
			depth = d
		}
	}
	return depth
}

// turns finds them for a node of which this was seen.
func (m *pattern) turns(n *node, depth int) (*turns, error) {
	var all, calls []env
	var there []int64
	var cuts [][]cut
	seen := make(map[int32]bool)
	cycle := n.around[depth].cycle
	for i := range m.rows[n.number] {
		r := &m.rows[n.number][i]
		seen[r.index[depth]] = true
		at := []int32{r.index[depth]}
		if cycle.every > 0 && at[0] >= cycle.first { // it stands for others
			at = append(at, at[0]+cycle.every)
		}
		for _, i := range at {
			e := env{ranks: int64(m.runs[r.run].ranks), rank: int64(r.rank), i: int64(i)}
			all, there = append(all, e), append(there, 0)
			if r.what < 0 {
				continue
			}
			there[len(there)-1] = 1
			c, err := m.places[n.place].cut(m.values[r.what])
			if err != nil {
				return nil, err
			}
			calls, cuts = append(calls, e), append(cuts, c)
		}
	}
	out := &turns{cells: make(map[int]*tried)}
	if len(seen) < fewestTurns || len(cuts) == 0 {
		return out, nil
	}
	out.there = m.inTurn(all, there, owners)
	for c := range cuts[0] {
		vals := make([]int64, 0, len(cuts))
		for _, x := range cuts {
			if c < len(x) && !x[c].many {
				vals = append(vals, x[c].one)
			}
		}
		if len(vals) == len(cuts) {
			if t := m.inTurn(calls, vals, remainders); t != nil {
				out.cells[c] = t
			}
		}
	}
	return out, nil
}

// inTurn fits values of all iterations; nil if no form does, or several do.
func (m *pattern) inTurn(obs []env, vals []int64, forms func() []form) *tried {
	if alike(vals) {
		return nil
	}
	t := &tried{obs: obs, vals: vals}
	m.judge(t, func(obs []env, vals []int64) (out []form) {
		for _, f := range forms() {
			if holds(&f, obs, vals) {
				out = append(out, f)
			}
		}
		return out
	})
	if len(t.forms) != 1 || t.wrong != "" {
		return nil
	}
	return t
}

// remainders are the iteration, or the next, by numbers of ranks; of two grids that have the same sides in another order by those of one.
func remainders() (out []form) {
	for _, f := range everyRemainder() {
		if f.grid < 0 || !strings.HasSuffix(gridNames[f.grid], "_FIRST") && !strings.HasSuffix(gridNames[f.grid], "_REVERSED") {
			out = append(out, f)
		}
	}
	return out
}

// everyRemainder has those of all grids: a rank's place depends on the order of sides.
func everyRemainder() (out []form) {
	for i := range terms {
		u := &terms[i]
		if u.name != "ranks" && !strings.HasPrefix(u.name, "side(") {
			continue
		}
		for more := range int64(2) {
			out = append(out, form{name: inner(scaled(1, "t", more)) + " % " + u.name, grid: u.grid, at: func(e *env) (int64, bool) {
				n, _ := u.at(e)
				return (e.i + more) % max(n, 1), n > 0
			}})
		}
	}
	return out
}

// owners tell whether it is the rank's turn, by its number or its place in a grid, and whether it is not.
func owners() (out []form) {
	for _, r := range everyRemainder() {
		mine := "rank"
		if side, ok := strings.CutPrefix(r.name[strings.Index(r.name, " % ")+3:], "side"); ok {
			mine = "coordinate" + side
		}
		for i := range terms {
			if u := &terms[i]; u.name == mine {
				f := form{name: fmt.Sprintf("%s == %s", mine, r.name), grid: r.grid, at: func(e *env) (int64, bool) {
					a, ok1 := u.at(e)
					b, ok2 := r.at(e)
					if a == b {
						return 1, ok1 && ok2
					}
					return 0, ok1 && ok2
				}}
				out = append(out, f, not(&f))
			}
		}
	}
	return out
}
