package volume

import (
	"encoding/binary"
	"slices"

	"spoor/trace"
)

// Numbers of handles are used again, so that a loop may make a small type, use
// it, free it, make a large one under the same number, and use that. What a call
// with such a handle moves depends on where it stands. A walker goes through the
// structure with what the handles mean: how a rule changes that, and what is
// moved within, is computed once for each state in which the rule is entered.
type walker struct {
	w         *evaluator
	e         *env
	names     []name // of handles with several meanings
	sensitive []bool // by terminal
	changes   []bool // by terminal: gives one of the names a meaning
	touches   map[int]bool
	memo      map[string]effect
}

// A state is the meanings of the names; an effect is a new state and what was
// moved on the way, by sensitive terminal.
type state []meaning

type effect struct {
	after state
	moved map[int]Amount
}

func (s state) key(b []byte) string {
	for _, m := range s {
		for _, v := range m {
			b = binary.AppendVarint(b, v)
		}
	}
	return string(b)
}

// walk adds up what sensitive terminals move in all streams of a rank, which
// are taken one after the other: how threads interleave is not known.
func (w *evaluator) walk(k *trace.Rank, e *env, sensitive []bool, totals []Amount) error {
	x := &walker{w: w, e: e, sensitive: sensitive, changes: make([]bool, len(sensitive))}
	for n := range e.unstable {
		x.names = append(x.names, n)
	}
	slices.SortFunc(x.names, func(a, b name) int {
		if a.what != b.what {
			return int(a.what) - int(b.what)
		}
		return int(a.handle - b.handle)
	})
	var s state
	for _, n := range x.names {
		s = append(s, e.means[n])
	}
	same := true
	for _, t := range w.c.makers {
		n, _, ok := w.call(t).made(w.get(t, &same), e)
		x.changes[t] = ok && e.unstable[n]
	}
	for stream := range k.Streams() {
		x.memo, x.touches = make(map[string]effect), make(map[int]bool)
		f := x.node(k.Structure(stream), s)
		for t, a := range f.moved {
			totals[t].Add(a, 1)
		}
		s = f.after
	}
	return nil
}

// matters reports whether anything below a node is of interest.
func (x *walker) matters(n trace.Node) bool {
	if n.Kind == trace.CallNode || n.Rule < 0 {
		return x.sensitive[n.Terminal] || x.changes[n.Terminal]
	}
	yes, known := x.touches[n.Rule]
	if !known {
		for _, c := range n.Children() {
			yes = x.matters(c) || yes
		}
		x.touches[n.Rule] = yes
	}
	return yes
}

func (x *walker) node(n trace.Node, s state) effect {
	if !x.matters(n) {
		return effect{after: s}
	}
	if n.Kind == trace.CallNode {
		return x.call(n.Terminal, s)
	}
	total := effect{s, make(map[int]Amount)}
	// Where a state comes back, so does all that follows it.
	type visit struct {
		round uint64
		moved map[int]Amount
	}
	seen := make(map[string]visit)
	for i := uint64(0); i < n.Count; i++ {
		key := total.after.key(nil)
		if v, ok := seen[key]; ok && i > v.round {
			period := i - v.round
			rounds := (n.Count - i) / period
			for t, a := range total.moved {
				before := v.moved[t]
				a.Add(Amount{a.Out - before.Out, a.In - before.In}, rounds)
				total.moved[t] = a
			}
			if i += rounds * period; i >= n.Count {
				break
			}
			seen = make(map[string]visit)
		} else {
			moved := make(map[int]Amount, len(total.moved))
			for t, a := range total.moved {
				moved[t] = a
			}
			seen[key] = visit{i, moved}
		}
		f := x.once(n, total.after)
		for t, a := range f.moved {
			sum := total.moved[t]
			sum.Add(a, 1)
			total.moved[t] = sum
		}
		total.after = f.after
	}
	return total
}

// once goes through the body of a sequence or loop.
func (x *walker) once(n trace.Node, s state) effect {
	if n.Rule < 0 {
		return x.call(n.Terminal, s)
	}
	key := s.key(binary.AppendVarint(nil, int64(n.Rule)))
	if f, ok := x.memo[key]; ok {
		return f
	}
	total := effect{s, make(map[int]Amount)}
	for _, c := range n.Children() {
		f := x.node(c, total.after)
		for t, a := range f.moved {
			sum := total.moved[t]
			sum.Add(a, 1)
			total.moved[t] = sum
		}
		total.after = f.after
	}
	x.memo[key] = total
	return total
}

func (x *walker) call(t int, s state) effect {
	for i, n := range x.names {
		x.e.means[n] = s[i]
	}
	f := effect{after: s}
	if x.sensitive[t] {
		a, _, _ := x.w.amount(t, x.e)
		f.moved = map[int]Amount{t: a}
	}
	if x.changes[t] {
		same := true
		if n, m, ok := x.w.call(t).made(x.w.get(t, &same), x.e); ok {
			f.after = slices.Clone(s)
			f.after[slices.Index(x.names, n)] = m
		}
	}
	return f
}
