package capture

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// A streamLog records the times of every call of a stream, in the order of its terminals, and the values attached
// to them. The record of a call is
//
//	duration uvarint, 2·gap + j uvarint, jump varint if j is 1
//
// jump is the time, in ticks, from the previous call's end to this call's begin that is not in the gap. j is 0 if jump
// is 0, else 1. A gap too large for this is written as longGap uvarint, jump varint, gap uvarint after the duration.
//
// Unless the trace is to have all times, only the end of a large log is kept.
type streamLog struct {
	frames
	limit  int64  // size in bytes above which old times are discarded; 0: no limit
	over   bool   // the whole log was discarded, and no further times are added
	marks  []mark // begins of the kept frames in order; empty if there is no limit
	begins mark   // begin of the first kept frame
	calls  uint64
	end    int64  // end of the previous call, in ticks since the first reading of the clock
	ended  uint64 // index of the call that ended last
	values valueLog
	delays []track.SchedulingDelay // when the thread waited for a processor; checkpoints do not contain these
}

// A mark is the begin of a frame of a streamLog.
type mark struct {
	offset int64
	calls  uint64 // number of calls before the frame
	end    int64  // end of the last call before the frame, in ticks since the first reading of the clock
}

const longGap = math.MaxUint64

// callTimes is the times of a call in ticks.
type callTimes struct{ begin, gap, duration uint64 }

// add records the times of a call. start is the first reading of the clock, from which the log's times count.
func (l *streamLog) add(t callTimes, start uint64) {
	if l.over {
		l.calls++
		return
	}
	if l.count == 0 && l.limit > 0 {
		l.marks = append(l.marks, mark{l.size, l.calls, l.end})
	}
	begin := int64(t.begin - start)
	jump := begin - l.end - int64(t.gap)
	l.end = begin + int64(t.duration)
	b := l.pending
	switch {
	case jump == 0 && t.gap < longGap>>1:
		b = binary.AppendUvarint(binary.AppendUvarint(b, t.duration), t.gap<<1)
	case t.gap < longGap>>1:
		b = binary.AppendUvarint(binary.AppendUvarint(b, t.duration), t.gap<<1|1)
		b = binary.AppendVarint(b, jump)
	default:
		b = binary.AppendUvarint(binary.AppendUvarint(b, t.duration), longGap)
		b = binary.AppendUvarint(binary.AppendVarint(b, jump), t.gap)
	}
	l.pending = b
	l.ended = l.calls
	l.calls++
	if l.count++; l.count >= frameItems {
		l.flush()
	}
}

// addAll does what add does for consecutive calls. Most records take two to four bytes, and are written here without
// computing their size first.
func (l *streamLog) addAll(begins, gaps, durations []uint64, start uint64) {
	gaps, durations = gaps[:len(begins)], durations[:len(begins)]
	for i := 0; i < len(begins); i++ {
		if l.over || l.count == 0 || l.count+len(begins) >= frameItems {
			l.add(callTimes{begins[i], gaps[i], durations[i]}, start)
			continue
		}
		from := i
		b := slices.Grow(l.pending, 4*len(begins))
		k, end := len(b), uint64(l.end)
		b = b[:k+4*len(begins)]
		for ; i < len(begins); i++ {
			begin, gap, duration := begins[i]-start, gaps[i], durations[i]
			if end+gap != begin || (duration|gap)>>13 != 0 {
				break
			}
			gap <<= 1
			end = begin + duration
			more := (0x7f - duration) >> 63
			binary.LittleEndian.PutUint16(b[k:], uint16(duration&0x7f|more<<7|duration>>7<<8))
			k += 1 + int(more)
			more = (0x7f - gap) >> 63
			binary.LittleEndian.PutUint16(b[k:], uint16(gap&0x7f|more<<7|gap>>7<<8))
			k += 1 + int(more)
		}
		l.pending, l.end = b[:k], int64(end)
		l.calls += uint64(i - from)
		l.count += i - from
		l.ended = l.calls - 1
		if i < len(begins) {
			l.add(callTimes{begins[i], gaps[i], durations[i]}, start)
		}
	}
}

// mostDelays is the largest number of delays that are kept of a thread. They take about 1 MB.
const mostDelays = 1 << 15

// delayed records for how many nanoseconds the thread waited for a processor: in the gap before the call that ended
// last, and within that call.
func (l *streamLog) delayed(before, within uint64) {
	if len(l.delays) < mostDelays {
		l.delays = append(l.delays, track.SchedulingDelay{CallIndex: l.ended, BeforeCallNs: int64(before & math.MaxInt64), InCallNs: int64(within & math.MaxInt64)})
	}
}

// shed discards the older half of the log; all of it if that fails.
func (l *streamLog) shed() {
	i := slices.IndexFunc(l.marks, func(m mark) bool { return m.offset > l.size-l.limit/2 })
	if i < 0 || len(l.memory) > 0 || l.forget(l.marks[i].offset) != nil {
		l.over, l.marks = true, nil
		l.drop()
		return
	}
	l.begins = l.marks[i]
	l.marks = slices.Delete(l.marks, 0, i)
}

// mostLog is the largest size in bytes of a log from which only summaries such as wait states get into the trace. If
// the log is in memory, because no file can be written, the limit is mostLog/inMemory.
var mostLog int64 = 64 << 20

const inMemory = 8

// resume continues the log of a dead process's thread.
func (l *streamLog) resume(dir string, thread int) error {
	if err := l.frames.resume(logPath(dir, thread)); err != nil {
		return fmt.Errorf("times of calls: %w", err)
	}
	if err := l.values.resume(valuePath(dir, thread)); err != nil {
		return fmt.Errorf("attached values: %w", err)
	}
	return nil
}

func (l *streamLog) flush() {
	l.frames.flush()
	if l.limit > 0 && (l.size-l.from > l.limit || int64(len(l.memory)) > l.limit/inMemory) {
		l.shed()
	}
	l.values.flush()
}

func (l *streamLog) close() {
	l.frames.close()
	l.values.close()
}

func (l *streamLog) code(c *wire.Coder) {
	if c.Reader != nil {
		l.marks, l.begins = nil, mark{}
	}
	l.frames.code(c)
	wire.CodeUints(c, &l.calls)
	wire.CodeIntegers(c, &l.end)
	wire.CodeUints(c, &l.ended)
	c.Bool(&l.over)
	wire.CodeUints(c, &l.begins.calls)
	wire.CodeIntegers(c, &l.begins.end)
	l.values.code(c)
}

func parseEntries(data []byte, calls uint32) ([]timing.CallTicks, error) {
	r := wire.NewReader(data, "times")
	if int64(calls)*2 > int64(len(data)) {
		return nil, errFrame
	}
	entries := make([]timing.CallTicks, calls)
	for i := range entries {
		e := &entries[i]
		e.Duration = r.Uvarint()
		gap := r.Uvarint()
		e.Gap = gap >> 1
		if gap&1 != 0 {
			v := r.Uvarint() // the jump in zigzag encoding, as written by binary.AppendVarint
			e.BeginOffset = int64(v>>1) ^ -int64(v&1)
		}
		if gap == longGap {
			e.Gap = r.Uvarint()
		}
	}
	return entries, r.Finish()
}

// logTimes records the times of a call that is added to the grammar.
func (c *Capture) logTimes(s *stream, t callTimes) {
	if s.log != nil {
		s.log.add(t, c.cfg.StartTicks)
	}
}

// newLog returns a log for a thread; nil if the timing options need no times of single calls.
func (c *Capture) newLog(thread int) *streamLog {
	if !c.cfg.Timing.NeedsLog() {
		return nil
	}
	l := &streamLog{}
	if !c.cfg.Timing.Mode.NeedsLog() {
		l.limit, l.plain = mostLog, mostLog/8
	}
	if c.cfg.ProcessDir != "" {
		l.path, l.values.path = logPath(c.cfg.ProcessDir, thread), valuePath(c.cfg.ProcessDir, thread)
	}
	return l
}

func logPath(dir string, thread int) string {
	return filepath.Join(dir, fmt.Sprintf("times.%d", thread))
}

// TimeLog returns the times of every call; nil if they were not kept, or discarded.
func (c *Capture) TimeLog() *track.TimeLog {
	log := &track.TimeLog{Options: c.cfg.Timing, TicksPerNs: c.cfg.TicksPerNs, StartNs: c.cfg.StartNs}
	attached := false
	var values []iter.Seq2[[]timing.AttachedNumber, error]
	for _, s := range c.streams {
		if s.log == nil || s.log.over {
			return nil
		}
		log.DroppedTimes = append(log.DroppedTimes, track.DroppedTimes{Calls: s.log.begins.calls, LastEndTick: s.log.begins.end})
		log.SchedulingDelays = append(log.SchedulingDelays, s.log.delays)
		log.Streams = append(log.Streams, each(&s.log.frames, parseEntries))
		values = append(values, s.log.values.all())
		attached = attached || !s.log.values.empty()
	}
	if attached {
		log.AttachedNames, log.AttachedNumbers = c.attached.names, values
	}
	return log
}
