// Package tracktest makes tracks of virtual ranks, without an MPI: programs list the MPI calls of each rank. Tests
// and benchmarks of later stages use the tracks; nothing else imports the package.
package tracktest

import (
	"fmt"
	"hash/fnv"
	"iter"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Numbers of the standard ABI.
const (
	World    = mpi.HandleCommWorld
	ProcNull = mpi.ProcNull
	IntType  = 0x209 // MPI_INT
)

// A Recorder records the calls of one rank.
type Recorder struct {
	Rank, Size int

	track  *track.Builder
	clock  uint64
	lanes  map[uint32]*laneValues // by terminal
	orders map[int]*grammar.Grammar

	allocOrders map[int]*grammar.Grammar

	allocs    eventList
	handovers eventList
	made      map[[2]int]uint64 // by stream and maker: the call of the last handover
	phase     string            // begins with the next call; "": none
	from      int               // call site of the functions that make the next calls; 0: not known
}

// An eventList is events between the calls of streams.
type eventList struct {
	list    []track.AllocEvent
	streams []*grammar.Builder
	at      []uint64 // by stream: number of calls at the last event
}

// add adds an event after a number of calls of a stream.
func (x *eventList) add(stream int, calls uint64, e track.AllocEvent) {
	for len(x.streams) <= stream {
		x.streams, x.at = append(x.streams, grammar.NewBuilder()), append(x.at, 0)
	}
	e.CallsSincePrevious = calls - x.at[stream]
	x.at[stream] = calls
	n := slices.Index(x.list, e)
	if n < 0 {
		n = len(x.list)
		x.list = append(x.list, e)
	}
	x.streams[stream].Append(uint32(n))
}

// track returns the events for a track with a number of streams; nil without events.
func (x *eventList) track(streams int) *track.AllocEvents {
	if len(x.list) == 0 {
		return nil
	}
	e := &track.AllocEvents{DistinctEvents: x.list}
	for len(x.streams) < streams {
		x.streams = append(x.streams, grammar.NewBuilder())
	}
	for _, b := range x.streams {
		e.EventGrammars = append(e.EventGrammars, b.Grammar())
	}
	return e
}

// laneValues is the values of a terminal that differ from call to call, by stream.
type laneValues struct {
	at   []int
	vals map[int][][]int64
}

// NewRecorder starts a rank with one stream.
func NewRecorder(rank, size int) *Recorder {
	return &Recorder{Rank: rank, Size: size, clock: uint64(rank), track: track.NewBuilder(rank)}
}

// Run records one rank of a program.
func Run(rank, size int, program func(r *Recorder)) *track.Track {
	r := NewRecorder(rank, size)
	program(r)
	return r.Track()
}

// RunAll records all ranks of a program.
func RunAll(size int, program func(r *Recorder)) []*track.Track {
	tracks := make([]*track.Track, size)
	for rank := range tracks {
		tracks[rank] = Run(rank, size, program)
	}
	return tracks
}

// Call records a call at a numbered site with return code 0, followed by the values.
func (r *Recorder) Call(name string, site int, vals ...int64) {
	r.CallOn(0, name, site, append([]int64{0}, vals...)...)
}

// CallOn records a call of a stream; the values include the return code.
func (r *Recorder) CallOn(stream int, name string, site int, vals ...int64) {
	call, ok := mpi.CallNamed(name)
	if !ok {
		panic(fmt.Sprintf("tracktest: no call %s", name))
	}
	r.record(stream, call.ID, site, "", vals)
}

// LaneOn is CallOn for a call whose values at some positions are in a lane.
func (r *Recorder) LaneOn(stream int, name string, site int, at []int, vals ...int64) {
	call, ok := mpi.CallNamed(name)
	if !ok {
		panic(fmt.Sprintf("tracktest: no call %s", name))
	}
	own := make([]int64, len(at))
	vals = slices.Clone(vals)
	for i, p := range at {
		own[i], vals[p] = vals[p], 0
	}
	n := r.record(stream, call.ID, site, fmt.Sprint(at), vals)
	if r.lanes == nil {
		r.lanes = make(map[uint32]*laneValues)
	}
	l := r.lanes[n]
	if l == nil {
		l = &laneValues{at, make(map[int][][]int64)}
		r.lanes[n] = l
	}
	l.vals[stream] = append(l.vals[stream], own)
}

func (r *Recorder) record(stream int, call uint16, site int, more string, vals []int64) uint32 {
	n, _ := r.track.FindOrAddTerminal(call, r.site(site), vals, more)
	r.track.Stream(stream).Append(n)
	// Times that vary a little, the same in every test run.
	r.clock = r.clock*6364136223846793005 + 1442695040888963407
	r.track.Times[n].Add(300+r.clock>>48&127, 1000+r.clock>>56)
	return n
}

// AllocEvent records that a segment begins, with its size, or ends.
func (r *Recorder) AllocEvent(stream int, free bool, segment int64, size uint64) {
	r.allocs.add(stream, r.track.Stream(stream).Len(), track.AllocEvent{IsFree: free, PackedSegment: segment, Size: size})
}

// Handover records that a stream's next call uses an object that another stream's call made.
func (r *Recorder) Handover(stream int, kind mpi.Kind, number int64, maker int, made uint64) {
	if r.made == nil {
		r.made = make(map[[2]int]uint64)
	}
	of := [2]int{stream, maker}
	r.handovers.add(stream, r.track.Stream(stream).Len(), track.AllocEvent{
		PackedSegment: track.PackHandover(slices.Index(model.HandoverKinds[:], kind), number, maker), Size: made - r.made[of],
	})
	r.made[of] = made
}

// Calls returns how many calls of a stream were recorded.
func (r *Recorder) Calls(stream int) uint64 { return r.track.Stream(stream).Len() }

// String makes a string known and returns its value.
func (r *Recorder) String(s string) int64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	v := h.Sum64() &^ (1 << 63)
	r.track.Strings[v] = s
	return int64(v)
}

func (r *Recorder) site(n int) uint64 {
	h := (uint64(n)*0x9e3779b97f4a7c15 + 0x1234567) &^ (1 << 63)
	s := track.Site{Module: "/opt/app/bin/solver", BuildID: "c0ffee", Offset: uint64(0x1000 + 12*n)}
	r.track.Sites[h] = s
	if from := r.from; from > 0 {
		r.from = 0
		outer := r.site(from)
		r.from = from
		inside := (h ^ outer*0x9fb21c651e98df25) &^ (1 << 63)
		r.track.Sites[inside], r.track.CallerSite[inside], r.track.SiteWithoutStack[inside] = s, outer, h
		return inside
	}
	if r.phase == "" {
		return h
	}
	f := fnv.New64a()
	f.Write([]byte(r.phase))
	phase := f.Sum64() &^ (1 << 63)
	inside := h ^ phase
	r.track.Sites[phase] = track.Site{Module: r.phase, BuildID: model.PhaseFrameBuildID}
	r.track.Sites[inside], r.track.CallerSite[inside], r.track.SiteWithoutStack[inside] = s, phase, h
	r.phase = ""
	return inside
}

// From sets the call site of the functions that make the next calls.
func (r *Recorder) From(n int) { r.from = n }

// Phase makes a phase begin with the next call.
func (r *Recorder) Phase(name string) { r.phase = name }

// Track returns what was recorded, with terminals in order of occurrence.
func (r *Recorder) Track() *track.Track {
	grammars := r.track.Grammars()
	counts := make([]uint64, len(r.track.Signatures))
	for i, g := range grammars {
		grammars[i] = r.ordered(i, g)
		for n, count := range grammars[i].TerminalCounts(len(counts)) {
			counts[n] += count
		}
	}
	if r.orders != nil {
		r.repeat(counts)
	}
	t, order, _ := r.track.Finish(grammars)
	for i, n := range order {
		if l := r.lanes[n]; l != nil {
			s := &t.Signatures[i]
			s.Values = slices.Clone(s.Values)
			out := l.track(i, len(grammars), s.Values)
			if r.orders != nil {
				out.Steps = &grammar.Grammar{Rules: [][]grammar.Symbol{{{TerminalOrRule: 0, Count: counts[n] - 1}}}}
			}
			t.Lanes = append(t.Lanes, out)
		}
	}
	if t.Allocs = r.allocs.track(len(t.Streams)); t.Allocs != nil {
		for stream, g := range r.allocOrders {
			t.Allocs.EventGrammars[stream] = g
		}
	}
	t.Handovers = r.handovers.track(len(t.Streams))
	t.Process = track.Process{
		Host: fmt.Sprintf("node%02d", r.Rank/32), PID: 4000 + r.Rank%32, EndState: track.EndFinished,
		Threads: len(grammars), StartNs: 1_700_000_000_000_000_000, SpanNs: 5_000_000_000 + int64(r.Rank)*977,
	}
	if r.orders != nil {
		t.Process.SpanNs = ran(t)
	}
	return t
}

// track makes a terminal's lane with the values of its first call.
func (l *laneValues) track(terminal, streams int, vals []int64) signature.Lane {
	out := signature.Lane{Terminal: terminal, ValueIndices: l.at}
	b := grammar.NewBuilder()
	known := make(map[string]uint32)
	var last []int64
	for s := range streams {
		for _, v := range l.vals[s] {
			if last == nil {
				last = v
				for i, p := range l.at {
					vals[p] = v[i]
				}
				continue
			}
			step := make([]int64, len(v))
			for i := range v {
				step[i] = v[i] - last[i]
			}
			last = v
			n, ok := known[fmt.Sprint(step)]
			if !ok {
				n = uint32(len(out.StepValues))
				known[fmt.Sprint(step)] = n
				out.StepValues = append(out.StepValues, step)
			}
			b.Append(n)
		}
	}
	out.Steps = b.Grammar()
	return out
}

// Calls yields the calls of a stream of a track with all of their values.
func Calls(t *track.Track, stream int) iter.Seq2[uint32, signature.Signature] {
	return func(yield func(uint32, signature.Signature) bool) {
		lanes := make(map[uint32][][]int64) // remaining values
		at := make(map[uint32][]int)
		for _, l := range t.Lanes {
			n := uint32(l.Terminal)
			at[n] = l.ValueIndices
			last := make([]int64, len(l.ValueIndices))
			for i, p := range l.ValueIndices {
				last[i] = t.Signatures[n].Values[p]
			}
			lanes[n] = append(lanes[n], slices.Clone(last))
			for s := range l.Steps.All() {
				for i, d := range l.StepValues[s] {
					last[i] += d
				}
				lanes[n] = append(lanes[n], slices.Clone(last))
			}
		}
		for s := range t.Streams {
			for n := range t.Streams[s].Grammar.All() {
				sig := t.Signatures[n]
				if own := lanes[n]; len(at[n]) > 0 {
					sig.Values = slices.Clone(sig.Values)
					for i, p := range at[n] {
						sig.Values[p] = own[0][i]
					}
					lanes[n] = own[1:]
				}
				if s == stream && !yield(n, sig) {
					return
				}
			}
		}
	}
}
