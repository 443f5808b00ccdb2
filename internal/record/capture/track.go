package capture

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/grammar"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Track ends the capture and returns the track. Calls that are unfinished have the return code ReturnCodeNeverReturned, and
// last until the process ended, if that is known. MPI_Finalize of a live process is an exception: it is unfinished only
// because the track is made within it; see SetAllArrivedTicks.
func (c *Capture) Track(end string) (*track.Track, error) {
	t, err := c.leanTrack(end, false)
	if err != nil {
		return nil, err
	}
	n := t.StoredDistinctCalls.Len()
	t.Signatures, t.Times = make([]signature.Signature, n), make([]track.Times, n)
	var s signature.Signature
	var room []int64 // memory for the values of many signatures
	for i := range n {
		if err := t.StoredDistinctCalls.Fill(i, &s); err != nil {
			return nil, err
		}
		if len(s.Values) > cap(room)-len(room) {
			room = make([]int64, 0, max(len(s.Values), min(valuesRoom, len(s.Values)*(n-i))))
		}
		from := len(room)
		room = append(room, s.Values...)
		t.Signatures[i] = signature.Signature{FunctionID: s.FunctionID, Site: s.Site, Values: room[from:len(room):len(room)]}
		t.Times[i] = t.StoredDistinctCalls.Times(i)
	}
	t.StoredDistinctCalls = nil
	return t, nil
}

// SetAllArrivedTicks sets when all ranks had reached MPI_Finalize, by the records' clock. MPI_Finalize of a live process is
// unfinished when the track is made, so it is recorded to last until then.
func (c *Capture) SetAllArrivedTicks(ticks uint64) { c.came = ticks }

// TrackSavingMemory is Track, but leaves the distinct calls in the capture. A large capture is saved first, and freed when
// the track's calls are released, as it must not be in memory together with the result. If the merge fails, the saved
// capture is still in the process directory.
func (c *Capture) TrackSavingMemory(end string) (*track.Track, error) {
	large := c.HeldBytes() > muchHeld
	if large {
		c.Checkpoint()
	}
	return c.leanTrack(end, large)
}

func (c *Capture) leanTrack(end string, release bool) (*track.Track, error) {
	until := c.openUntil()
	for _, s := range c.streams {
		for s.depth > 0 {
			f := &s.frames[s.depth-1]
			left := until
			if f.left != 0 {
				left = max(f.left, c.came)
			} else if f.prog.stays() && end == track.EndFinished {
				f.key[rcAt], left = 0, max(until, c.came)
			}
			c.finish(s, f, max(f.begin, left))
			for _, rec := range f.values {
				if err := c.attach(s, rec); err != nil {
					return nil, fmt.Errorf("capture: thread %d: %w", s.thread, err)
				}
			}
		}
	}
	c.settleTimes()
	if release {
		c.close()
	}
	t := &track.Track{Rank: c.cfg.Rank, Timeless: c.timeless, Strings: c.strings.Table()}
	t.Sites, t.CallerSite, t.SiteWithoutStack = c.sites.Table()
	grammars := make([]*grammar.Grammar, len(c.streams))
	for i, s := range c.streams {
		var err error
		if grammars[i], err = s.grammar.Grammar(c.sigs.Len(), release); err != nil {
			return nil, fmt.Errorf("capture: thread %d: %w", i, err)
		}
	}
	folding := c.sigs.Promote(grammars)
	var order []uint32
	t.Streams, order, _ = track.RenumberTerminals(folding.Streams, c.sigs.Len()) // changes the grammars, which nothing else uses
	if len(t.Streams) == 0 {
		t.Streams = []track.Stream{{Grammar: grammar.NewBuilder().Grammar()}}
	}
	d := &distinct{c: c, release: release, order: order, from: folding.PlainSignatures, firsts: make(map[int][]int64)}
	for i, n := range order {
		if c.sigs.Lane(n) == nil {
			continue
		}
		k := c.sigs.Key(n)
		order, err := c.program(k.FunctionID()).order(new(ordering), k.Values())
		if err != nil {
			return nil, fmt.Errorf("capture: signature %d: %w", n, err)
		}
		vals := inOrder(make([]int64, 0, len(order)), k.Values(), order)
		lane, ok := folding.LaneOf(n, i, vals, order)
		if !ok {
			return nil, fmt.Errorf("capture: signature %d: a lane without values", n)
		}
		t.Lanes = append(t.Lanes, lane)
		d.firsts[i] = vals
	}
	t.StoredDistinctCalls = d
	t.Hists = c.hists.track(order, folding.PlainSignatures, 1/c.cfg.TicksPerNs)
	t.Courses = c.trackCourses(order, folding.PlainSignatures)
	if t.AnalysisTimeLog = c.TimeLog(); c.cfg.Timing.Mode.NeedsLog() {
		t.TimeLog = t.AnalysisTimeLog
	}
	t.AttachedStats = c.attached.byTerminal(order, folding.PlainSignatures)
	t.Allocs = c.trackAllocs(&c.allocs, func(s *stream) *allocStream { return &s.allocStream })
	t.Handovers = c.trackAllocs(&c.handovers.events, func(s *stream) *allocStream { return &s.handovers.events })
	t.Process = c.process(end)
	return t, nil
}

// HeldBytes returns approximately how many bytes of memory the recorded calls take.
func (c *Capture) HeldBytes() int {
	n := c.sigs.HeldBytes() + cap(c.checkpoints.buffer)
	for _, s := range c.streams {
		n += s.grammar.Size() + cap(s.terminals)
	}
	return n
}

// FreeCalls frees the recorded calls, after a track was made of them. The capture is then unusable: later records
// stay in their rings.
func (c *Capture) FreeCalls() {
	c.close()
	c.sigs, c.hists, c.phases, c.checkpoints.buffer, c.checkpoints.times = signature.LaneTable{}, nil, nil, nil, nil
	for _, s := range c.streams {
		s.grammar.parts.close()
		s.grammar, s.terminals, s.phases = newSequence("", MaxGrammarBytes), nil, nil
	}
}

// close frees the data for recording further calls.
func (c *Capture) close() {
	c.released = true
	c.sigs.Close()
	c.cache = recordCache{}
}

// valuesRoom is how many values of signatures are allocated at once.
const valuesRoom = 1 << 12

// distinct is a track's distinct calls, still in the capture.
type distinct struct {
	c       *Capture
	release bool
	order   []uint32                // by distinct call of the track: number of its signature in c
	from    func(n uint32) []uint32 // returns the signatures whose calls are now in the lane of signature n
	firsts  map[int][]int64         // by distinct call with a lane: values of the lane's first call
	room    ordering
}

func (d *distinct) Len() int { return len(d.order) }

func (d *distinct) DescribeCall(i int) (call uint16, site uint64, width int) {
	k := d.c.sigs.PeekKey(d.order[i])
	return k.FunctionID(), k.Site(), len(k.Values())
}

func (d *distinct) Fill(i int, s *signature.Signature) error {
	k := d.c.sigs.PeekKey(d.order[i])
	s.FunctionID, s.Site = k.FunctionID(), k.Site()
	if vals, ok := d.firsts[i]; ok {
		s.Values = append(s.Values[:0], vals...)
		return nil
	}
	places, err := d.c.program(k.FunctionID()).order(&d.room, k.Values())
	if err != nil {
		return fmt.Errorf("capture: signature %d: %w", d.order[i], err)
	}
	s.Values = inOrder(s.Values[:0], k.Values(), places)
	return nil
}

func (d *distinct) Times(i int) track.Times {
	duration, gap := d.c.sigs.TimesOf(d.order[i])
	for _, m := range d.from(d.order[i]) {
		x, y := d.c.sigs.TimesOf(m)
		duration.Merge(x)
		gap.Merge(y)
	}
	return track.Times{Duration: d.c.ns(duration), Gap: d.c.ns(gap)}
}

func (d *distinct) ReleaseAll() {
	if d.release {
		d.c.FreeCalls()
	}
}

// muchHeld is how many bytes a capture may keep although its track is made; TrackSavingMemory frees larger captures.
const muchHeld = 4 << 20

func (c *Capture) process(end string) track.Process {
	p := track.Process{
		Host: c.cfg.Host, PID: c.cfg.PID, EndState: end, LostCalls: (c.lost + 1) / 2, Threads: len(c.streams), WorkingFolder: c.cfg.Cwd,
	}
	if c.timeless {
		return p
	}
	p.StartNs = c.cfg.StartNs
	if c.first != 0 {
		p.StartNs += int64(float64(int64(c.first-c.cfg.StartTicks)) / c.cfg.TicksPerNs)
		p.Asides = c.trackAsides()
		if sum := c.asides.sum(); c.latest > c.first+sum {
			p.SpanNs = int64(c.toNs(c.latest - c.first - sum))
		}
	}
	return p
}

// Calibrate sets the rate of the tick counter from a second reading of it and of the wall clock, in ns. It ignores a
// reading that is too near to the first one to be accurate. It also ignores an implausible rate, as the wall clock may
// have been set.
func (c *Capture) Calibrate(ticks uint64, ns int64) {
	const enough = 1e9
	elapsed := float64(ns - c.cfg.StartNs)
	if elapsed < enough || ticks <= c.cfg.StartTicks {
		return
	}
	rate := float64(ticks-c.cfg.StartTicks) / elapsed
	if r := rate / c.cfg.TicksPerNs; r > 0.999 && r < 1.001 {
		c.cfg.TicksPerNs = rate
	}
}

func (c *Capture) toNs(ticks uint64) uint64 {
	return uint64(float64(ticks)/c.cfg.TicksPerNs + 0.5)
}

func (c *Capture) ns(s model.Stat) model.Stat { return s.Scale(1 / c.cfg.TicksPerNs) }
