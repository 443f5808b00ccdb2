package track

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/hist"
)

// TimesByPrevious collects the times of a thread's calls, separately for each place of the call before. A place is a
// function and a call site.
type TimesByPrevious struct {
	lines bool
	hists bool
	rank  int32

	places []int // by terminal: its place, as the lowest terminal with that function and site
	known  map[[2]uint64]int
	last   int // place of the latest call; NoPreviousTerminal: no call was added yet
	of     map[pathKey]*path
}

type pathKey struct{ terminal, from int }

// A path is the times of calls with one terminal that follow a call at one place. Index 0 is gaps, 1 is durations.
type path struct {
	lines [2]timing.PhaseTracker
	hists [2]*hist.Hist
}

// NewTimesByPrevious returns an empty TimesByPrevious that collects phases if lines is set, and histograms if hists is
// set.
func NewTimesByPrevious(rank int, lines, hists bool) *TimesByPrevious {
	return &TimesByPrevious{lines: lines, hists: hists, rank: int32(rank), known: make(map[[2]uint64]int), last: NoPreviousTerminal, of: make(map[pathKey]*path)}
}

// TimesByPreviousOf is NewTimesByPrevious, with the places of the terminals of track t set.
func TimesByPreviousOf(t *Track, lines, hists bool) *TimesByPrevious {
	p := NewTimesByPrevious(t.Rank, lines, hists)
	for i := range t.Signatures {
		p.AddTerminalSite(t.Signatures[i].FunctionID, t.Signatures[i].Site)
	}
	return p
}

// TerminalCount returns the number of terminals whose place is set.
func (p *TimesByPrevious) TerminalCount() int { return len(p.places) }

// AddTerminalSite sets the place of the next terminal, in order of numbers.
func (p *TimesByPrevious) AddTerminalSite(call uint16, site uint64) {
	at := [2]uint64{uint64(call), site}
	if _, ok := p.known[at]; !ok {
		p.known[at] = len(p.places)
	}
	p.places = append(p.places, p.known[at])
}

// Add adds the times of the thread's next call, which has terminal n.
func (p *TimesByPrevious) Add(n uint32, gap, duration uint64) {
	k := pathKey{int(n), p.last}
	p.last = p.places[n]
	x := p.of[k]
	if x == nil {
		x = &path{}
		if p.hists {
			x.hists = [2]*hist.Hist{hist.New(hist.DefaultBins, p.rank), hist.New(hist.DefaultBins, p.rank)}
		}
		p.of[k] = x
	}
	for i, v := range [2]uint64{gap, duration} {
		if p.lines {
			x.lines[i].Add(v)
		}
		if p.hists {
			x.hists[i].Add(v)
		}
	}
}

// CoursesAndHists returns the collected times as a track has them. number is the new number of each terminal, and
// several may get the same; nil leaves them unchanged.
func (p *TimesByPrevious) CoursesAndHists(number []int) (courses []Course, hists []Hist) {
	renamed := func(n int) int {
		if number == nil {
			return n
		}
		return number[n]
	}
	lowest := make(map[int]int) // by place: the lowest new number of a terminal there
	for n, place := range p.places {
		if at, ok := lowest[place]; !ok || renamed(n) < at {
			lowest[place] = renamed(n)
		}
	}
	keys := slices.SortedFunc(maps.Keys(p.of), func(a, b pathKey) int {
		return cmp.Or(cmp.Compare(a.terminal, b.terminal), cmp.Compare(a.from, b.from))
	})
	now := func(k pathKey) pathKey {
		if k.from != NoPreviousTerminal {
			k.from = lowest[k.from]
		}
		return pathKey{renamed(k.terminal), k.from}
	}
	slices.SortStableFunc(keys, func(a, b pathKey) int {
		a, b = now(a), now(b)
		return cmp.Or(cmp.Compare(a.terminal, b.terminal), cmp.Compare(a.from, b.from))
	})
	for i, before := range keys {
		x, k := p.of[before], now(before)
		if i == 0 || now(keys[i-1]) != k {
			if p.lines {
				courses = append(courses, Course{Terminal: k.terminal, PreviousTerminal: k.from, GapPhases: x.lines[0].Phases(), DurationPhases: x.lines[1].Phases()})
			}
			if p.hists {
				hists = append(hists, Hist{Terminal: k.terminal, PreviousTerminal: k.from, Gap: x.hists[0], Duration: x.hists[1]})
			}
			continue
		}
		if p.lines {
			c := &courses[len(courses)-1]
			c.GapPhases = timing.ReducePhases(append(c.GapPhases, x.lines[0].Phases()...), timing.MaxPhases, 0)
			c.DurationPhases = timing.ReducePhases(append(c.DurationPhases, x.lines[1].Phases()...), timing.MaxPhases, 0)
		}
		if p.hists {
			h := &hists[len(hists)-1]
			h.Gap, h.Duration = h.Gap.Clone(), h.Duration.Clone()
			h.Gap.Merge(x.hists[0])
			h.Duration.Merge(x.hists[1])
		}
	}
	return courses, hists
}
