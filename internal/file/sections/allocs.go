package sections

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// AllocEvents is where segments of memory begin and end among the calls of some ranks
// that have the same of them up to numbers.
type AllocEvents struct {
	Ranks   column.Column      // world ranks, ascending
	Streams []*grammar.Grammar // of numbers of List
	List    []AllocColumns     // numbered by first occurrence over the streams
	Cut     bool               // there were more than a recorder keeps
}

// AllocColumns is an event over the ranks that have it.
type AllocColumns struct {
	Free                 bool
	Calls, Segment, Size column.Column // see AllocEvent; Segment as in signatures
}

func (l *AllocColumns) numbers() [3]*column.Column {
	return [3]*column.Column{&l.Calls, &l.Segment, &l.Size}
}

// appendAllocs and DecodeAllocs: the section of allocation events.
//
//	lives = sets uvarint, set…
//	set   = ranks uvarint, runs of ranks, shape blob, per number: seq over the events, of the first rank,
//	        per number: varying uvarint, (event uvarint, seq over the ranks)…
//	shape = cut uint8, streams uvarint, grammar…, seq over the events: 1 of an end
//
// Numbers are calls, segment and size, the size not of ends.
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

// Shape returns what the allocation events of ranks in one set have in common.
func (l *AllocEvents) Shape() []byte {
	b := grammar.AppendAll([]byte{byte(bit(l.Cut))}, l.Streams)
	var ends column.Column
	for i := range l.List {
		ends.Append(int64(bit(l.List[i].Free)))
	}
	return column.EncodeSeq(b, &ends, nil)
}

// size is the position of Size among an event's numbers.
const allocSize = 2

// AppendBinary appends the set in the form that files and messages have.
func (l *AllocEvents) AppendBinary(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(l.Ranks.Len()))
	b = l.Ranks.AppendRuns(b)
	b = wire.AppendString(b, string(l.Shape()))
	for k := range 3 {
		var first column.Column
		varying := 0
		for i := range l.List {
			if k == allocSize && l.List[i].Free {
				continue
			}
			c := l.List[i].numbers()[k]
			first.Append(c.Runs()[0].Start)
			if !constant(c) {
				varying++
			}
		}
		if first.Len() > 0 {
			b = column.EncodeSeq(b, &first, nil)
		}
		b = wire.AppendUvarint(b, uint64(varying))
		for i := range l.List {
			if c := l.List[i].numbers()[k]; !constant(c) && (k != allocSize || !l.List[i].Free) {
				b = wire.AppendUvarint(b, uint64(i))
				b = column.EncodeSeq(b, c, nil)
			}
		}
	}
	return b
}

func constant(c *column.Column) bool {
	_, same := c.Same()
	return same
}

// DecodeAllocs reads what AllocEvents.AppendBinary wrote.
func DecodeAllocs(r *wire.Reader, ranks int) (l AllocEvents) {
	n := r.Int(ranks)
	if n == 0 && r.Err() == nil {
		r.Fail("allocation events of no rank")
	}
	if r.Err() != nil {
		return l
	}
	l.Ranks = column.DecodeRuns(r, n)
	last := int64(-1)
	for _, run := range l.Ranks.Runs() {
		if run.Start <= last || run.Count > 1 && run.Stride <= 0 || !run.Monotonic() || run.At(run.Count-1) >= int64(ranks) {
			r.Fail("allocation events of ranks out of order")
			return l
		}
		last = run.At(run.Count - 1)
	}
	l.decodeShape(r)
	if r.Err() != nil {
		return l
	}
	for k := range 3 {
		l.decodeNumbers(r, k, n)
	}
	return l
}

func (l *AllocEvents) decodeShape(r *wire.Reader) {
	s := wire.NewReader([]byte(r.String()), "shape of allocation events")
	l.Cut = s.Byte() == 1
	allocs := 0
	l.Streams = grammar.ReadAll(s, s.Count(1))
	for _, g := range l.Streams {
		for _, t := range g.Terminals() {
			if int(t) > allocs {
				s.Fail("event %d before %d", t, allocs)
			}
			allocs = max(allocs, int(t)+1)
		}
	}
	if allocs == 0 && s.Err() == nil {
		s.Fail("no allocation events")
	}
	if s.Err() == nil {
		ends := column.DecodeSeq(s, allocs)
		if s.Err() == nil {
			l.List = make([]AllocColumns, allocs)
			for i := range l.List {
				l.List[i].Free = ends.At(i, 0) == 1
			}
		}
	}
	r.Check(s.Done())
}

// decodeNumbers reads one number of all allocation events.
func (l *AllocEvents) decodeNumbers(r *wire.Reader, k, ranks int) {
	var allocs []int
	for i := range l.List {
		if k != allocSize || !l.List[i].Free {
			allocs = append(allocs, i)
		}
	}
	var first *column.Seq
	if len(allocs) > 0 {
		first = column.DecodeSeq(r, len(allocs))
	}
	varying := make(map[int]*column.Seq)
	next := 0
	for range r.Count(2) {
		i := r.Int(len(l.List))
		if r.Err() == nil && (i < next || i == len(l.List)) {
			r.Fail("event %d varies after %d", i, next)
		}
		if r.Err() != nil {
			return
		}
		next = i + 1
		varying[i] = column.DecodeSeq(r, ranks)
	}
	if r.Err() != nil {
		return
	}
	for i := range l.List {
		c := l.List[i].numbers()[k]
		v := int64(0)
		if len(allocs) > 0 && allocs[0] == i {
			v = first.At(first.Len()-len(allocs), 0)
			allocs = allocs[1:]
		}
		s := varying[i]
		if s == nil {
			*c = column.Constant(v, ranks)
			continue
		}
		for m := range ranks {
			c.Append(s.At(m, 0))
		}
	}
}

// checkAllocs says what makes the allocation events impossible to write.
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

// An AllocTable is the allocation events as read.
type AllocTable struct {
	Sets []AllocEvents
	Of   map[int][2]int // by rank: set and position in it
}
