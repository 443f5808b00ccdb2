package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A value that differs in each call is a variable of the program: LANE(3, 0) is the
// first value of lane 3, and step(3), after the call, moves the lane to its next value.
// The order of the steps is a grammar, as in the trace.

// lanes numbers the lanes of a variant (ranks that run the same C functions of the proxy), and adds the C statements
// that create them to v.tables.
func (g *generator) lanes(v *variant) error {
	var b strings.Builder
	n := 0
	for t, c := range v.calls {
		c.own = -1
		of := make([]*trace.Lane, len(v.ranks))
		for i, k := range v.ranks {
			of[i] = k.Lane(v.terminal(i, t))
		}
		if of[0] == nil {
			continue
		}
		c.own, c.lane = n, make(map[int]string)
		first := make([]string, len(of[0].ValueIndices()))
		var steps []string
		for k, at := range of[0].ValueIndices() {
			c.lane[at] = fmt.Sprintf("LANE(%d, %d)", n, k)
			first[k] = v.fitter.expr(mpi.KindNone, c.column(at))
		}
		for s := range of[0].Steps() {
			for k := range first {
				col := make([]int64, len(of))
				for i := range of {
					col[i] = of[i].Steps()[s][k]
				}
				steps = append(steps, v.fitter.expr(mpi.KindNone, col))
			}
		}
		order, err := v.order(of)
		if err != nil {
			return err
		}
		if len(steps) == 0 { // lane of a single call
			steps = slices.Repeat([]string{"0"}, len(first))
		}
		fmt.Fprintf(&b, "    lane(%d, %d, (int64_t[]){%s}, (int64_t[]){%s}, %d, (struct turn[]){%s});\n", n, len(first),
			wrap(first, "        "), wrap(steps, "        "), len(order), wrap(order, "        "))
		n++
	}
	v.tables = append(v.tables, b.String())
	return nil
}

// order lists the rules of a lane's grammar, which members share except for counts. A rule is {step, count} or
// {-rule, count} pairs, then {0, 0}.
func (v *variant) order(of []*trace.Lane) ([]string, error) {
	var list []string
	number := map[int]int{0: 0}
	rules := make([][]trace.Node, 1, 4)
	for _, l := range of {
		rules[0] = append(rules[0], l.Structure())
	}
	for n := 0; n < len(rules); n++ {
		children, err := v.children(rules[n])
		if err != nil {
			return nil, fmt.Errorf("lanes: %w", err)
		}
		for k, c := range children[0] {
			all := nth(children, k)
			counts := make([]int64, len(of))
			for i := range of {
				counts[i] = int64(all[i].Count)
			}
			id := c.Terminal
			if c.Rule >= 0 {
				r, fresh := once.NumberOf(number, c.Rule)
				if fresh {
					rules = append(rules, all)
				}
				id = -r
			}
			list = append(list, fmt.Sprintf("{%d, %s}", id, v.fitter.expr(mpi.KindNone, counts)))
		}
		list = append(list, "{0, 0}")
	}
	return list, nil
}
