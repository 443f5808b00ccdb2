package calltree

import (
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// Loops lists the loops of several ranks of a trace. Loops of different ranks are the same if they have the same
// place or, without places, the same first call.
type Loops struct {
	List []show.Loop // outer loops before inner ones

	r     *trace.Reader
	o     Options
	known map[loopKey]int
	// of is, by class and stream, the result of LoopsAround, cached if all ranks of the class have equal trip counts.
	of map[[2]int][][]int
}

// A loopKey identifies loops: by their place in the code, else by the first call in them.
type loopKey struct {
	around          int
	function, place string
	offset          uint64
	first           string
}

// NewLoops returns a list without loops; LoopsAround adds them.
func NewLoops(r *trace.Reader, o Options) *Loops {
	o.StructureOnly = true
	return &Loops{r: r, o: o, known: make(map[loopKey]int), of: make(map[[2]int][][]int)}
}

// LoopsAround returns the loops around each distinct call of a rank's thread, by terminal: indices in the list, outermost
// first. For a call in several places it returns their common loops.
func (l *Loops) LoopsAround(rank, stream int) ([][]int, error) {
	key := [2]int{l.r.ClassOf(rank), stream}
	if list := l.of[key]; list != nil {
		return list, nil
	}
	t, err := Build(l.r, rank, l.o)
	if err != nil {
		return nil, err
	}
	for i := range t.Threads {
		w := around{l: l, t: t, list: make([][]int, t.terminals), seen: make([]bool, t.terminals), parts: make(map[int]*Node)}
		w.body(t.Threads[i].Body, "", nil)
		key[1] = t.Threads[i].Number
		l.of[key] = w.list
	}
	key[1] = stream
	list := l.of[key]
	if t.TripCountsVary { // other ranks may have other trip counts
		for i := range t.Threads {
			delete(l.of, [2]int{key[0], t.Threads[i].Number})
		}
	}
	return list, nil
}

// Loop returns a loop by its index in the list.
func (l *Loops) Loop(n int) show.Loop { return l.List[n] }

// An around finds the loops around each terminal, on its way through the tree of a thread.
type around struct {
	l     *Loops
	t     *Tree
	list  [][]int
	seen  []bool
	parts map[int]*Node
}

func (w *around) body(nodes []*Node, function string, chain []int) {
	for _, n := range nodes {
		w.node(n, function, chain)
	}
}

func (w *around) node(n *Node, function string, chain []int) {
	switch n.Kind {
	case "function":
		function = n.Function
	case "loop":
		chain = append(chain[:len(chain):len(chain)], w.loop(n, function, chain))
	case "part":
		if n.Body != nil {
			w.parts[n.PartNumber] = n
		} else if first := w.parts[n.PartNumber]; first != nil {
			n = first
		}
	}
	for _, t := range n.Terminals {
		if !w.seen[t] {
			w.seen[t], w.list[t] = true, chain
			continue
		}
		i := 0
		for i < min(len(w.list[t]), len(chain)) && w.list[t][i] == chain[i] {
			i++
		}
		w.list[t] = w.list[t][:i:i]
	}
	w.body(n.Body, function, chain)
}

// loop returns the index of a loop, given the indices of the loops around it.
func (w *around) loop(n *Node, function string, chain []int) int {
	x := show.Loop{Function: function, Place: n.Place, FirstCall: w.first(n), Depth: len(chain), OuterLoopIndex: -1}
	if len(chain) > 0 {
		x.OuterLoopIndex = chain[len(chain)-1]
	}
	key := loopKey{x.OuterLoopIndex, function, n.Place, n.offset, ""}
	if n.Place == "" {
		key.first = x.FirstCall
	}
	i, fresh := once.NumberOf(w.l.known, key)
	if fresh {
		w.l.List = append(w.l.List, x)
	}
	w.l.List[i].MaxRounds = max(w.l.List[i].MaxRounds, n.MostRounds)
	return i
}

// first returns the name of the first call in a node.
func (w *around) first(n *Node) string {
	if n.SiteNumber > 0 {
		s := &w.t.Sites[n.SiteNumber-1]
		return s.Function + " " + s.Text
	}
	if n.Kind == "part" && n.Body == nil {
		if n = w.parts[n.PartNumber]; n == nil {
			return ""
		}
	}
	for _, x := range n.Body {
		if text := w.first(x); text != "" {
			return text
		}
	}
	return ""
}
