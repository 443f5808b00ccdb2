package capture

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
)

// phases records how the times of a thread's calls changed over the run, by distinct call and call site of the
// previous call. So leaves of the program's structure can have separate times, even if calls at several leaves are
// equal.
//
// Its memory is bounded. No phases are kept for terminals from number maxPhased on, nor for a terminal whose calls
// follow calls from more than maxFrom sites, or that needs a course beyond maxCourses.
type phases struct {
	sigs  *signature.Table
	sites siteNumbers
	heads []phaseHead // by terminal
	list  []*course
	over  bool // the phases take more than maxChunked bytes: nothing is recorded

	numbers int  // number of courses of attached values
	blind   bool // the courses of attached values take more than maxChunked bytes: no such values are recorded
}

const (
	maxPhased  = 1 << 13 // how many terminals of a thread may have courses
	maxCourses = 1 << 12 // largest number of courses of a thread
	maxFrom    = 16      // largest number of courses of a terminal
	maxWhole   = 1 << 8  // number of courses, the first ones, that may have timing.MaxPhases phases; others have fewer
	maxNumbers = 1 << 12 // largest number of courses of a thread's attached values; maxWhole limits their phases, too
)

// A phaseHead is a terminal's list of courses, the last used one first.
type phaseHead struct {
	first *course
	from  uint32 // course.from of the first course in the list
	count int16  // number of courses; maxFrom + 1: they were discarded
	blind bool   // no more attached values are recorded for the terminal's calls, as maxNumbers was reached
}

// A course is the times of the calls of a terminal after calls from one site.
type course struct {
	times    timing.PhaseTrackerPair // in ticks, gaps first, then durations
	from     uint32                  // number of the previous call's site + 1; 0: no previous call
	terminal uint32
	values   []*timing.NumberPhases // attached values, by number of the name; a nil element: none of that name so far
	next     *course
}

func newPhases(o timing.Options, sigs *signature.Table) *phases {
	if o.Mode.NeedsLog() {
		return nil
	}
	return &phases{sigs: sigs, sites: siteNumbers{sigs: sigs}}
}

// add counts a call of terminal n after one of terminal prev.
func (p *phases) add(n, prev uint32, duration, gap uint64) {
	from := p.sites.from(prev)
	if int(n) < len(p.heads) {
		if h := &p.heads[n]; h.from == from && h.first != nil {
			h.first.times.Add(gap, duration)
			return
		}
	}
	if x := p.find(n, from); x != nil {
		x.times.Add(gap, duration)
	}
}

// addEach counts calls of terminal n after calls of terminal prev. Their times are every step-th element of durations
// and gaps, from the first on.
func (p *phases) addEach(n, prev uint32, durations, gaps []uint64, step int) {
	if x := p.find(n, p.sites.from(prev)); x != nil {
		x.times.AddEach(gaps, durations, step)
	}
}

// find moves a course to the beginning of its terminal's list, and returns it; nil if the limits do not allow a new
// one.
func (p *phases) find(n, from uint32) *course {
	if n >= maxPhased || p.over {
		return nil
	}
	if int(n) >= len(p.heads) {
		p.heads = append(p.heads, make([]phaseHead, max(64, 2*len(p.heads), int(n)+1)-len(p.heads))...)
	}
	h := &p.heads[n]
	if h.count > maxFrom {
		return nil
	}
	for x, before := h.first, (*course)(nil); x != nil; x, before = x.next, x {
		if x.from == from {
			if before != nil {
				before.next, x.next, h.first, h.from = x.next, h.first, x, from
			}
			return x
		}
	}
	if h.count == maxFrom || len(p.list) == maxCourses {
		if h.first != nil {
			p.list = slices.DeleteFunc(p.list, func(x *course) bool { return x.terminal == n })
		}
		h.first, h.count = nil, maxFrom+1
		return nil
	}
	x := &course{from: from, terminal: n, next: h.first}
	if len(p.list) >= maxWhole {
		x.times.UseReducedMaxPhases()
	}
	h.first, h.from = x, from
	h.count++
	p.list = append(p.list, x)
	return x
}

// siteNumbers numbers call sites: pairs of a function and the site that calls it.
type siteNumbers struct {
	sigs  *signature.Table
	of    []uint32 // by terminal: number of its call site
	known map[callSite]uint32
}

type callSite struct {
	call uint16
	site uint64
}

// from returns the number of terminal n's call site plus 1; 0 if n is signature.NoTerminal, as before a first call.
func (s *siteNumbers) from(n uint32) uint32 {
	if int(n) < len(s.of) {
		return s.of[n] + 1
	}
	return s.fromSlowly(n)
}

// fromSlowly is from for terminals whose sites have no numbers yet. It is separate, so that from can be inlined.
//
//go:noinline
func (s *siteNumbers) fromSlowly(n uint32) uint32 {
	if n == signature.NoTerminal {
		return 0
	}
	s.grow()
	return s.of[n] + 1
}

// grow numbers the sites of all current terminals.
func (s *siteNumbers) grow() {
	if s.known == nil {
		s.known = make(map[callSite]uint32)
	}
	for n := len(s.of); n < s.sigs.Len(); n++ {
		k := s.sigs.Key(uint32(n))
		at := callSite{k.FunctionID(), k.Site()}
		number, ok := s.known[at]
		if !ok {
			number = uint32(len(s.known))
			s.known[at] = number
		}
		s.of = append(s.of, number)
	}
}

// stands returns, by number of a call site, the lowest of a track's terminals that are called there. The track names
// the site by that terminal. order is as in phases.track.
func (s *siteNumbers) stands(order []uint32) map[uint32]int {
	s.grow()
	m := make(map[uint32]int)
	for i, n := range order {
		if _, ok := m[s.of[n]]; !ok {
			m[s.of[n]] = i
		}
	}
	return m
}

// code codes all phases; reading replaces the existing ones.
func (p *phases) code(c *wire.Coder) {
	c.Bool(&p.over)
	n := len(p.heads)
	if wire.CodeBounded(c, &n, maxPhased); c.Reader != nil {
		p.heads, p.list = make([]phaseHead, n), nil
		p.sites.grow()
	}
	for i := range p.heads {
		h := &p.heads[i]
		if wire.CodeBounded(c, &h.count, maxFrom+1); c.Reader != nil && h.count <= maxFrom {
			last := &h.first
			for range h.count {
				x := &course{terminal: uint32(i)}
				*last, last = x, &x.next
				p.list = append(p.list, x)
			}
		}
		for x := h.first; x != nil && !c.Failed(); x = x.next {
			wire.CodeBounded(c, &x.from, len(p.sites.known))
			x.times.Code(c)
		}
		if h.first != nil {
			h.from = h.first.from
		}
	}
}

// track returns the courses of a track. order holds the signature of each of the track's terminals, more(n) other
// signatures whose calls became calls of that terminal, and precede its own. ns is nanoseconds per tick.
func (p *phases) track(order []uint32, more func(uint32) []uint32, ns float64) []track.Course {
	if p == nil || p.over {
		return nil
	}
	stands := p.sites.stands(order)
	var out []track.Course
	for i, n := range order {
		list, whole := p.coursesOf(i, append(slices.Sorted(slices.Values(more(n))), n), stands, func(c *track.Course, x *course) {
			c.GapPhases = append(c.GapPhases, scaled(x.times.Phases(0), ns)...)
			c.DurationPhases = append(c.DurationPhases, scaled(x.times.Phases(1), ns)...)
		})
		if whole {
			out = append(out, list...)
		}
	}
	return out
}

// coursesOf joins the courses of members, the signatures whose calls form one terminal of a track. It calls add to
// append the phases of one of their courses. The list is sorted by the previous call's terminal. whole is false if
// courses of members were discarded.
func (p *phases) coursesOf(terminal int, members []uint32, stands map[uint32]int, add func(*track.Course, *course)) (list []track.Course, whole bool) {
	for _, m := range members {
		if m >= maxPhased {
			return nil, false
		}
		if int(m) >= len(p.heads) {
			continue // only other threads have made calls with this signature
		}
		if p.heads[m].count > maxFrom {
			return nil, false
		}
		for x := p.heads[m].first; x != nil; x = x.next {
			from := track.NoPreviousTerminal
			if x.from > 0 {
				at, ok := stands[x.from-1]
				if !ok {
					return nil, false
				}
				from = at
			}
			at := slices.IndexFunc(list, func(c track.Course) bool { return c.PreviousTerminal == from })
			if at < 0 {
				at = len(list)
				list = append(list, track.Course{Terminal: terminal, PreviousTerminal: from})
			}
			add(&list[at], x)
		}
	}
	for k := range list {
		for _, phases := range []*[]timing.Phase{&list[k].GapPhases, &list[k].DurationPhases, &list[k].CountPhases} {
			*phases = timing.ReducePhases(*phases, timing.MaxPhases, 0)
		}
	}
	slices.SortFunc(list, func(a, b track.Course) int { return a.PreviousTerminal - b.PreviousTerminal })
	return list, true
}

func scaled(list []timing.Phase, ns float64) []timing.Phase {
	for i := range list {
		list[i].Sum = uint64(float64(list[i].Sum)*ns + 0.5)
	}
	return list
}

// maxChunked is the largest size in bytes of a thread's phases in a checkpoint, and of its attached values' phases.
// Every checkpoint writes them as a whole. Larger ones are discarded.
const maxChunked = 64 << 10

// codePhases codes the phases p and returns them; reading returns new ones if p is nil. A thread without phases
// never gets any, as its first calls would be missing.
func (c *Capture) codePhases(x *wire.Coder, p *phases) *phases {
	has := p != nil
	if x.Bool(&has); !has || x.Failed() {
		return nil
	}
	if p == nil {
		if p = newPhases(c.cfg.Timing, &c.sigs.Table); p == nil {
			x.RefuseIf(true, "phases beside the times of all calls")
			return nil
		}
	}
	before := len(x.Buf)
	if p.code(x); len(x.Buf)-before > maxChunked {
		x.Buf = x.Buf[:before]
		*p = *newPhases(c.cfg.Timing, &c.sigs.Table)
		p.over = true
		p.code(x)
	}
	before = len(x.Buf)
	if p.codeNumbers(x); len(x.Buf)-before > maxChunked {
		x.Buf = x.Buf[:before]
		p.blind = true
		p.codeNumbers(x)
	}
	return p
}

// codeFurther codes the phases of the threads after the first.
func (c *Capture) codeFurther(x *wire.Coder) {
	for i, s := range c.streams {
		if i == 0 {
			s.phases = c.phases
		} else {
			s.phases = c.codePhases(x, s.phases)
		}
	}
}

// phasesOf returns the initial phases of a thread without calls. Threads after the first record phases of attached
// values only.
func (c *Capture) phasesOf(thread int) *phases {
	switch {
	case thread == 0:
		return c.phases
	case len(c.attached.names) > 0:
		return newPhases(c.cfg.Timing, &c.sigs.Table)
	}
	return nil
}
