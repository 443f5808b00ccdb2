package calltree

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/show"
)

// IterationCall returns the call that counts the iterations of a loop: the first one that is made once in each.
// name is the loop's place or function as the tree shows it. It returns an error if all calls of the loop are in
// inner loops or in branches.
func (t *Tree) IterationCall(name string) (call *Node, err error) {
	var found []string
	var look func(list []*Node, within bool)
	look = func(list []*Node, within bool) {
		for _, n := range list {
			in := within || n.Kind == "function" && n.Function == name
			if n.Kind != "loop" || !within && !n.at(name) {
				look(n.Body, in)
				continue
			}
			c := n.each(n.Rounds)
			if c == nil {
				look(n.Body, within)
				continue
			}
			if found = append(found, n.Place); call == nil {
				call = c
			}
		}
	}
	for i := range t.Threads {
		if look(t.Threads[i].Body, false); call != nil {
			break
		}
	}
	if len(found) > 1 {
		return nil, fmt.Errorf("%s in %s: at %s", show.FormatPlural(len(found), "loop"), name, strings.Join(found, ", "))
	}
	return call, nil
}

// at reports whether a loop has this place: its file and line, or the line in the innermost function.
func (n *Node) at(place string) bool {
	return n.Place == place || strings.HasPrefix(n.Place, place+" ") || strings.HasSuffix(n.Place, " "+place) || strings.Contains(n.Place, " "+place+" ")
}

// each returns the first call in the body of a loop with this number of iterations that is made once in each of them.
func (n *Node) each(rounds uint64) *Node {
	for _, c := range n.Body {
		if c.Kind == "call" && c.Sums.Calls == rounds && c.MostRounds == 1 {
			return c
		}
		if c.Kind == "function" && c.Entries == rounds {
			if x := c.each(rounds); x != nil {
				return x
			}
		}
	}
	return nil
}
