package profile

import (
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/trace"
)

// countedText says how many rounds of a loop the program counted, where that isn't known already.
func countedText(n *calltree.Node) string {
	if text := n.CountedRounds(); text != "" {
		return ", " + text + " counted"
	}
	return ""
}

func attachedOf(list []calltree.Value) (out []calltree.Attached) {
	for _, v := range list {
		out = append(out, calltree.Attached{Name: v.Name, LeafValue: trace.LeafValue{Count: float64(v.Count), Sum: float64(v.Sum)}})
	}
	return out
}
