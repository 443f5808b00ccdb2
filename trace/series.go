package trace

import (
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

// readSeries reads the index of section series: where the times of each rank's calls are. It returns nil if the trace
// has no such section.
func (r *Reader) readSeries() (*sections.SeriesIndex, error) {
	s := r.sections.Find(container.SectionSeries)
	if s == nil {
		return nil, nil
	}
	x, err := r.seriesIndex(s)
	if err != nil {
		return nil, r.failed(container.SectionSeries, err)
	}
	return x, nil
}

func (r *Reader) seriesIndex(s *container.Section) (*sections.SeriesIndex, error) {
	if s.Codec != container.CodecRaw || s.StoredSize < sections.SeriesTailSize {
		return nil, fmt.Errorf("%d bytes with codec %d: %w", s.StoredSize, s.Codec, ErrFormat)
	}
	read := func(n, at int64) ([]byte, error) {
		b := make([]byte, n)
		_, err := io.ReadFull(io.NewSectionReader(r.src, s.Offset+at, n), b)
		return b, err
	}
	tail, err := read(sections.SeriesTailSize, s.StoredSize-sections.SeriesTailSize)
	if err != nil {
		return nil, err
	}
	t := wire.NewReader(tail, "tail")
	n, sum := int64(t.Uint32()), t.Uint32()
	if n > s.StoredSize-sections.SeriesTailSize {
		return nil, fmt.Errorf("index of %d bytes in %d: %w", n, s.StoredSize, ErrFormat)
	}
	data, err := read(n, s.StoredSize-sections.SeriesTailSize-n)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(data, wire.Castagnoli) != sum {
		return nil, fmt.Errorf("checksum of index: %w", ErrFormat)
	}
	w := wire.NewReader(data, "index")
	seq := column.DecodeSeq(w, r.Ranks())
	if err := w.Finish(); err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrFormat)
	}
	x := &sections.SeriesIndex{Section: s, Offsets: make([]int64, r.Ranks()+1)}
	for rank := range r.Ranks() {
		size := seq.At(rank, 0)
		if size < 0 || size > s.StoredSize-x.Offsets[rank] {
			return nil, fmt.Errorf("%d bytes for rank %d: %w", size, rank, ErrFormat)
		}
		x.Offsets[rank+1] = x.Offsets[rank] + size
	}
	if end := x.Offsets[r.Ranks()]; end != s.StoredSize-sections.SeriesTailSize-n {
		return nil, fmt.Errorf("pieces have %d bytes, %d expected: %w", end, s.StoredSize-sections.SeriesTailSize-n, ErrFormat)
	}
	return x, nil
}

// openSeries returns access to the times of each of the rank's calls; nil if the trace has none. The result is cached.
func (k *Rank) openSeries() (*timeline.SeriesTimes, error) {
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

func (k *Rank) newSeries() (*timeline.SeriesTimes, error) {
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
	if p.StreamCount() != k.Streams() {
		return nil, k.seriesFailed(fmt.Errorf("times of %d streams, there are %d", p.StreamCount(), k.Streams()))
	}
	for s := range k.Streams() {
		if p.CallCount(s) != k.CallCount(s) {
			return nil, k.seriesFailed(fmt.Errorf("stream %d: times of %d calls, there are %d", s, p.CallCount(s), k.CallCount(s)))
		}
	}
	out := &timeline.SeriesTimes{Reader: p, Streams: k.streams, WrapError: k.seriesFailed}
	o, err := k.r.timingOptions()
	if err != nil {
		return nil, k.seriesFailed(err)
	}
	o.Mode = p.Mode
	names := make([]string, k.Terminals())
	sigs := make([]series.CallIdentity, k.Terminals())
	for t := range sigs {
		x := &k.class.Terminals[t]
		names[t] = k.r.byID[x.Group.FunctionID].Name
		sigs[t] = series.CallIdentity{FunctionID: uint64(x.Group.FunctionID), SiteID: uint64(x.Site), Vals: k.Signature(t)}
	}
	out.KindOfTerminal, out.KindDefinitions = series.CallKindsOf(o, p.TicksPerNs, names, sigs)
	return out, nil
}

func (k *Rank) seriesFailed(err error) error {
	return k.r.failed(container.SectionSeries, fmt.Errorf("rank %d: %w: %w", k.number, err, ErrFormat))
}

// timingOptions returns the recorder's options that determine how blocks of times are coded.
func (r *Reader) timingOptions() (timing.Options, error) {
	return timing.ParseOptions(func(name string) string {
		if name == timing.ErrorsVariable {
			return r.meta[MetaTimingError]
		}
		return ""
	})
}

// checkSeries decodes the times of every call of a rank.
func (k *Rank) checkSeries() error {
	s, err := k.openSeries()
	if err == nil && s != nil {
		err = s.Check()
	}
	if err != nil || s == nil {
		return err
	}
	return k.checkCallValues()
}

// RawTimes is the times of consecutive calls of a thread as they were recorded, in ticks of the rank's clock. Codecs
// of times take them as input.
type RawTimes struct {
	CallKinds               []uint32 // by call: number of its kind, from 0; calls of one kind are likely to take similar times
	GapTicks, DurationTicks []uint64
	StartJumpTicks          map[int]int64 // by call: its begin minus the begin that its gap implies, in ticks, if not 0

	KindGroups    []uint32 // by kind: kinds of one function have the same group
	KindFunctions []string // by kind: name of its function

	TicksPerNs          float64
	TickZeroWallClockNs int64 // ns since 1970 by the rank's wall clock at tick 0
}

// RawTimes yields the times of a stream's calls in order, in the blocks of the file. It yields an error if the trace
// does not have the exact time of each call.
func (k *Rank) RawTimes(stream int) iter.Seq2[*RawTimes, error] {
	return func(yield func(*RawTimes, error) bool) {
		s, err := k.openSeries()
		switch {
		case err != nil:
			yield(nil, err)
			return
		case s == nil || s.Mode != timing.ModeLossless:
			yield(nil, fmt.Errorf("%s: rank %d: no exact times of single calls; record them: spoor run --timing lossless …", k.r.name, k.number))
			return
		}
		functions := make([]string, len(s.KindDefinitions.FunctionOfKind))
		for t, kind := range s.KindOfTerminal {
			functions[kind] = k.r.byID[k.class.Terminals[t].Group.FunctionID].Name
		}
		cursor := k.streams[stream].Cursor()
		for i := range s.BlockCount(stream) {
			x, err := s.DecodeBlock(stream, i)
			if err != nil {
				yield(nil, err)
				return
			}
			raw := &RawTimes{KindGroups: s.KindDefinitions.FunctionOfKind, KindFunctions: functions, TicksPerNs: s.TicksPerNs, TickZeroWallClockNs: s.StartNs}
			for n, e := range x.Entries {
				if e.BeginOffset != 0 {
					if raw.StartJumpTicks == nil {
						raw.StartJumpTicks = make(map[int]int64)
					}
					raw.StartJumpTicks[n] = e.BeginOffset
				}
				t, _ := cursor.Next()
				raw.CallKinds = append(raw.CallKinds, s.KindOfTerminal[t])
				raw.GapTicks = append(raw.GapTicks, e.Gap)
				raw.DurationTicks = append(raw.DurationTicks, e.Duration)
			}
			if !yield(raw, nil) {
				return
			}
		}
	}
}
