// Package reduce makes smaller traces: of a part of the run (Cut), of changed calls (ChangeValues), and with nearly
// equal sizes merged (ReduceTrace).
//
// A part is what would have been recorded had the recorder been switched on only there.
//
// Invariants:
//
//  1. Calls of the part MUST be there with all their values; requests are numbered anew, and those that
//     were made outside are unknown, as where a recorder was switched on late.
//  2. Calls outside that make or free communicators, datatypes, windows, files, groups and other objects, or
//     persistent requests, MUST stay, without times: else handles within would mean nothing.
//  3. Times MUST stay where they were on the run's time line, between ranks as well; what lies between two
//     pieces of a part is time with the recorder switched off.
package reduce

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// mostCalls is the largest number of calls that a part may have, as the time of Cut is proportional to it.
const mostCalls = 1 << 30

// A CutResult is a trace of a part of a run. It is valid until Close.
type CutResult struct {
	Content       *sections.Content
	Calls         uint64 // number of calls in the part, without ContextCalls
	ContextCalls  uint64 // number of calls outside the part that are kept, as they make or free objects
	Notes         []string
	IterationCall *trace.Call   // the call that begins an iteration of the main loop, on the first rank that has it; nil if iterations weren't asked for
	code          *trace.Code   // of the whole trace, nil if it has none
	from          *trace.Reader // trace whose site numbers code uses
	close         func()
}

// Close closes the files that the content is read from.
func (p *CutResult) Close() { p.close() }

// Cut cuts a part out of a trace. progress is called after each rank.
func Cut(r *trace.Reader, w Selection, progress func(ranks int)) (*CutResult, error) {
	return of(r, w, nil, progress)
}

func of(r *trace.Reader, w Selection, ch *ValueChange, progress func(ranks int)) (p *CutResult, err error) {
	x := &cutter{r: r, ch: ch, w: w, part: &CutResult{}}
	if x.spans, err = x.w.spans(r); err != nil {
		return nil, err
	}
	if w.Loop == MainLoop {
		x.part.IterationCall = x.w.begins
	}
	for _, streams := range x.spans {
		for _, list := range streams {
			for _, s := range list {
				x.part.Calls += s.End - s.First
			}
		}
	}
	switch {
	case x.part.Calls == 0:
		return nil, errors.New("no call is within")
	case x.part.Calls > mostCalls:
		return nil, fmt.Errorf("%d calls are within, and each would be looked at: at most %d, take a smaller part", x.part.Calls, mostCalls)
	}
	if x.kept, err = x.exemplar(); err != nil {
		return nil, err
	}
	options, err := x.timing()
	if err != nil {
		return nil, err
	}
	if x.zero, x.base, err = origin(r); err != nil {
		return nil, err
	}
	to, err := trackwriter.NewCollector(r.Ranks(), options)
	if err != nil {
		return nil, err
	}
	x.part.close = to.Close
	defer func() {
		if err != nil {
			to.Close()
		}
	}()
	for rank := range r.Ranks() {
		if r.ClassOf(rank) >= 0 {
			if err := x.rank(rank, to); err != nil {
				return nil, fmt.Errorf("rank %d: %w", rank, err)
			}
		}
		progress(1)
	}
	if x.part.code, err = r.Code(); err != nil {
		return nil, err
	}
	x.part.from = r
	if ch != nil && ch.EditTracks != nil {
		if err := ch.EditTracks(to.Tracks()); err != nil {
			return nil, err
		}
	}
	if x.part.Content, err = to.Content(x.meta(options)); err != nil {
		return nil, err
	}
	if x.part.Content.MergedSizes, err = r.MergedSizes(); err != nil {
		return nil, err
	}
	x.part.Content.SyntheticMessages, err = r.SyntheticMessages()
	return x.part, err
}

// A ValueChange describes what ChangeValues changes in the calls of a trace.
type ValueChange struct {
	// EditValues changes the values of a call. For a terminal without a lane, it is called once for all of its calls.
	EditValues func(k *trace.Rank, terminal int, vals []int64)
	EditTracks func(list []*track.Track) error // changes the tracks of all ranks before they are merged; may be nil
	Note       string                          // description of the change
}

// ChangeValues makes a trace of all calls with changed values. Times become means over equal calls.
func ChangeValues(r *trace.Reader, c *ValueChange, progress func(ranks int)) (*CutResult, error) {
	return of(r, Selection{}, c, progress)
}

// A cutter cuts one trace.
type cutter struct {
	r     *trace.Reader
	ch    *ValueChange // change to apply to the calls' values; nil: none
	w     Selection
	spans [][][]ops.CallRange // by rank and stream: the calls that are in the part
	kept  *exemplar           // times of every call, if the part is an iteration that has them; nil: other times
	timed bool
	zero  int64 // beginning of the run, in ns of the time line
	base  int64 // beginning of the run, in ns since 1970
	part  *CutResult
}

// origin returns the beginning of the run, zero in ns of the time line and base in ns since 1970.
func origin(r *trace.Reader) (zero, base int64, err error) {
	if !r.HasTimes() {
		return 0, 0, nil
	}
	if zero, _, err = r.TimeExtent(); err != nil {
		return 0, 0, err
	}
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return 0, 0, err
		}
		p, err := k.Process()
		if err != nil {
			return 0, 0, err
		}
		start, err := k.StartNs()
		return zero, p.InitWallClockNs - (start - zero), err
	}
	return zero, 0, nil
}

// timing returns the options for the part's times: single times only if the trace has them.
func (x *cutter) timing() (timing.Options, error) {
	if !x.r.HasTimes() {
		return timing.Options{Mode: timing.ModeNone}, nil
	}
	x.timed = true
	kind, err := x.r.TimeKind()
	if err != nil {
		return timing.Options{}, err
	}
	if x.ch != nil {
		return timing.Options{Mode: timing.ModeStats}, nil
	}
	if kind.OfTheCallItself() {
		return timing.Options{Mode: timing.ModeLossless}, nil
	}
	if x.kept != nil {
		x.part.Notes = append(x.part.Notes, "times of calls are within 2 %: at the end of the run ranks kept those of this iteration")
		return timing.Options{Mode: timing.ModeLossless}, nil
	}
	x.part.Notes = append(x.part.Notes, "times of single calls were not recorded: each is the mean of equal calls over the whole run, and so are extremes")
	return timing.Options{Mode: timing.ModeStats}, nil
}

// meta describes the part in its metadata.
func (x *cutter) meta(o timing.Options) map[string]string {
	m := maps.Clone(x.r.Meta())
	if m == nil {
		m = make(map[string]string)
	}
	delete(m, trace.MetaTimingError)
	m[trace.MetaRecorderOptions] = "timing=" + string(o.Mode)
	if x.timed {
		m[trace.MetaStart] = strconv.FormatInt(x.base, 10)
	}
	if x.ch != nil {
		m[trace.MetaNotePrefix+".changed"] = x.ch.Note
		return m
	}
	m[trace.MetaNotePrefix+".part"] = fmt.Sprintf("a part of a trace: %s; %d calls outside it make or free objects, and stay without times", x.w.String(), x.part.ContextCalls)
	for i, n := range x.part.Notes {
		m[fmt.Sprintf("%s.part.%d", trace.MetaNotePrefix, i)] = n
	}
	return m
}

// rank cuts one rank.
func (x *cutter) rank(rank int, to *trackwriter.Collector) error {
	k, err := x.r.Rank(rank)
	if err != nil {
		return err
	}
	handed, err := k.Track()
	if err != nil {
		return err
	}
	tables := track.Sealed(handed).Track()
	begin, end := int64(0), int64(0)
	if x.timed {
		if begin, end, err = x.extent(k); err != nil {
			return err
		}
	}
	out := trackwriter.NewWriter(rank, uint64(begin))
	out.KeepRequestArrays = x.ch != nil && x.ch.EditTracks != nil // Tracks may remove calls and insert others
	out.NoLanes = x.ch != nil                                     // a change applies to all calls of a terminal
	defer out.Close()
	out.AddTablesOf(tables)
	c := &rankCutter{cutter: x, k: k, out: out, begin: begin, objects: make([]bool, k.Terminals()), sites: make([]uint64, k.Terminals())}
	for t := range c.objects {
		called := k.CallWithoutParams(t)
		c.objects[t] = concernsObjects(called.Func)
		c.sites[t] = tables.Signatures[t].Site
	}
	if c.handovers, err = newHandovers(k); err != nil {
		return err
	}
	for stream := range k.Streams() {
		if err := c.stream(stream); err != nil {
			return err
		}
	}
	out.Handovers = c.handovers.events()
	p := tables.Process
	if x.timed {
		p.StartNs = x.base + begin
		p.SpanNs, p.Asides = end-begin, c.asides
		for _, a := range c.asides {
			p.SpanNs -= a.Ns
		}
		p.SpanNs = max(p.SpanNs, 0)
	}
	return to.Add(out, p)
}

// extent returns when a rank's part begins and ends, in ns since the beginning of the run.
func (x *cutter) extent(k *trace.Rank) (begin, end int64, err error) {
	begin, end = math.MaxInt64, math.MinInt64
	for stream, list := range x.spans[k.Number()] {
		if len(list) == 0 {
			continue
		}
		from, _, err := x.times(k, stream, list[0])
		if err != nil {
			return 0, 0, err
		}
		_, to, err := x.times(k, stream, list[len(list)-1])
		if err != nil {
			return 0, 0, err
		}
		begin, end = min(begin, from), max(end, to)
	}
	if begin > end { // nothing of this rank is in the part
		at, err := k.StartNs()
		at = max(at-x.zero, 0)
		if x.w.FromNs != nil {
			at = max(at, *x.w.FromNs)
		}
		return at, at, err
	}
	return max(begin, 0), end, nil
}

// times returns when a span begins and ends. It begins with its first call, or at the window's begin. It ends with
// the following call, as the computation before that is in the part. For iterations of the main loop, the computation
// before their first call is included, except before the first iteration; the computation after their last call is
// not.
func (x *cutter) times(k *trace.Rank, stream int, s ops.CallRange) (begin, end int64, err error) {
	for t, err := range x.timings(k, stream, s.First) {
		if err != nil {
			return 0, 0, err
		}
		begin = t.StartNs - x.zero
		if x.w.FromNs != nil { // the computation before the first call is included, back to the window's begin
			begin = max(min(begin, *x.w.FromNs), begin-int64(t.Timing.Gap.Ns))
		}
		if x.w.Loop == MainLoop && x.w.FirstIteration > 0 {
			begin -= int64(t.Timing.Gap.Ns)
		}
		break
	}
	last := s.End - 1
	for t, err := range x.timings(k, stream, last) {
		if err != nil {
			return 0, 0, err
		}
		if t.Index == last {
			end = t.EndNs() - x.zero
			if x.w.Loop == MainLoop {
				break
			}
			continue
		}
		end = max(end, t.StartNs-x.zero)
		if x.w.UntilNs != nil {
			end = min(end, max(*x.w.UntilNs, begin))
		}
		break
	}
	return begin, end, nil
}

// fleeting are the kinds of handles of which each is used up by the first call that takes it.
var fleeting = map[mpi.Kind]bool{mpi.KindMessage: true}

// concernsObjects reports whether a function makes or frees objects that later calls name.
func concernsObjects(f *trace.Function) bool {
	if f.Has(trace.AttrPersistent) || f.Has(trace.AttrCreatesComm) || f.Has(trace.AttrCreatesType) || f.Has(trace.AttrCreatesWin) {
		return !f.Has(trace.AttrNonblocking)
	}
	if f.Has(trace.AttrNonblocking) || f.Has(trace.AttrCompletes) || f.Has(trace.AttrStarts) {
		return false
	}
	for i := range f.Params {
		p := &f.Params[i]
		if p.HasOut && (p.Type == trace.TypeHandle || p.Type == trace.TypeMPITObject) && !fleeting[p.Kind] {
			return true
		}
	}
	return f.ResultType == trace.TypeHandle || f.ResultType == trace.TypeMPITObject
}

// A rankCutter cuts one rank.
type rankCutter struct {
	*cutter
	k         *trace.Rank
	out       *trackwriter.Writer
	begin     int64
	objects   []bool   // by terminal: its calls are kept outside of the part, too
	sites     []uint64 // call site of each terminal
	asides    []track.Aside
	count     uint64 // number of calls that stream 0 of the part has so far
	handovers *handovers
}

// TakeCode copies another trace's information on the program's code to the part.
func (p *CutResult) TakeCode(r *trace.Reader) (err error) {
	p.from = r
	p.code, err = r.Code()
	return err
}

// Write writes the part to a file, with the trace's information on the program's code.
func (p *CutResult) Write(path string, overwrite bool) error {
	if err := sections.WriteFile(path, p.Content, overwrite); err != nil || p.code == nil {
		return err
	}
	return trace.AddCode(path, p.code, p.from)
}

// Reader reads the part, without information on the program's code.
func (p *CutResult) Reader(name string) (*trace.Reader, error) {
	file, err := sections.EncodeFile(p.Content)
	if err != nil {
		return nil, err
	}
	return trace.ReadBytes(file, name)
}
