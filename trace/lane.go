package trace

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"

	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// A Lane gives those values of a terminal that differ from call to call on a rank: a tag that counts, an offset
// that advances. Rank.Signature and Rank.Terminal have the values of the first call. A Lane is safe for concurrent use.
//
// Analyses of terminals alone do not depend on such values: they are tags, offsets in memory, windows and files,
// and tags in statuses.
type Lane struct {
	of    *signature.LaneReader
	calls func() *Occurrences
}

// ValueIndices returns the indices, in rising order, of the signature's values that differ between the calls.
func (l *Lane) ValueIndices() []int { return l.of.ValueIndices }

// CallCount returns the number of the terminal's calls on the rank.
func (l *Lane) CallCount() uint64 { return l.of.CallCount() }

// FirstValues returns what the values with the indices in Values are in the terminal's first call.
func (l *Lane) FirstValues() []int64 { return l.of.FirstValues }

// Structure returns the steps between the terminal's calls as loops and sequences. In these nodes, Node.Terminal is the
// index of a step in Steps.
func (l *Lane) Structure() Node {
	return Node{Kind: SequenceNode, Count: 1, Terminal: -1, g: l.of.Steps}
}

// Steps returns, for each distinct step between two calls, what it adds to each of the values in Values.
func (l *Lane) Steps() [][]int64 { return l.of.StepValues }

// At returns what the values with the indices in Values are in the terminal's call i, counted from 0.
func (l *Lane) At(i uint64) []int64 { return l.of.At(i) }

// Bounds returns the least and the greatest number that the value with index Values[k] is in any call. It takes time
// proportional to the compressed steps.
func (l *Lane) Bounds(k int) (least, most int64) { return l.of.Bounds(k) }

// Same reports whether two lanes are known to have the same values in every call. As it does not expand them, it
// returns false for some equal lanes, too.
func (l *Lane) Same(o *Lane) bool {
	if l == nil || o == nil {
		return l == o
	}
	return l.of.SameValues(o.of)
}

// Lane returns the lane of a terminal, nil if all of its calls have the same values.
func (k *Rank) Lane(terminal int) *Lane {
	if k.lanes == nil {
		return nil
	}
	return k.lanes[terminal]
}

// openLanes sets k.lanes: the lanes of the class, evaluated for the rank. It checks that each lane has a value for
// every call of its terminal, and that all of these calls belong to one stream.
func (k *Rank) openLanes() error {
	x := k.class.Lanes
	if x == nil {
		return nil
	}
	used, err := signature.TerminalUsageOf(k.streams, k.Terminals())
	if err != nil {
		return err
	}
	list, err := x.EvalForRank(k.index, int64(k.number), used, k.Signature)
	if err != nil {
		return err
	}
	k.lanes = make([]*Lane, k.Terminals())
	for i, l := range list {
		terminal := x.List[i].Terminal
		k.lanes[terminal] = &Lane{of: l, calls: sync.OnceValue(func() *Occurrences {
			stream := 0
			for s := range k.streams {
				if k.TerminalCounts(s)[terminal] > 0 {
					stream = s
				}
			}
			return k.Occurrences(stream, func(t int) bool { return t == terminal })
		})}
	}
	return nil
}

// Signatures yields, for each call of a stream in program order, its terminal and all of its values, numbered as in
// Rank.Signature. The values are valid until the next iteration.
func (k *Rank) Signatures(stream int) iter.Seq2[int, []int64] { return k.SignaturesFrom(stream, 0) }

// SignaturesFrom is like Signatures, but begins with the call at the given index.
func (k *Rank) SignaturesFrom(stream int, index uint64) iter.Seq2[int, []int64] {
	return func(yield func(int, []int64) bool) {
		plain := make([]rawCall, k.Terminals())
		posts := posts{k: k, stream: stream, from: index}
		made, counted := int64(0), index == 0
		lanes := k.walkLanes(index)
		calls := k.streams[stream].Cursor()
		calls.Seek(index)
		for {
			at := calls.Pos()
			n, ok := calls.Next()
			if !ok {
				return
			}
			t := int(n)
			x := &plain[t]
			if x.vals == nil {
				k.raw(x, t)
			}
			vals := x.vals
			if k.Lane(t) != nil {
				vals = lanes.next(t)
			}
			if !counted && (x.posted || x.posting.Kind != signature.RequestNone || x.leaves) {
				made, _ = k.requestsBefore(stream, at) // an error is ignored: reading the call returns it, too
				counted = true
			}
			whole, spans := vals, x.spans
			var array signature.RequestArray
			if x.leaves {
				array = x.layout.RequestArrayOf(spans, vals)
				_ = posts.reach(&array, at)
			}
			if array.IsOmitted {
				x.listed, _ = posts.left.AppendRestoringArray(x.listed[:0], x.layout, spans, vals, made)
				x.filledSpans, _ = sections.SpansOf(k.r.byID[k.class.Terminals[t].Group.FunctionID], x.filledSpans[:0], x.listed)
				whole, spans = x.listed, x.filledSpans
			}
			if x.posted {
				posts.at(made)
				x.filled, _ = posts.AppendRestoringStatuses(x.filled[:0], x.layout, spans, whole)
				whole = x.filled
			}
			if !yield(t, whole) {
				return
			}
			if x.leaves {
				posts.leave(&array, made)
			}
			if x.posting.Kind != signature.RequestNone {
				posts.at(made)
				posts.AddPosted(x.layout.PostedRequest(x.spans, vals))
			}
			if x.posting.Kind == signature.RequestOneShot {
				made++
			}
		}
	}
}

// A rawCall is the values of a terminal as they are stored, and what must be filled in from earlier calls.
type rawCall struct {
	vals    []int64
	filled  []int64 // the values with statuses filled in
	listed  []int64 // the values with the array of requests that an earlier call left
	layout  *signature.Layout
	spans   []signature.Span
	posting signature.PostedRequest
	posted  bool // whether statuses are missing in vals that follow from the receives which made the requests
	leaves  bool // whether the call may leave an array of requests that later calls' signatures omit

	filledSpans []signature.Span // spans of listed
}

func (k *Rank) raw(x *rawCall, terminal int) {
	f := k.r.byID[k.class.Terminals[terminal].Group.FunctionID]
	x.vals, x.layout = k.Signature(terminal), k.r.layout(f)
	x.spans, _ = sections.SpansOf(f, nil, x.vals)
	x.posting, x.leaves = x.layout.PostedRequest(x.spans, x.vals), x.layout.LeavesRequestArray()
	for s := range x.layout.Statuses(x.spans, x.vals) {
		x.posted = x.posted || s.IsImpliedStatus(x.vals)
	}
}

// laneWalk holds the positions in a rank's lanes while the calls of a stream are read in order. index is that of the
// first call that is read.
type laneWalk struct {
	k       *Rank
	index   uint64
	cursors []*laneCursor // by terminal; nil until its first call is read
}

// A laneCursor is the position in the lane of one terminal. values is Lane.ValueIndices.
type laneCursor struct {
	*signature.LaneCursor
	values []int
	sig    []int64 // all values of the call that was read last
	held   bool    // whether the cursor is at the next call already, so that next must not advance it
}

func (k *Rank) walkLanes(index uint64) *laneWalk {
	if k.lanes == nil {
		return nil
	}
	return &laneWalk{k: k, index: index, cursors: make([]*laneCursor, len(k.lanes))}
}

// call decodes the next call of a terminal, with the lane's values in it.
func (w *laneWalk) call(t *template, terminal int) (*Call, error) {
	return w.k.evaluate(t, terminal, w.next(terminal))
}

// set changes a decoded call of a terminal to the terminal's next call: it stores the lane's values in the fields that
// places points to. It returns false if one of them is unknown: then the caller must decode the call.
func (w *laneWalk) set(terminal int, places []*int64) bool {
	c := w.cursors[terminal]
	c.Next()
	if c.held = slices.Contains(c.Values, signature.UnknownOutput); c.held {
		return false
	}
	for i, p := range places {
		*p = c.Values[i]
	}
	return true
}

// places returns pointers to the fields of decoded call c that hold the values of its terminal's lane, and the indices
// of the parameters that these belong to. It returns nil if a value of the lane is in no field.
func (w *laneWalk) places(terminal int, c *Call) (list []*int64, params []int) {
	sig, values := w.cursors[terminal].sig, w.cursors[terminal].values
	var room [sections.TypicalSpans]signature.Span
	spans, err := sections.SpansOf(c.Func, room[:0], sig)
	if err != nil {
		return nil, nil
	}
	list = make([]*int64, len(values))
	found := 0
	in := func(v *Value, s *signature.Span) {
		for i, p := range values {
			if p < s.First || p >= s.End {
				continue
			}
			switch {
			case v.Type == TypeInt && p == s.First:
				list[i] = &v.Num
			case v.Type == TypeAddress && p == s.First+1:
				list[i] = &v.Addr.Offset
			case v.Type == TypeStatus && s.IsFilledStatus(sig) && p == s.First+signature.StatusTagPosition:
				list[i] = &v.Status.Tag
			default:
				continue
			}
			found++
			params = append(params, s.Param)
		}
	}
	for i := range spans {
		s := &spans[i]
		if s.Param < 0 || s.Param >= len(c.Params) {
			continue
		}
		v := &c.Params[s.Param].In
		if s.IsOutput {
			v = &c.Params[s.Param].Out
		}
		if s.Dims == 0 {
			in(v, s)
			continue
		}
		n := 0
		for e := range s.Elements(sig) {
			if n < len(v.Elems) {
				in(&v.Elems[n], &e)
			}
			n++
		}
	}
	if found < len(values) {
		return nil, nil
	}
	return list, params
}

// next returns all values of the next call of a terminal, valid until the next call of next.
func (w *laneWalk) next(terminal int) []int64 {
	c := w.cursors[terminal]
	if c == nil {
		l := w.k.lanes[terminal]
		before := uint64(0)
		if w.index > 0 {
			before = l.calls().CountBefore(w.index)
		}
		c = &laneCursor{LaneCursor: l.of.Cursor(before), values: l.of.ValueIndices, sig: w.k.Signature(terminal)}
		w.cursors[terminal] = c
	} else if !c.held {
		c.Next()
	}
	c.held = false
	for i, p := range c.values {
		c.sig[p] = c.Values[i]
	}
	return c.sig
}

// evaluate decodes a call of a terminal that has the values sig.
func (k *Rank) evaluate(t *template, terminal int, sig []int64) (*Call, error) {
	var room [sections.TypicalSpans]signature.Span
	spans, err := sections.SpansOf(t.call.Func, room[:0], sig)
	var c *Call
	if err == nil {
		c, err = readCall(t.call.Func, spans, sig, &k.tables.lookup, k.number)
	}
	if err == nil && t.own {
		_, _, err = k.r.follows(c, spans, sig)
	}
	if err != nil {
		return nil, k.r.failed(container.SectionLanes, fmt.Errorf("rank %d: terminal %d: %w: %w", k.number, terminal, err, ErrFormat))
	}
	c.Rank, c.Terminal, c.Site = k.number, terminal, t.call.Site
	return c, nil
}

// LaneTexts renders how each value of a terminal's lane changes, such as "tag 0..999 by 1"; nil if the terminal has
// no lane.
func (k *Rank) LaneTexts(terminal int) []string {
	l := k.Lane(terminal)
	if l == nil {
		return nil
	}
	names := valueNames(k.r.byID[k.class.Terminals[terminal].Group.FunctionID], k.Signature(terminal))
	var list []string
	for i, p := range l.of.ValueIndices {
		if text := names[p] + " " + l.of.Text(i); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// BoundingCalls returns two calls that bound the values, and so the memory, of all calls of a terminal. Each value in
// the terminal's lane is the least one in the first call, and the greatest in the second; the run need not have made
// either. Without a lane, both are the call that Rank.Terminal returns.
func (k *Rank) BoundingCalls(terminal int) (least, most *Call, err error) {
	t, err := k.template(terminal)
	l := k.Lane(terminal)
	if err != nil || l == nil {
		return t.call, t.call, err
	}
	low, high := k.Signature(terminal), k.Signature(terminal)
	for i, p := range l.of.ValueIndices {
		low[p], high[p] = l.Bounds(i)
	}
	if least, err = k.evaluate(&t, terminal, low); err == nil {
		most, err = k.evaluate(&t, terminal, high)
	}
	return least, most, err
}
