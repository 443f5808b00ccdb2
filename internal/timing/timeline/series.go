package timeline

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A SeriesTimes is the stored times of each call of a rank, exact or with an error bound.
type SeriesTimes struct {
	*series.Reader
	KindOfTerminal  []uint32 // kind of each terminal, as in SimilarCallKinds.KindOfCall
	KindDefinitions series.SimilarCallKinds
	Streams         []*grammar.Grammar
	WrapError       func(error) error // adds the names of section and rank to an error
}

// KindsInBlock returns the kinds of the calls of block i of a stream, as decoding the block needs them.
func (s *SeriesTimes) KindsInBlock(stream, i int) series.SimilarCallKinds {
	first, n := s.BlockCalls(stream, i)
	c := s.Streams[stream].Cursor()
	c.Seek(first)
	kinds := s.KindDefinitions
	kinds.KindOfCall = make([]uint32, n)
	for j := range kinds.KindOfCall {
		t, _ := c.Next()
		kinds.KindOfCall[j] = s.KindOfTerminal[t]
	}
	return kinds
}

// A Block is the decoded times of consecutive calls of a stream.
type Block struct {
	Entries []timing.CallTicks
	Kinds   []uint32 // by call of the block: its kind
	drift   *drift   // correction of inexact times; nil: times are exact
}

// DecodeBlock decodes block i of a stream.
func (s *SeriesTimes) DecodeBlock(stream, i int) (Block, error) {
	kinds := s.KindsInBlock(stream, i)
	b := Block{Kinds: kinds.KindOfCall}
	var err error
	if b.Entries, err = s.Block(stream, i, kinds); err != nil {
		return b, s.WrapError(fmt.Errorf("stream %d: %w", stream, err))
	}
	if kinds.ErrorBoundOfKind == nil {
		return b, nil
	}
	b.drift = &drift{}
	at, sum := s.BlockBeginTicks(stream, i), 0.0
	for n, e := range b.Entries {
		bound := kinds.ErrorBoundOfKind[b.Kinds[n]]
		sum += float64(e.Gap) + float64(e.Duration)
		b.drift.add(e.Gap, bound)
		b.drift.add(e.Duration, bound)
		_, at = e.Advance(at)
	}
	end, known := s.BlockEndTicks(stream, i)
	b.drift.off = end - at
	b.drift.known = known && sum < longest && max(b.drift.off, -b.drift.off) < longest
	return b, nil
}

// advance moves over a call, from sum at of the kept times to sum next. It returns the call's begin and end as
// corrected by d, and the largest error of begin, in ticks.
func (s *SeriesTimes) advance(d *drift, e timing.CallTicks, kind uint32, at int64) (begin, end, next int64, within float64) {
	begin, next = e.Advance(at)
	if d == nil {
		return begin, next, next, 0
	}
	d.pass(e.Gap, s.KindDefinitions.ErrorBoundOfKind[kind])
	add, within := d.at()
	begin += add
	d.pass(e.Duration, s.KindDefinitions.ErrorBoundOfKind[kind])
	add, _ = d.at()
	return begin, next + add, next, within
}

// A SeriesTimeIterator is a position in a stream of which the times of each call are stored.
type SeriesTimeIterator struct {
	s       *SeriesTimes
	stream  int
	block   int // index of the next block to load
	entries []timing.CallTicks
	drift   *drift             // correction of the current block's times; nil: they are exact
	ahead   []packedBlock      // the following blocks that are decoded already
	room    []timing.CallTicks // memory for the times of the current block if it was decoded ahead
	at      int64              // position in ticks, as the sum of the kept times before it
	reached int64              // latest end of a call before the position, in ticks; math.MinInt64: no call yet
	index   uint64             // index of the next call
	offs    []model.Aside      // asides of the stream in which tracing was off
	early   uint64             // see MeanTimes.early
	line    Clock
}

// A packedBlock is a decoded block, in the compact format of appendEntries.
type packedBlock struct {
	entries []byte
	drift   *drift
}

// OpenTimeIterator returns a line of a stream that begins with call index. asides are the stream's, at converts the
// rank's clock to the time line.
func (s *SeriesTimes) OpenTimeIterator(stream int, index uint64, asides []model.Aside, at Clock) (CallTimeIterator, error) {
	l := &SeriesTimeIterator{s: s, stream: stream, index: index, reached: math.MinInt64, early: behind(asides), line: at}
	for _, a := range asides {
		if a.TracingOff {
			l.offs = append(l.offs, a)
		}
	}
	if index >= s.CallCount(stream) {
		l.block = s.BlockCount(stream)
		return l, nil
	}
	l.block = s.BlockOfCall(stream, index)
	first, _ := s.BlockCalls(stream, l.block)
	kinds, err := l.load()
	if err != nil {
		return nil, err
	}
	for i, e := range l.entries[:index-first] {
		_, _, l.at, _ = s.advance(l.drift, e, kinds[i], l.at)
		l.reached = max(l.reached, l.at)
	}
	l.entries = l.entries[index-first:]
	return l, nil
}

// load makes the next block the current one. It returns the kinds of the block's calls; nil if it was decoded ahead.
func (l *SeriesTimeIterator) load() (kinds []uint32, err error) {
	if len(l.ahead) > 0 {
		b := l.ahead[0]
		l.room = readEntries(l.room[:0], b.entries)
		l.entries, l.drift, l.ahead[0], l.ahead = l.room, b.drift, packedBlock{}, l.ahead[1:]
	} else {
		b, err := l.s.DecodeBlock(l.stream, l.block)
		if err != nil {
			return nil, err
		}
		l.entries, l.drift, kinds = b.Entries, b.drift, b.Kinds
	}
	begin := l.s.BlockBeginTicks(l.stream, l.block)
	if l.reached != math.MinInt64 {
		l.reached += begin - l.at // corrects for the error of the previous block's times
	}
	l.at = begin
	if l.block > 0 { // the first call of a stream may have begun before tick 0
		l.reached = max(l.reached, l.at)
	}
	l.block++
	return kinds, nil
}

// ReadAhead decodes as many of the following blocks as fit into limit bytes in compact format.
func (l *SeriesTimeIterator) ReadAhead(limit int) error {
	var b []byte
	for i := l.block + len(l.ahead); i < l.s.BlockCount(l.stream); i++ {
		x, err := l.s.DecodeBlock(l.stream, i)
		if err != nil {
			return err
		}
		b = appendEntries(b[:0], x.Entries)
		if limit -= len(b); limit < 0 {
			return nil
		}
		l.ahead = append(l.ahead, packedBlock{slices.Clone(b), x.drift})
	}
	return nil
}

// BlocksAhead returns the number of following blocks that are decoded already.
func (l *SeriesTimeIterator) BlocksAhead() int { return len(l.ahead) }

// appendEntries appends times in a compact format, which takes a fraction of their memory. Reading it takes a
// fraction of the time of decoding a block.
func appendEntries(b []byte, entries []timing.CallTicks) []byte {
	for _, e := range entries {
		b = wire.AppendUvarint(b, e.Duration)
		b = wire.AppendUvarint(b, e.Gap)
		b = wire.AppendVarint(b, e.BeginOffset)
	}
	return b
}

// readEntries appends to entries what appendEntries wrote to b.
func readEntries(entries []timing.CallTicks, b []byte) []timing.CallTicks {
	r := wire.NewReader(b, "times")
	for r.RemainingLen() > 0 {
		entries = append(entries, timing.CallTicks{Duration: r.Uvarint(), Gap: r.Uvarint(), BeginOffset: r.Varint()})
	}
	return entries
}

func (l *SeriesTimeIterator) Next(terminal int) (t model.Timing, w CallTime, err error) {
	if len(l.entries) == 0 {
		if l.block >= l.s.BlockCount(l.stream) {
			return t, w, l.s.WrapError(fmt.Errorf("stream %d: no times left", l.stream))
		}
		if _, err := l.load(); err != nil {
			return t, w, err
		}
	}
	e := l.entries[0]
	l.entries = l.entries[1:]
	kept, _ := e.Advance(l.at)
	start, end, next, within := l.s.advance(l.drift, e, l.s.KindOfTerminal[terminal], l.at)
	l.at = next
	t = model.Timing{Duration: l.s.sample(e.Duration, terminal), Gap: l.s.sample(e.Gap, terminal)}
	l.between(&t, kept-int64(e.Gap))
	l.index++
	w = CallTime{l.s.on(l.line, start), l.s.on(l.line, end), 0}
	if l.drift != nil {
		w.MaxStartErrorNs = ceil(within/l.s.TicksPerNs + 1)
	}
	return t, w, nil
}

// between computes the asides before a call: the time from the latest end of an earlier call until tick, where the
// call's gap begins. A call by a callback has none, as it begins inside another call.
func (l *SeriesTimeIterator) between(t *model.Timing, tick int64) {
	if l.index > 0 && tick > l.reached {
		t.RecorderNs = uint64(l.s.TicksToNs(tick - l.reached))
		for i, _ := slices.BinarySearchFunc(l.offs, l.index, func(a model.Aside, call uint64) int { return cmp.Compare(a.BeforeCall, call) }); i < len(l.offs) && l.offs[i].BeforeCall == l.index; i++ {
			t.TracingOffNs += uint64(l.offs[i].Ns)
		}
		if t.TracingOffNs = min(t.TracingOffNs, t.RecorderNs); t.TracingOffNs > 0 && t.RecorderNs-t.TracingOffNs < t.TracingOffNs>>sections.AsideMantissaBits {
			t.TracingOffNs = t.RecorderNs // an aside's Ns is rounded, so a small difference is not the recorder's time
		}
		t.RecorderNs -= t.TracingOffNs
		t.AsidesBeforeGap = l.index == l.early && t.RecorderNs > 0
	}
	l.reached = max(l.reached, l.at)
}

// sample converts a stored time in ticks to ns with its error bound, for a call of a terminal.
func (s *SeriesTimes) sample(ticks uint64, terminal int) model.Sample {
	ns := uint64(math.MaxUint64)
	if f := math.Round(float64(ticks) / s.TicksPerNs); f < 1<<64 {
		ns = uint64(f)
	}
	if s.KindDefinitions.ErrorBoundOfKind == nil {
		return model.Sample{Ns: ns, Kind: model.ExactSample}
	}
	b := s.KindDefinitions.ErrorBoundOfKind[s.KindOfTerminal[terminal]]
	if b == (series.Bound{}) {
		return model.Sample{Ns: ns, Kind: model.ExactSample}
	}
	bound := uint64(math.MaxUint64)
	if b.Absolute > 0 {
		if f := math.Ceil(float64(b.Absolute)/s.TicksPerNs) + 1; f < 1<<64 { // the stored time was rounded to ns, too
			bound = uint64(f)
		}
	} else if e := b.Relative; e < 1 {
		// |stored - true| ≤ e·true, so true is at most stored/(1-e).
		if f := math.Ceil((float64(ns)+1)*e/(1-e)) + 1; f < 1<<64 { // the stored time was rounded to ns, too
			bound = uint64(f)
		}
	}
	return model.Sample{Ns: ns, Kind: model.BoundedSample, ErrorBoundNs: bound}
}

// on converts the rank's ticks to ns on the time line.
func (s *SeriesTimes) on(l Clock, tick int64) int64 {
	return l.ToRunTime(s.StartNs + s.TicksToNs(tick))
}

// LastCallBegunBy returns the index of the last call of a stream that began at or before ns on the time line; 0 if none
// did. at converts the rank's clock to the time line.
func (s *SeriesTimes) LastCallBegunBy(stream int, at Clock, ns int64) (uint64, error) {
	if s.BlockCount(stream) == 0 {
		return 0, nil
	}
	block := s.BlockAtTick(stream, int64(float64(at.FromRunTime(ns)-s.StartNs)*s.TicksPerNs+0.5))
	b, err := s.DecodeBlock(stream, block)
	if err != nil {
		return 0, err
	}
	first, _ := s.BlockCalls(stream, block)
	tick, last, begun := s.BlockBeginTicks(stream, block), first, false
	for i, e := range b.Entries {
		var begin int64
		if begin, _, tick, _ = s.advance(b.drift, e, b.Kinds[i], tick); s.on(at, begin) <= ns {
			last, begun = first+uint64(i), true
		}
	}
	if !begun && first > 0 {
		return first - 1, nil // the block's first call began later than ns
	}
	return last, nil
}

// FirstCallBeginNs returns when the first call of stream 0 began, in ns of the rank's own clock. The bool is false
// without calls.
func (s *SeriesTimes) FirstCallBeginNs() (int64, bool, error) {
	if s.BlockCount(0) == 0 {
		return 0, false, nil
	}
	b, err := s.DecodeBlock(0, 0)
	if err != nil || len(b.Entries) == 0 {
		return 0, false, err
	}
	at, _, _, _ := s.advance(b.drift, b.Entries[0], b.Kinds[0], s.BlockBeginTicks(0, 0))
	return s.StartNs + s.TicksToNs(at), true, nil
}

// Check decodes all times, and checks that each block begins where the one before it ends. Inexact times may add up to
// another end, but only within their error bounds.
func (s *SeriesTimes) Check() error {
	for stream := range s.Streams {
		at := int64(0)
		for i := range s.BlockCount(stream) {
			x, err := s.DecodeBlock(stream, i)
			if err != nil {
				return err
			}
			if b := s.BlockBeginTicks(stream, i); b != at {
				return s.WrapError(fmt.Errorf("stream %d: block %d begins at %d, the one before ends at %d", stream, i, b, at))
			}
			for _, e := range x.Entries {
				_, at = e.Advance(at)
			}
			if d := x.drift; d != nil && d.known && d.more < longest {
				if off := float64(d.off); off < -d.less-1 || off > d.more+1 {
					return s.WrapError(fmt.Errorf("stream %d: block %d ends %d ticks from where its times come to, which may be %.0f less or %.0f more", stream, i, d.off, d.less, d.more))
				}
			}
			if end, ok := s.BlockEndTicks(stream, i); ok {
				at = end
			}
		}
	}
	return nil
}
