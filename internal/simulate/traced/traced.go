// Package traced makes a program for the simulation from each rank of a trace: the rank's computation between its
// calls, and what each call sends, receives and waits for.
//
// Receives match as in the traced run. For modelled calls the recorded times don't matter. Calls without a model keep
// their recorded time, and are counted by name.
package traced

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// Options control the simulation of a trace.
type Options struct {
	Machine *machine.Machine
	Mapping machine.Mapping
	// Speed of computation relative to the traced run, e.g. 2 for half the time; 0: CPU speed of Machine.
	CPUSpeedup    float64
	NodeOfRank    []int // by rank: number of its node, from 0; nil: nodes follow from Mapping
	UseMedianGaps bool  // each gap is the median of the gaps at its leaf; the trace must have the gap of each call
	UseMeanGaps   bool  // each gap is the mean of the gaps at its leaf, even if the trace has the gap of each call
	Progress      func(calls uint64)

	TracingCost                         *machine.TracingCost // overhead in the traced run; nil: TracingCost of Machine
	SimulateEachRank, SimulateEachRound bool                 // as in dataflow.Options: without these optimisations
	// Decompose blocking collectives into messages, however many messages that takes.
	CollectivesAsMessages bool
	WithTerminalTimes     bool // compute Prediction.TerminalTimes

	// OnEachCall, if not nil, is called for each call of a thread, in order, with its beginning and end, in ns since
	// the run began.
	OnEachCall func(rank, stream int, begin, end uint64)

	factors []float64 // by rank: factor of its computation times; nil: all are 1

	apart  bool // decompose all collectives into messages, and leave out what a schedule of messages can't express
	sizes  bool // only the sizes of messages are wanted; times may be ignored
	single bool // interpret the calls of each rank one by one, instead of each distinct call once
}

// A ProgramSource makes the programs of a trace.
type ProgramSource struct {
	Placement *machine.Placement

	r     *trace.Reader
	o     Options
	cpu   float64
	gap   float64 // recorder's time in ns that is subtracted from each gap
	call  float64 // recorder's time in ns that is subtracted from each call's duration
	calls *ops.Source
	left  map[string]*Unmodelled
	ns    float64 // recorded time in ns of the ranks processed so far
	stops []func()

	of      []threadOf          // by index of the program in the list that Programs returns
	strands int32               // number of contexts that were given to meetings between threads of a rank so far
	locks   map[lockKey]*locked // lock epochs that wait for another epoch or that another one waits for
	exact   bool                // the trace has the time of each call; determined only if the trace has locks

	// Leaves by class and stream. Only classes whose ranks all have the same leaves are here.
	leaves     map[[2]int]*trace.Leaves
	classes    map[int]*reissue.LeafGapsCache
	iterated   *bool // whether computation gets the gap of its iteration of the main loop; nil: not determined yet
	structures map[*trace.Leaves]int
	sequences  map[*trace.Leaves]*sequence
	// Unused elements of an array for many ranks; ranks run alternately, so their elements should be adjacent in
	// memory.
	placed    []placed
	known     map[string]*placedTimes
	codes     *codes
	levels    map[*handles.Comm]*machine.NetworkLevel
	functions []*function // by id of the MPI function

	// If collectives are decomposed: the operations of each rank's nonblocking collectives, in the order in which it
	// begins them. They run beside the rank, from an OpMeet with a request to the wait for that request.
	beside [][][]dataflow.Op
}

// An Unmodelled is a function or circumstance that the simulation has no model for.
type Unmodelled struct {
	Description       string  `json:"what"` // name of a function, or a sentence
	Calls             uint64  `json:"calls"`
	RecordedNs        float64 `json:"ns"`    // recorded time of all ranks in it, in ns
	RecordedShare     float64 `json:"share"` // Ns as a share of the recorded time of all ranks, from 0 to 1
	KeepsRecordedTime bool    `json:"kept"`  // the simulation takes Ns for it; false: it takes no time there
}

// NewProgramSource prepares the simulation of a trace. The trace must have times, and tracks of all ranks.
func NewProgramSource(r *trace.Reader, o Options) (*ProgramSource, error) {
	x := ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, FindBytesPerMember: true, PassFineSync: true, IgnoreTimes: o.sizes, AddProgress: o.Progress}
	calls, err := ops.NewSource(r, x)
	if err == nil && o.sizes {
		var one bool
		// Several threads: the order of their calls follows from times only.
		if one, err = calls.HasOneThreadPerRank(); err == nil && !one {
			x.IgnoreTimes = false
			calls, err = ops.NewSource(r, x)
		}
	}
	if err != nil {
		return nil, err
	}
	return from(calls, o)
}

// from prepares the simulation of the calls of a source, which must have all ranks and the whole run.
func from(calls *ops.Source, o Options) (*ProgramSource, error) {
	r := calls.Reader
	if err := r.RequireTimes(); err != nil {
		return nil, err
	}
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	for rank := range r.Ranks() {
		if r.ClassOf(rank) < 0 {
			return nil, fmt.Errorf("rank %d left no track: what others wait for can't be known", rank)
		}
		if procs.At(rank).LostCalls > 0 {
			return nil, fmt.Errorf("the trace lacks calls of rank %d: what others wait for can't be known", rank)
		}
		k, err := r.Rank(rank)
		if err != nil {
			return nil, err
		}
		if n := k.Streams(); n > mostCPUs && o.apart {
			return nil, fmt.Errorf("rank %d calls MPI in %d threads: a rank of a schedule has at most %d CPUs", rank, n, mostCPUs)
		}
	}
	s := &ProgramSource{
		Placement: o.Machine.PlaceRanks(r.Ranks(), o.Mapping), r: r, o: o, cpu: o.CPUSpeedup, calls: calls,
		left: make(map[string]*Unmodelled), leaves: make(map[[2]int]*trace.Leaves), classes: make(map[int]*reissue.LeafGapsCache), structures: make(map[*trace.Leaves]int), sequences: make(map[*trace.Leaves]*sequence),
		known: make(map[string]*placedTimes), codes: &codes{make(map[string][]dataflow.Op), make(map[string]*dataflow.DistinctCallOps), nil, make(map[string]uint64)}, levels: make(map[*handles.Comm]*machine.NetworkLevel), beside: make([][][]dataflow.Op, r.Ranks()),
	}
	s.cpu = cmp.Or(s.cpu, o.Machine.CPUSpeedup)
	recorder := o.TracingCost
	if recorder == nil {
		recorder = &o.Machine.TracingCost
	}
	s.gap, s.call = float64(recorder.GapPs)/1000, float64(recorder.CallPs)/1000
	if o.NodeOfRank != nil {
		if s.Placement, err = o.Machine.PlaceOn(o.NodeOfRank); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Calls returns the number of calls to simulate.
func (s *ProgramSource) Calls() (uint64, error) { return s.calls.Calls() }

// TracedRunNs is how long the traced run took, in ns.
func (s *ProgramSource) TracedRunNs() int64 { return s.calls.EndNs }

// A threadOf is the rank and thread of a program.
type threadOf struct{ rank, stream int }

// Programs returns one program for each rank, then those of the ranks' further threads. The programs are not safe for
// concurrent use.
func (s *ProgramSource) Programs() ([]dataflow.Program, error) {
	programs := make([]dataflow.Program, s.r.Ranks())
	s.of = make([]threadOf, len(programs))
	if err := s.findLocks(); err != nil {
		return nil, err
	}
	var others []dataflow.Program
	var of []threadOf
	for rank := range programs {
		k, err := s.r.Rank(rank)
		if err != nil {
			return nil, err
		}
		c, err := s.compile(k)
		if err != nil {
			return nil, err
		}
		k.DropDistinctCalls()
		s.of[rank] = threadOf{rank, 0}
		t, err := s.threadsOf(k)
		if err != nil {
			return nil, err
		}
		switch {
		case c != nil:
			programs[rank] = c
		case t != nil && s.o.apart:
			programs[rank] = &written{s: s, rank: rank, threads: t}
		case t != nil:
			list, streams := s.split(k, t)
			programs[rank], s.of[rank].stream = list[0], streams[0]
			for i := range list[1:] {
				others, of = append(others, list[i+1]), append(of, threadOf{rank, streams[i+1]})
			}
		default:
			programs[rank] = &written{s: s, rank: rank}
		}
	}
	programs, s.of = append(programs, others...), append(s.of, of...)
	// Only making programs needed these; each program refers to its part.
	s.known, s.codes, s.sequences, s.placed = nil, nil, nil, nil
	return programs, nil
}

// Close ends unfinished programs.
func (s *ProgramSource) Close() {
	for _, stop := range s.stops {
		stop()
	}
	s.stops = nil
}

// A written is the program of a rank whose calls are interpreted one by one, by a writer.
type written struct {
	s       *ProgramSource
	rank    int
	threads *threads // the rank's threads, whose calls become one program; nil: the rank has one thread
	next    func() ([]dataflow.Op, error, bool)
}

func (p *written) Next() ([]dataflow.Op, error) {
	if p.next == nil {
		var stop func()
		p.next, stop = iter.Pull2(p.s.program(p.rank, p.threads))
		p.s.stops = append(p.s.stops, stop)
	}
	ops, err, _ := p.next()
	return ops, err
}

// program yields the operations of a rank, in batches.
func (s *ProgramSource) program(rank int, t *threads) iter.Seq2[[]dataflow.Op, error] {
	return func(yield func([]dataflow.Op, error) bool) {
		w := &writer{s: s, threads: t, yield: yield, requests: make(map[uint64]int32), held: make(map[uint64]uint64), late: make(map[uint64]bool), bundles: make(map[uint64][]int32), parted: make(map[int64]*partitioned), groups: make(map[*handles.Comm]*commView), numbers: make(map[int32]int64)}
		if err := s.calls.RunRank(rank, w); err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// Unmodelled returns the functions and circumstances without a model, that with the largest recorded time first. The
// list is complete when all programs have ended.
func (s *ProgramSource) Unmodelled() []Unmodelled {
	var list []Unmodelled
	for _, what := range slices.Sorted(maps.Keys(s.left)) {
		u := *s.left[what]
		u.Description = what
		if s.ns > 0 {
			u.RecordedShare = u.RecordedNs / s.ns
		}
		list = append(list, u)
	}
	for _, l := range s.calls.Losses.List() {
		list = append(list, Unmodelled{Description: l.Reason, Calls: l.Count})
	}
	slices.SortStableFunc(list, func(a, b Unmodelled) int { return cmp.Compare(b.RecordedNs, a.RecordedNs) })
	return list
}

// placesOf returns the leaves of a stream of rank k, and their gaps and durations. It adds the rank's recorded time
// to the total s.ns.
func (s *ProgramSource) placesOf(k *trace.Rank, stream int) (*trace.Leaves, []reissue.LeafGaps, error) {
	l := s.leaves[[2]int{k.Class(), stream}]
	if l == nil {
		l = k.Leaves(stream)
		if k.ClassHasEqualCounts() {
			s.leaves[[2]int{k.Class(), stream}] = l
		}
	}
	list, own, err := once.GetOrMake(s.classes, k.Class(), func() *reissue.LeafGapsCache { return reissue.NewLeafGapsCache(s.r) }).LeafGapsOf(k, l)
	for i := range list {
		s.ns += list[i].TotalGapNs() + float64(list[i].Calls)*list[i].MeanDurationNs
	}
	if err == nil && s.o.UseMedianGaps {
		if !own {
			return nil, nil, fmt.Errorf("the times of single calls of rank %d are not known: no medians", k.Number())
		}
		err = medians(k, l, list, stream)
	}
	return l, list, err
}

// level returns the widest network level between members of a communicator; nil if some members are unknown.
func (s *ProgramSource) level(c *handles.Comm) *machine.NetworkLevel {
	if l, ok := s.levels[c]; ok {
		return l
	}
	members := c.Members()
	if c.Remote != nil {
		members = append(members, c.Remote.Members()...)
	}
	l := s.Placement.WidestLevel(members)
	if slices.Contains(members, -1) {
		l = nil
	}
	if c.Number >= 0 {
		s.levels[c] = l
	}
	return l
}

func (s *ProgramSource) leave(what string, calls uint64, ns float64, kept bool) {
	u := once.GetOrMake(s.left, what, func() *Unmodelled { return &Unmodelled{KeepsRecordedTime: kept} })
	u.Calls += calls
	u.RecordedNs += ns
}

// factor returns Options.factors of the rank, or 1.
func (s *ProgramSource) factor(rank int) float64 {
	if s.o.factors == nil {
		return 1
	}
	return s.o.factors[rank]
}

// computed converts a recorded computation time in ns to ps on the simulated machine.
func (s *ProgramSource) computed(ns float64) int64 {
	return int64(math.Round(min(max(ns, 0)*1000/s.cpu, 1e18)))
}

// manyRanks limits how many predictions are made at a time: together they simulate at most this many ranks, as each
// rank takes memory.
const manyRanks = 1 << 16

// PredictAll predicts a run once with each element of list, concurrently on all cores. If a prediction fails, failed
// is the index of the first element whose prediction failed.
func PredictAll(r *trace.Reader, list []Options) (all []*Prediction, failed int, err error) {
	all = make([]*Prediction, len(list))
	errs := make([]error, len(list))
	var mu sync.Mutex
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(len(list), runtime.GOMAXPROCS(0), max(1, manyRanks/max(1, r.Ranks()))) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				o := list[i]
				if tell := o.Progress; tell != nil {
					o.Progress = func(calls uint64) {
						mu.Lock()
						defer mu.Unlock()
						tell(calls)
					}
				}
				if all[i], errs[i] = Predict(r, o); errs[i] != nil {
					next.Store(int64(len(list))) // after a failure the remaining predictions are not needed
				}
			}
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, i, err
		}
	}
	return all, 0, nil
}
