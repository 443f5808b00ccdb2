package sections

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// AllocEvents is the begins and ends of memory segments in the calls of a set of ranks. The ranks of a set have events
// that differ in their numbers alone.
type AllocEvents struct {
	Ranks     column.Column      // world ranks, ascending
	Streams   []*grammar.Grammar // by thread: the order of the events, as indices of List
	List      []AllocColumns     // distinct events, numbered by first occurrence over the streams
	Truncated bool               // the recorder dropped later events, as there were too many
}

// AllocColumns is one event, the begin or (Free) end of a segment, on all ranks of a set.
type AllocColumns struct {
	IsFree bool
	// by rank of the set: numbers of the event, as in model.AllocEvent; Segment is encoded as in signatures
	CallsSincePrevious, Segment, Size column.Column
}

func (l *AllocColumns) numbers() [3]*column.Column {
	return [3]*column.Column{&l.CallsSincePrevious, &l.Segment, &l.Size}
}

// appendAllocs returns a function that appends the section of allocation events.
//
//	lives = sets uvarint, set…
//	set   = ranks uvarint, runs of ranks, shape blob, per number: seq over the events, of the first rank,
//	        per number: varying uvarint, (event uvarint, seq over the ranks)…
//	shape = cut uint8, streams uvarint, grammar…, seq over the events: 1 for an end, else 0
//
// The numbers of an event are calls, segment and size; ends have no size.
//
// Section handovers has the same form.
func appendAllocs(list []AllocEvents) func(b []byte) []byte {
	return func(b []byte) []byte {
		b = wire.AppendUvarint(b, uint64(len(list)))
		for i := range list {
			b = list[i].AppendBinary(b)
		}
		return b
	}
}

// AppendBinary appends the set in the form that files and messages have.
func (l *AllocEvents) AppendBinary(b []byte) []byte {
	return wire.AppendEncoded(b, func(c *wire.Coder) { l.code(c, 0) })
}

// DecodeAllocs reads what AllocEvents.AppendBinary wrote.
func DecodeAllocs(r *wire.Reader, ranks int) (l AllocEvents) {
	l.code(&wire.Coder{Reader: r}, ranks)
	return l
}

// code writes or reads a set of ranks. ranks is the number of ranks in the trace, which only a reader needs.
func (l *AllocEvents) code(c *wire.Coder, ranks int) {
	n := l.Ranks.Len()
	wire.CodeBounded(c, &n, ranks)
	c.RefuseIf(n == 0, "allocation events of no rank")
	if c.Failed() {
		return
	}
	column.CodeRuns(c, &l.Ranks, n)
	c.RefuseIf(!ascending(&l.Ranks, ranks), "allocation events of ranks out of order")
	var shape []byte
	if c.Reader == nil {
		shape = l.Shape()
	}
	if c.Blob(&shape); c.Reader != nil {
		c.RecordError(wire.DecodeAll(shape, "shape of allocation events", l.codeShape))
	}
	for k := range 3 {
		if !c.Failed() {
			l.codeNumbers(c, k, n)
		}
	}
}

// ascending reports whether ranks are in ascending order and below a limit.
func ascending(ranks *column.Column, limit int) bool {
	last := int64(-1)
	for _, run := range ranks.Runs() {
		if run.Start <= last || run.Count > 1 && run.Stride <= 0 || !run.IsOverflowFree() || run.At(run.Count-1) >= int64(limit) {
			return false
		}
		last = run.At(run.Count - 1)
	}
	return true
}

// Shape returns the part of the allocation events that all ranks of a set share.
func (l *AllocEvents) Shape() []byte { return wire.AppendEncoded(nil, l.codeShape) }

func (l *AllocEvents) codeShape(c *wire.Coder) {
	c.Bool(&l.Truncated)
	grammar.CodeGrammarList(c, &l.Streams)
	if c.Reader != nil {
		n := 0
		for _, g := range l.Streams {
			for _, t := range g.Terminals() {
				if int(t) > n {
					c.RefuseIf(true, "event %d before %d", t, n)
				}
				n = max(n, int(t)+1)
			}
		}
		if c.RefuseIf(n == 0, "no allocation events"); c.Failed() {
			return
		}
		l.List = make([]AllocColumns, n)
	}
	ends := make([]int64, len(l.List))
	for i := range ends {
		ends[i] = int64(bit(l.List[i].IsFree))
	}
	column.CodeValues(c, ends)
	for i := range ends {
		l.List[i].IsFree = ends[i] == 1
	}
}

// allocSize is the index of Size in AllocColumns.numbers.
const allocSize = 2

// codeNumbers writes or reads number k of all events, see AllocColumns.numbers.
func (l *AllocEvents) codeNumbers(c *wire.Coder, k, ranks int) {
	var of []*column.Column // columns of number k, for the events that have it
	var varying []int
	for i := range l.List {
		x := l.List[i].numbers()[k]
		if k == allocSize && l.List[i].IsFree {
			if c.Reader != nil {
				*x = column.Constant(0, ranks)
			}
			continue
		}
		of = append(of, x)
		if c.Reader == nil && !constant(x) {
			varying = append(varying, i)
		}
	}
	if len(of) > 0 {
		first := make([]int64, len(of))
		for i, x := range of {
			if c.Reader == nil {
				first[i] = x.At(0)
			}
		}
		if column.CodeValues(c, first); c.Reader != nil {
			for i, x := range of {
				*x = column.Constant(first[i], ranks)
			}
		}
	}
	next := 0
	wire.CodeList(c, &varying, 2, func(_ int, i *int) {
		wire.CodeBounded(c, i, len(l.List)-1)
		if *i < next {
			c.RefuseIf(true, "event %d varies after %d", *i, next)
		}
		if next = *i + 1; !c.Failed() {
			column.CodeSeq(c, l.List[*i].numbers()[k], ranks)
		}
	})
}

func constant(c *column.Column) bool {
	_, same := c.Uniform()
	return same
}

// checkAllocs returns a function that refuses invalid allocation events.
func (c *Content) checkAllocs(list []AllocEvents) func() error {
	return func() error {
		seen := make(map[int64]bool)
		for i := range list {
			l := &list[i]
			for rank := range l.Ranks.All() {
				if rank < 0 || rank >= int64(c.Ranks) || seen[rank] {
					return fmt.Errorf("allocation events: rank %d is out of range or occurs twice", rank)
				}
				seen[rank] = true
			}
			for k := range l.List {
				for _, n := range l.List[k].numbers() {
					if n.Len() != l.Ranks.Len() {
						return fmt.Errorf("allocation events: %d numbers of %d ranks", n.Len(), l.Ranks.Len())
					}
				}
			}
		}
		return nil
	}
}

// An AllocTable is the allocation events of a trace, as read from its file.
type AllocTable struct {
	Sets []AllocEvents
	// by rank: index of its set in Sets, and the rank's position in the set
	SetAndIndexOfRank map[int][2]int
}
