package trace

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/codec"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// seriesOf reads the index; nil if the trace has no times of single calls.
func (r *Reader) readSeries() (*sections.SeriesIndex, error) {
	s := r.sections.Find(container.Series)
	if s == nil {
		return nil, nil
	}
	x, err := r.seriesIndex(s)
	if err != nil {
		return nil, r.failed(container.Series, err)
	}
	return x, nil
}

func (r *Reader) seriesIndex(s *container.Section) (*sections.SeriesIndex, error) {
	if s.Codec != container.CodecRaw || s.Stored < sections.SeriesTail {
		return nil, fmt.Errorf("%d bytes with codec %d: %w", s.Stored, s.Codec, ErrFormat)
	}
	read := func(n, at int64) ([]byte, error) {
		b := make([]byte, n)
		_, err := io.ReadFull(io.NewSectionReader(r.src, s.Offset+at, n), b)
		return b, err
	}
	tail, err := read(sections.SeriesTail, s.Stored-sections.SeriesTail)
	if err != nil {
		return nil, err
	}
	t := wire.NewReader(tail, "tail")
	n, sum := int64(t.Uint32()), t.Uint32()
	if n > s.Stored-sections.SeriesTail {
		return nil, fmt.Errorf("index of %d bytes in %d: %w", n, s.Stored, ErrFormat)
	}
	data, err := read(n, s.Stored-sections.SeriesTail-n)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(data, wire.Castagnoli) != sum {
		return nil, fmt.Errorf("checksum of index: %w", ErrFormat)
	}
	w := wire.NewReader(data, "index")
	seq := column.DecodeSeq(w, r.Ranks())
	if err := w.Done(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	x := &sections.SeriesIndex{Section: s, Offsets: make([]int64, r.Ranks()+1)}
	for rank := range r.Ranks() {
		size := seq.At(rank, 0)
		if size < 0 || size > s.Stored-x.Offsets[rank] {
			return nil, fmt.Errorf("%d bytes for rank %d: %w", size, rank, ErrFormat)
		}
		x.Offsets[rank+1] = x.Offsets[rank] + size
	}
	if end := x.Offsets[r.Ranks()]; end != s.Stored-sections.SeriesTail-n {
		return nil, fmt.Errorf("pieces have %d bytes, %d expected: %w", end, s.Stored-sections.SeriesTail-n, ErrFormat)
	}
	return x, nil
}

// A rankSeries is the times of a rank's calls.
type rankSeries struct {
	*series.Reader
	of    []uint32 // kind of each terminal
	kinds series.Kinds
}

// openSeries returns the times of the rank's calls, nil if there are none. They are kept,
// so that only the first search takes time for their index.
func (k *Rank) openSeries() (*rankSeries, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.opened {
		s, err := k.newSeries()
		if err != nil {
			return nil, err
		}
		k.series, k.opened = s, true
	}
	return k.series, nil
}

func (k *Rank) newSeries() (*rankSeries, error) {
	x, err := k.r.series()
	if err != nil || x == nil {
		return nil, err
	}
	from, to := x.Offsets[k.number], x.Offsets[k.number+1]
	if from == to {
		return nil, nil
	}
	src := io.NewSectionReader(k.r.src, x.Section.Offset+from, to-from)
	p, err := series.NewReader(src, to-from)
	if err != nil {
		return nil, k.seriesFailed(err)
	}
	if p.Streams() != k.Streams() {
		return nil, k.seriesFailed(fmt.Errorf("times of %d streams, there are %d", p.Streams(), k.Streams()))
	}
	for s := range k.Streams() {
		if p.Len(s) != k.Len(s) {
			return nil, k.seriesFailed(fmt.Errorf("stream %d: times of %d calls, there are %d", s, p.Len(s), k.Len(s)))
		}
	}
	out := &rankSeries{Reader: p}
	o, err := k.r.timingOptions()
	if err != nil {
		return nil, k.seriesFailed(err)
	}
	o.Mode = p.Mode
	names := make([]string, k.Terminals())
	sigs := make([]series.Signature, k.Terminals())
	for t := range sigs {
		x := &k.class.Terminals[t]
		names[t] = k.r.byID[x.Group.Call].Name
		sigs[t] = series.Signature{Call: uint64(x.Group.Call), Site: uint64(x.Site), Vals: k.Signature(t)}
	}
	out.of, out.kinds = series.KindsOf(o, p.TicksPerNs, names, sigs)
	return out, nil
}

func (k *Rank) seriesFailed(err error) error {
	return k.r.failed(container.Series, fmt.Errorf("rank %d: %w: %w", k.number, err, ErrFormat))
}

// timingOptions are those of the recorder, as far as blocks depend on them.
func (r *Reader) timingOptions() (timing.Options, error) {
	return timing.ParseOptions(func(name string) string {
		if name == timing.ErrorsVariable {
			return r.meta[MetaTimingError]
		}
		return ""
	})
}

// kindsOf returns what a block of a stream has to know of its calls.
func (k *Rank) kindsOf(s *rankSeries, stream, i int) series.Kinds {
	first, n := s.First(stream, i)
	c := k.streams[stream].Cursor()
	c.Seek(first)
	kinds := s.kinds
	kinds.Of = make([]uint32, n)
	for j := range kinds.Of {
		t, _ := c.Next()
		kinds.Of[j] = s.of[t]
	}
	return kinds
}

// A timesBlock is a block of a stream.
type timesBlock struct {
	entries []timing.Entry
	kinds   []uint32 // of its calls
	drift   *drift   // nil: times are exact
}

// block decodes a block of a stream.
func (k *Rank) block(s *rankSeries, stream, i int) (timesBlock, error) {
	kinds := k.kindsOf(s, stream, i)
	b := timesBlock{kinds: kinds.Of}
	var err error
	if b.entries, err = s.Block(stream, i, kinds); err != nil {
		return b, k.seriesFailed(fmt.Errorf("stream %d: %w", stream, err))
	}
	if kinds.Bounds == nil {
		return b, nil
	}
	b.drift = &drift{}
	at, sum := s.Begin(stream, i), 0.0
	for n, e := range b.entries {
		bound := kinds.Bounds[b.kinds[n]]
		sum += float64(e.Gap) + float64(e.Duration)
		b.drift.add(e.Gap, bound)
		b.drift.add(e.Duration, bound)
		_, at = e.Advance(at)
	}
	end, known := s.Ended(stream, i)
	b.drift.off = end - at
	b.drift.known = known && sum < longest && max(b.drift.off, -b.drift.off) < longest
	return b, nil
}

// advance moves a tick, as the kept times have it, over a call, and says where it begins and ends in truth, and how far
// the begin may be off.
func (s *rankSeries) advance(d *drift, e timing.Entry, kind uint32, at int64) (begin, end, next int64, within float64) {
	begin, next = e.Advance(at)
	if d == nil {
		return begin, next, next, 0
	}
	d.pass(e.Gap, s.kinds.Bounds[kind])
	add, within := d.at()
	begin += add
	d.pass(e.Duration, s.kinds.Bounds[kind])
	add, _ = d.at()
	return begin, next + add, next, within
}

// A seriesLine is a place in a stream of which each call's times are known.
type seriesLine struct {
	k       *Rank
	s       *rankSeries
	stream  int
	block   int // block
	entries []timing.Entry
	drift   *drift         // of the block; nil: there is none
	ahead   []packedBlock  // the blocks that follow
	room    []timing.Entry // for one of these
	at      int64          // ticks, as the kept times have it
	reached int64          // the latest end of a call so far
	index   uint64         // of the next call
	offs    []Aside        // of the stream, with Off
	early   uint64         // as of meanTimes
	line    line
}

// A packedBlock is a block as appendEntries has it.
type packedBlock struct {
	entries []byte
	drift   *drift
}

func (k *Rank) seriesLine(s *rankSeries, stream int, index uint64) (*seriesLine, error) {
	l := &seriesLine{k: k, s: s, stream: stream, index: index, reached: math.MinInt64}
	asides, err := k.asidesOf(stream)
	if err != nil {
		return nil, err
	}
	l.early = behind(asides)
	for _, a := range asides {
		if a.Off {
			l.offs = append(l.offs, a)
		}
	}
	if l.line, err = k.line(); err != nil {
		return nil, err
	}
	if index >= s.Len(stream) {
		l.block = s.Blocks(stream)
		return l, nil
	}
	l.block = s.Find(stream, index)
	first, _ := s.First(stream, l.block)
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

// load goes on to the next block, and returns the kinds of its calls unless it was decoded ahead.
func (l *seriesLine) load() (kinds []uint32, err error) {
	if len(l.ahead) > 0 {
		b := l.ahead[0]
		l.room = readEntries(l.room[:0], b.entries)
		l.entries, l.drift, l.ahead[0], l.ahead = l.room, b.drift, packedBlock{}, l.ahead[1:]
	} else {
		b, err := l.k.block(l.s, l.stream, l.block)
		if err != nil {
			return nil, err
		}
		l.entries, l.drift, kinds = b.entries, b.drift, b.kinds
	}
	begin := l.s.Begin(l.stream, l.block)
	if l.reached != math.MinInt64 {
		l.reached += begin - l.at // what the kept times were off in the block before
	}
	l.at = begin
	if l.block > 0 { // the first call may have begun before tick 0
		l.reached = max(l.reached, l.at)
	}
	l.block++
	return kinds, nil
}

// readAhead decodes the blocks that follow, as far as they take up to limit bytes.
func (l *seriesLine) readAhead(limit int) error {
	var b []byte
	for i := l.block + len(l.ahead); i < l.s.Blocks(l.stream); i++ {
		x, err := l.k.block(l.s, l.stream, i)
		if err != nil {
			return err
		}
		b = appendEntries(b[:0], x.entries)
		if limit -= len(b); limit < 0 {
			return nil
		}
		l.ahead = append(l.ahead, packedBlock{slices.Clone(b), x.drift})
	}
	return nil
}

// appendEntries appends times in a form that takes a fraction of their memory and is
// read in a fraction of the time that decoding a block takes.
func appendEntries(b []byte, entries []timing.Entry) []byte {
	for _, e := range entries {
		b = wire.AppendUvarint(b, e.Duration)
		b = wire.AppendUvarint(b, e.Gap)
		b = wire.AppendVarint(b, e.Jump)
	}
	return b
}

// readEntries appends what appendEntries wrote.
func readEntries(entries []timing.Entry, b []byte) []timing.Entry {
	r := wire.NewReader(b, "times")
	for r.Rest() > 0 {
		entries = append(entries, timing.Entry{Duration: r.Uvarint(), Gap: r.Uvarint(), Jump: r.Varint()})
	}
	return entries
}

func (l *seriesLine) next(terminal int) (t Timing, w when, err error) {
	if len(l.entries) == 0 {
		if l.block >= l.s.Blocks(l.stream) {
			return t, w, l.k.seriesFailed(fmt.Errorf("stream %d: no times left", l.stream))
		}
		if _, err := l.load(); err != nil {
			return t, w, err
		}
	}
	e := l.entries[0]
	l.entries = l.entries[1:]
	kept, _ := e.Advance(l.at)
	start, end, next, within := l.s.advance(l.drift, e, l.s.of[terminal], l.at)
	l.at = next
	t = Timing{Duration: l.s.sample(e.Duration, terminal), Gap: l.s.sample(e.Gap, terminal)}
	l.between(&t, kept-int64(e.Gap))
	l.index++
	w = when{l.s.on(l.line, start), l.s.on(l.line, end), 0}
	if l.drift != nil {
		w.within = ceil(within/l.s.TicksPerNs + 1)
	}
	return t, w, nil
}

// between finds what lies between a call and all before it but for the gap, which begins at
// a tick. Calls of callbacks lie within others.
func (l *seriesLine) between(t *Timing, tick int64) {
	if l.index > 0 && tick > l.reached {
		t.Spoor = uint64(l.s.Ns(tick - l.reached))
		for i, _ := slices.BinarySearchFunc(l.offs, l.index, func(a Aside, call uint64) int { return cmp.Compare(a.Call, call) }); i < len(l.offs) && l.offs[i].Call == l.index; i++ {
			t.Off += uint64(l.offs[i].Ns)
		}
		if t.Off = min(t.Off, t.Spoor); t.Off > 0 && t.Spoor-t.Off < t.Off>>sections.AsideBits {
			t.Off = t.Spoor // which is rounded
		}
		t.Spoor -= t.Off
		t.Early = l.index == l.early && t.Spoor > 0
	}
	l.reached = max(l.reached, l.at)
}

// sample is a time in ticks as one of a call of a terminal.
func (s *rankSeries) sample(ticks uint64, terminal int) Sample {
	ns := uint64(math.MaxUint64)
	if f := math.Round(float64(ticks) / s.TicksPerNs); f < 1<<64 {
		ns = uint64(f)
	}
	if s.kinds.Bounds == nil {
		return Sample{Ns: ns, Kind: ExactSample}
	}
	b := s.kinds.Bounds[s.of[terminal]]
	if b == (codec.Bound{}) {
		return Sample{Ns: ns, Kind: ExactSample}
	}
	bound := uint64(math.MaxUint64)
	if b.Absolute > 0 {
		if f := math.Ceil(float64(b.Absolute)/s.TicksPerNs) + 1; f < 1<<64 { // kept was rounded to ns
			bound = uint64(f)
		}
	} else if e := b.Relative; e < 1 {
		// |kept - true| ≤ e·true, so true is at most kept/(1-e).
		if f := math.Ceil((float64(ns)+1)*e/(1-e)) + 1; f < 1<<64 { // kept was rounded to ns
			bound = uint64(f)
		}
	}
	return Sample{Ns: ns, Kind: BoundedSample, Bound: bound}
}

// on is where on a time line a tick of the rank is.
func (s *rankSeries) on(l line, tick int64) int64 { return l.common(s.StartNs + s.Ns(tick)) }

// checkSeries decodes the times of every call of a rank.
func (k *Rank) checkSeries() error {
	s, err := k.openSeries()
	if err != nil || s == nil {
		return err
	}
	for stream := range k.Streams() {
		at := int64(0)
		for i := range s.Blocks(stream) {
			x, err := k.block(s, stream, i)
			if err != nil {
				return err
			}
			if b := s.Begin(stream, i); b != at {
				return k.seriesFailed(fmt.Errorf("stream %d: block %d begins at %d, the one before ends at %d", stream, i, b, at))
			}
			for _, e := range x.entries {
				_, at = e.Advance(at)
			}
			if d := x.drift; d != nil && d.known && d.more < longest {
				if off := float64(d.off); off < -d.less-1 || off > d.more+1 {
					return k.seriesFailed(fmt.Errorf("stream %d: block %d ends %d ticks from where its times come to, which may be %.0f less or %.0f more", stream, i, d.off, d.less, d.more))
				}
			}
			if end, ok := s.Ended(stream, i); ok {
				at = end
			}
		}
	}
	return k.checkCallValues()
}
