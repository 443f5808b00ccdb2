package waits

import (
	"cmp"
	"fmt"
	"iter"
	"math"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// A ticker reads the times of a stream's first calls from the rank's log.
type ticker struct {
	log     *track.TimeLog
	stream  int
	left    uint64 // number of calls whose times are still to be read
	skipped track.DroppedTimes
	tick    int64 // end of the latest call, in ticks of the log's clock
	on      func(ns int64) int64
	next    func() ([]timing.CallTicks, error, bool)
	stop    func()
	entries []timing.CallTicks
}

func newTicker(log *track.TimeLog, stream int, calls uint64, on func(ns int64) int64) *ticker {
	skipped := skippedOf(log, stream)
	x := &ticker{log: log, stream: stream, left: calls, skipped: skipped, tick: skipped.LastEndTick, on: on}
	x.next, x.stop = iter.Pull2(log.Streams[stream])
	return x
}

func (x *ticker) ns(ticks int64) int64 { return int64(math.Round(float64(ticks) / x.log.TicksPerNs)) }

// fill makes sure that at least one entry is decoded.
func (x *ticker) fill() error {
	for len(x.entries) == 0 {
		var err error
		var ok bool
		if x.entries, err, ok = x.next(); err != nil || !ok {
			return cmp.Or(err, fmt.Errorf("stream %d: no times left", x.stream))
		}
	}
	return nil
}

func (x *ticker) passed(calls uint64) {
	if x.left -= calls; x.left == 0 {
		x.stop()
	}
}

// Next returns the times of the next call. If the first calls lack times, Next makes up rising ones, before all real
// times.
func (x *ticker) Next() (start, end, gap int64, err error) {
	if x.skipped.Calls > 0 {
		at := math.MinInt64/2 - int64(x.skipped.Calls)
		x.skipped.Calls--
		x.left--
		return at, at, 0, nil
	}
	if err := x.fill(); err != nil {
		return 0, 0, 0, err
	}
	e := x.entries[0]
	x.entries = x.entries[1:]
	x.passed(1)
	begin, next := e.Advance(x.tick)
	x.tick = next
	return x.on(x.log.StartNs + x.ns(begin)), x.on(x.log.StartNs + x.ns(next)), x.ns(int64(min(e.Gap, math.MaxInt64))), nil
}

// Skip advances over calls, none of which may lack its times. It returns the latest end of these calls.
func (x *ticker) Skip(calls uint64) (end int64, err error) {
	tick, last := x.tick, int64(math.MinInt64)
	for left := calls; left > 0; {
		if err := x.fill(); err != nil {
			return 0, err
		}
		list := x.entries[:min(uint64(len(x.entries)), left)]
		for _, e := range list {
			_, tick = e.Advance(tick)
			last = max(last, tick)
		}
		x.entries, left = x.entries[len(list):], left-uint64(len(list))
	}
	x.tick = tick
	x.passed(calls)
	return x.on(x.log.StartNs + x.ns(last)), nil
}

func skippedOf(log *track.TimeLog, stream int) (s track.DroppedTimes) {
	if log.DroppedTimes != nil {
		s = log.DroppedTimes[stream]
	}
	return s
}
