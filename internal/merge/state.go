package merge

import (
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A MergedBlock is the merged tracks of a contiguous block of ranks.
type MergedBlock struct {
	first, ranks int
	classes      []*class
	index        map[string]*class // by key
	strings      map[uint64]string
	sites        map[uint64]model.Site
	outer        map[uint64]uint64 // by hash of a site with a stack: hash of its caller's site
	processes    sections.Processes
	allocs       allocSets
	handovers    allocSets
	keepsLanes   bool // the times of single calls refer to the recorded lanes, so these must stay

	// Problems lists what is missing, and for which ranks.
	Problems []Problem
}

// A Problem is why a block of ranks is missing.
type Problem struct {
	FirstRank, Ranks int
	Text             string
}

// A class is ranks whose grammars are equal except for repetition counts, and whose terminals have the same functions,
// sites and numbers of values.
type class struct {
	key      string // encoded shape; classes are compared by all of it
	ranks    column.Column
	counts   []column.Column // counts of repeated symbols, those of lanes last
	values   values
	steps    []column.Column // values of lanes' steps: by lane, step and value
	times    []summary
	totals   totals
	ranked   ranked            // nil for a single rank, see rankwise
	valued   map[string]ranked // by name of attached values, see valuewise
	attached attachments
	hists    []histogram
	courses  []course
	own      rankCourses // courses of attached values; empty for a single rank, see coursewise
	split    bool        // the class was refined: on some ranks, several terminals may have equal values

	decoded *classShape // decoded key, nil before the first use

	plain  []*class // result of withoutLanes, cached while refining
	hashed bool     // calls has been computed
	calls  uint64   // hash of the calls in order, see sequence
}

// lost returns the state of a block of ranks whose tracks are unavailable.
func lost(first, ranks int, err error) *MergedBlock {
	s := &MergedBlock{first: first, ranks: ranks, Problems: []Problem{{first, ranks, err.Error()}}}
	s.processes.AppendNone(ranks)
	return s
}

var errTimes = errors.New("signatures and times differ in number")

// leaf returns the block of a single rank, made from its track: a leaf of the tree of the merge. world is the number of
// ranks.
func leaf(tr *track.Track, rank, world int) (*MergedBlock, error) {
	if tr == nil {
		s := &MergedBlock{first: rank, ranks: 1}
		s.processes.Append(model.Process{})
		return s, nil
	}
	if tr.Rank != rank {
		return nil, fmt.Errorf("track of rank %d at rank %d", tr.Rank, rank)
	}
	if tr.StoredDistinctCalls == nil && len(tr.Signatures) != len(tr.Times) {
		return nil, errTimes
	}
	calls := uint64(0)
	streams, orders := make([]*grammar.Grammar, len(tr.Streams)), make([]*grammar.Grammar, len(tr.Lanes))
	for i, st := range tr.Streams {
		n, err := st.Grammar.CheckedLen()
		if err != nil {
			return nil, err
		}
		sum, carry := bits.Add64(calls, n, 0)
		if carry != 0 {
			return nil, errLanes
		}
		calls, streams[i] = sum, st.Grammar
	}
	for i := range tr.Lanes {
		l := &tr.Lanes[i]
		if err := l.Steps.Check(); err != nil {
			return nil, err
		}
		for _, step := range l.StepValues {
			if len(step) != len(l.ValueIndices) {
				return nil, errLanes
			}
		}
		orders[i] = l.Steps
	}
	k, sh, counts := key(tr)
	if err := sh.check(); err != nil {
		return nil, err
	}
	if err := sh.checkLanes(streams, orders); err != nil {
		return nil, err
	}
	c := &class{key: k, decoded: sh, ranks: column.ColumnOf(int64(rank))}
	for _, n := range counts {
		c.counts = append(c.counts, column.ColumnOf(n))
	}
	var err error
	if c.values, err = single(tr, sh); err != nil {
		return nil, err
	}
	c.leafSteps(tr)
	inside := c.leafTimes(tr, rank)
	tr.AllDistinctCalls().ReleaseAll()
	c.leafHists(tr)
	c.leafCourses(tr)
	if err := c.leafAttached(tr); err != nil {
		return nil, err
	}
	s := &MergedBlock{first: rank, ranks: 1, keepsLanes: tr.TimeLog != nil, strings: maps.Clone(tr.Strings), sites: make(map[uint64]model.Site, len(tr.Sites)), outer: maps.Clone(tr.CallerSite)}
	for h, site := range tr.Sites {
		s.sites[h] = model.Site{Module: site.Module, BuildID: site.BuildID, Offset: site.Offset}
	}
	s.add(c)
	s.allocs, s.handovers = leafAllocs(tr.Allocs, rank), leafAllocs(tr.Handovers, rank)
	p := tr.Process
	if !sh.namesFiles() {
		p.WorkingFolder = ""
	}
	s.processes.Append(sections.RoundProcess(model.Process{
		Host: p.Host, PID: p.PID, EndState: p.EndState, LostCalls: p.LostCalls, Threads: p.Threads, WorkingFolder: string(signature.FileTemplate([]byte(p.WorkingFolder), rank)),
		InitWallClockNs: p.StartNs, FirstThreadNs: p.SpanNs, AllThreadsMPINs: inside, Calls: int64(calls), Asides: asides(p.Asides),
	}, world))
	return s, nil
}

func asides(list []track.Aside) (out []model.Aside) {
	for _, a := range list {
		out = append(out, model.Aside{BeforeCall: a.BeforeCall, Ns: a.Ns, TracingOff: a.TracingOff})
	}
	return out
}

func (s *MergedBlock) add(c *class) {
	if s.index == nil {
		s.index = make(map[string]*class)
	}
	s.index[c.key] = c
	s.classes = append(s.classes, c)
}

// join appends the state of the ranks that directly follow those of s. If it fails, s is unchanged.
func (s *MergedBlock) join(o *MergedBlock) error {
	if o.first != s.first+s.ranks {
		return fmt.Errorf("ranks from %d can't follow rank %d", o.first, s.first+s.ranks-1)
	}
	for h, text := range o.strings {
		if t, ok := s.strings[h]; ok && t != text {
			return fmt.Errorf("two strings with hash %#x", h)
		}
	}
	for h, site := range o.sites {
		if t, ok := s.sites[h]; ok && !sameSite(t, site) {
			return fmt.Errorf("two call sites with hash %#x", h)
		}
	}
	for h, outer := range o.outer {
		if t, ok := s.outer[h]; ok && t != outer {
			return fmt.Errorf("two stacks with hash %#x", h)
		}
	}
	for _, c := range o.classes {
		if mine := s.index[c.key]; mine != nil &&
			(mine.values.nums.n != c.values.nums.n || len(mine.counts) != len(c.counts) || len(mine.times) != len(c.times) || len(mine.steps) != len(c.steps)) {
			return errors.New("class with another number of values")
		}
	}
	s.strings = union(s.strings, o.strings)
	s.sites = union(s.sites, o.sites)
	s.outer = union(s.outer, o.outer)
	for _, c := range o.classes {
		mine := s.index[c.key]
		if mine == nil {
			s.add(c)
			continue
		}
		mine.joinRanked(c)
		mine.joinOwn(c)
		mine.split = mine.split || c.split
		mine.hashed = false
		mine.ranks.Concat(c.ranks)
		for i := range c.counts {
			mine.counts[i].Concat(c.counts[i])
		}
		mine.values.join(&c.values)
		for i := range c.steps {
			mine.steps[i].Concat(c.steps[i])
		}
		for i := range c.times {
			mine.times[i].merge(&c.times[i])
		}
		mine.totals.merge(c.totals)
		mine.attached = mine.attached.merge(c.attached)
		mine.boundRanked()
		mine.joinHists(c)
		mine.joinCourses(c)
	}
	s.processes.Concat(&o.processes)
	s.allocs.join(&o.allocs)
	s.handovers.join(&o.handovers)
	s.ranks += o.ranks
	s.keepsLanes = s.keepsLanes || o.keepsLanes
	s.Problems = append(s.Problems, o.Problems...)
	s.refine()
	return nil
}

// sameSite compares sites. The same file may have different paths on different nodes, so it suffices that the paths
// end alike. The path found first is kept.
func sameSite(a, b model.Site) bool {
	return a.BuildID == b.BuildID && a.Offset == b.Offset && base(a.Module) == base(b.Module)
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// union adds the entries of b that a lacks. It may change and return a, but
// never b.
func union[V any](a, b map[uint64]V) map[uint64]V {
	if len(b) == 0 {
		return a
	}
	if a == nil {
		return maps.Clone(b)
	}
	for k, v := range b {
		if _, ok := a[k]; !ok {
			a[k] = v
		}
	}
	return a
}

// Ranks returns the number of ranks of the block.
func (s *MergedBlock) Ranks() int { return s.ranks }

// Classes returns the number of classes.
func (s *MergedBlock) Classes() int { return len(s.classes) }

// Content returns the state as the content of a trace, with or without lanes, whichever is shorter. meta describes
// the run; Content adds the problems to it.
func (s *MergedBlock) Content(meta map[string]string) (*sections.Content, error) {
	c, err := s.contentOf(s.shortest())
	if err != nil {
		return nil, err
	}
	c.Meta = maps.Clone(meta)
	if c.Meta == nil {
		c.Meta = make(map[string]string)
	}
	s.processes.WriteFolders(c.Meta)
	for i, p := range s.Problems {
		c.Meta[fmt.Sprintf("%s.%d", model.MetaProblemPrefix, i)] =
			fmt.Sprintf("ranks %d to %d: %s", p.FirstRank, p.FirstRank+p.Ranks-1, p.Text)
	}
	return c, nil
}

// contentOf returns the content of a trace with these classes.
func (s *MergedBlock) contentOf(list []*class) (*sections.Content, error) {
	c := &sections.Content{
		Ranks: s.ranks, Strings: s.strings, Sites: s.sites, CallerSites: s.outer, Processes: s.processes, Allocs: s.allocs.inFile(), Handovers: s.handovers.inFile(),
	}
	for _, cl := range list {
		out, err := cl.inFile()
		if err != nil {
			return nil, fmt.Errorf("merge: %w", err)
		}
		c.Classes = append(c.Classes, out)
	}
	return c, nil
}

func (c *class) inFile() (sections.Class, error) {
	shape, err := c.parse()
	if err != nil {
		return sections.Class{}, err
	}
	out := sections.Class{Ranks: c.ranks, Streams: shape.streams, RepetitionCounts: c.counts, Histograms: c.traceHists(), AttachedStats: c.attached.inFile(shape)}
	c.laneContent(&out, shape)
	out.Terminals = c.terminals(shape)
	out.LeafMeanTimes, out.FirstCallMeanTimes, out.TerminalsWithoutLeafTimes = c.placed(shape, out.Terminals)
	c.rankColumns(&out, shape)
	c.placeValues(&out, shape)
	return out, nil
}

// fileTerminals are a class's terminals in the form of a file, converted on demand.
type fileTerminals struct {
	c  *class
	sh *classShape
	// A summary's times are stored with its first terminal, a place's totals with the first terminal of the place.
	pools []int32      // by summary: its first terminal
	sites map[int]int  // by the first terminal of a call site: index of the site's totals
	room  []column.Run // memory for the runs of the terminal that was converted last
}

func (c *class) terminals(sh *classShape) *fileTerminals {
	t := &fileTerminals{c: c, sh: sh, pools: make([]int32, 0, sh.summaries), sites: make(map[int]int)}
	for i, n := range sh.summary {
		if int(n) == len(t.pools) {
			t.pools = append(t.pools, int32(i))
		}
	}
	for i := range sh.of {
		if i == sh.place(i) {
			t.sites[i] = len(t.sites)
		}
	}
	return t
}

func (t *fileTerminals) Len() int { return t.sh.terminals() }

func (t *fileTerminals) Describe(n int, to *sections.Terminal) {
	k := t.sh.skeleton(n)
	*to = sections.Terminal{FunctionID: k.call, Site: k.site, Values: t.c.values.of(to.Values[:0], &t.room, &t.sh.valueLayout, n, k.width)}
}

// Times returns the times of a terminal; none before the class is finished.
func (t *fileTerminals) Times(n int) (times model.Times) {
	if p := t.sh.summary[n]; int(t.pools[p]) == n && int(p) < len(t.c.times) {
		times.Duration, times.Gap = t.c.times[p].duration, t.c.times[p].gap
	}
	if t.sh.place(n) == n {
		if s := t.sites[n]; s < len(t.c.totals) {
			times.SiteDurationTotals, times.SiteGapTotals = t.c.totals[s].duration, t.c.totals[s].gap
		}
	}
	return times
}
