package calltree

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/show"
)

// IterationCall finds the call that counts the iterations of a loop: the first that is made once in each. name is what the tree
// shows of the loop, its place or its function. A loop has none if all its calls are in inner loops or in branches.
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

// at reports whether a loop is at a place: a file and line, or the line of the innermost function with it.
func (n *Node) at(place string) bool {
	return n.Place == place || strings.HasPrefix(n.Place, place+" ") || strings.HasSuffix(n.Place, " "+place) || strings.Contains(n.Place, " "+place+" ")
}

// each is the first call in a body that is made so often, once in each round.
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
