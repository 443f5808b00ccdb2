package trace

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

// ErrNoTrack is wrapped by the error for a rank that left no track.
var ErrNoTrack = errors.New("no track of this rank")

// A Rank gives access to one rank of a trace. It is safe for concurrent use.
type Rank struct {
	r      *Reader
	tables *tables
	number int
	index  int // index of the rank among those of its class
	nclass int
	class  *sections.DecodedClass

	streams []*grammar.Grammar
	bare    []func() *grammar.WeightSums // by stream: the WeightSums whose weights are all 0; weighed sets others
	lanes   []*Lane                      // by terminal: its lane, nil without one; nil if no terminal has a lane

	mu    sync.Mutex
	calls []template
	spans []signature.Span      // memory for the spans of the values of a terminal that is evaluated
	sums  []*grammar.WeightSums // by stream: for each position the number of one-shot requests made before
	lines []*timeline.MeanTimes // by stream: its time line from means; nil until it is needed

	series *timeline.SeriesTimes // the times of each call; nil although opened is set: the trace has none of this rank
	opened bool
}

// A template is a terminal evaluated for a rank: its call, and what has to be filled in from earlier calls.
type template struct {
	call     *Call
	made     int64 // number of one-shot requests that the call makes, 0 or 1
	requests bool  // whether a parameter of the call is a request or an array of requests

	posting signature.PostedRequest // the request that the call makes

	// posted is the requests of which the call has statuses that follow from their receives: as the signature has them,
	// or, if it omits the array of requests, as indices in that array.
	posted []int64

	array *signature.RequestArray // the array of requests that the call may leave for later ones; nil: it leaves none
	own   bool                    // whether the call is a receive whose status follows from its parameters
	laned bool                    // whether the terminal has a lane
}

// Rank returns a Rank for the rank with this number. It returns an error if no rank has it, or if it left no track.
func (r *Reader) Rank(rank int) (*Rank, error) {
	if rank < 0 || rank >= r.Ranks() {
		return nil, fmt.Errorf("trace: %s: rank %d of %d", r.name, rank, r.Ranks())
	}
	n := int(r.places().ClassOfRank[rank])
	if n < 0 {
		return nil, fmt.Errorf("trace: %s: rank %d: %w", r.name, rank, ErrNoTrack)
	}
	tables, err := r.tables()
	if err != nil {
		return nil, err
	}
	c, err := r.classAt(n)
	if err != nil {
		return nil, err
	}
	streams, err := c.StreamsOf(int(r.places().IndexInClass[rank]), rank)
	if err != nil {
		return nil, r.failed(container.SectionColumns, fmt.Errorf("rank %d: %w: %w", rank, err, ErrFormat))
	}
	k := &Rank{
		streams: streams,
		r:       r, tables: tables, number: rank, index: int(r.places().IndexInClass[rank]), nclass: n, class: c,
		calls: make([]template, len(c.Terminals)), sums: make([]*grammar.WeightSums, len(c.Streams)),
	}
	for _, g := range streams {
		k.bare = append(k.bare, sync.OnceValue(func() *grammar.WeightSums {
			return grammar.NewWeightSums(g, func(uint32) int64 { return 0 })
		}))
	}
	if err := k.openLanes(); err != nil {
		return nil, r.failed(container.SectionLanes, fmt.Errorf("rank %d: %w: %w", rank, err, ErrFormat))
	}
	return k, nil
}

// RanksWithTrack yields the ranks that left a track, in order. It ends after an error.
func (r *Reader) RanksWithTrack() iter.Seq2[*Rank, error] {
	return func(yield func(*Rank, error) bool) {
		for rank, class := range r.places().ClassOfRank {
			if class < 0 {
				continue
			}
			if k, err := r.Rank(rank); !yield(k, err) || err != nil {
				return
			}
		}
	}
}

// weighed returns the sums of the terminals' weights along a stream. The lengths of the grammar's rules are computed
// once for a stream, and shared by all weights.
func (k *Rank) weighed(stream int, weight func(terminal uint32) int64) *grammar.WeightSums {
	return k.bare[stream]().WithWeights(weight)
}

// Number returns the rank's number, which is its rank in MPI_COMM_WORLD.
func (k *Rank) Number() int { return k.number }

// Class returns the number of the rank's class.
func (k *Rank) Class() int { return k.nclass }

// Streams returns the number of threads that made calls, at least 1.
func (k *Rank) Streams() int { return len(k.streams) }

// CallCount returns the number of calls of a stream.
func (k *Rank) CallCount(stream int) uint64 { return k.streams[stream].Len() }

// TotalCallCount returns the number of calls of all streams.
func (k *Rank) TotalCallCount() (n uint64) {
	for _, g := range k.streams {
		n += g.Len()
	}
	return n
}

// Terminals returns the number of distinct calls of the rank's class, over all streams. Two of them may be the same on
// this rank if they differ on another rank of the class.
func (k *Rank) Terminals() int { return len(k.class.Terminals) }

// TerminalCounts returns, by terminal, how many calls of it a stream has.
func (k *Rank) TerminalCounts(stream int) []uint64 {
	return k.streams[stream].TerminalCounts(k.Terminals())
}

// DropDistinctCalls discards the rank's cached distinct calls, for callers that hold many ranks. They are decoded again when
// needed.
func (k *Rank) DropDistinctCalls() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.calls)
}

// Terminal returns a distinct call, with Index 0. In it, Value.RequestID of a one-shot request is a distance: 1 for the
// last one that the stream made before the call, 2 for the one before that, and so on. If the terminal has a Lane, the
// values are those of its first call.
func (k *Rank) Terminal(terminal int) (*Call, error) {
	t, err := k.template(terminal)
	return t.call, err
}

// DistinctCalls returns all distinct calls, by terminal.
func (k *Rank) DistinctCalls() ([]*Call, error) {
	calls := make([]*Call, k.Terminals())
	for t := range calls {
		var err error
		if calls[t], err = k.Terminal(t); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

// CallWithoutParams returns function and call site of a distinct call, without parameters and return value. Unlike
// Terminal, it caches nothing, so that iterating over a million distinct calls takes no memory.
func (k *Rank) CallWithoutParams(terminal int) *Call {
	c := new(Call) // not on the heap if the compiler inlines this function into one that doesn't keep the result
	k.called(c, terminal)
	return c
}

func (k *Rank) called(c *Call, terminal int) {
	t, sites := &k.class.Terminals[terminal], k.tables.sites
	c.Rank, c.Terminal, c.Func = k.number, terminal, k.r.byID[t.Group.FunctionID]
	c.Site, c.Phase, c.ThreadStartFunction, c.Turn = sites.List[t.Site], sites.Phases[t.Site], sites.ThreadFunction(t.Site), sites.Turns[t.Site]
}

// SiteIndex returns the index in Reader.Sites of a distinct call's site; -1 if the site is unknown. Of entries with
// the same frames and Call.Turn it returns the last.
func (k *Rank) SiteIndex(terminal int) int {
	return k.tables.sites.CanonicalSite(k.class.Terminals[terminal].Site) - 1
}

// VertexOf returns the index in c.Vertices of a distinct call; -1 if it was not found in the code.
func (k *Rank) VertexOf(c *Code, terminal int) int {
	return c.VertexOf(k.class.Terminals[terminal].Group.FunctionID, k.SiteIndex(terminal))
}

// Signature returns the values of a terminal on this rank, as numbers in the order of the file format. If the terminal
// has a Lane, they are those of its first call.
func (k *Rank) Signature(terminal int) []int64 {
	return k.class.Terminals[terminal].EvalSignature(k.class, k.index, k.number, k.r.Ranks())
}

func (k *Rank) template(n int) (template, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.calls[n]; t.call != nil {
		return t, nil
	}
	t, err := k.evaluated(k.r.byID[k.class.Terminals[n].Group.FunctionID], n)
	if err != nil {
		return template{}, k.r.failed(container.SectionSignatures, fmt.Errorf("rank %d: terminal %d: %w: %w", k.number, n, err, ErrFormat))
	}
	k.calls[n] = t
	return t, nil
}

func (k *Rank) evaluated(f *Function, n int) (t template, err error) {
	vals := k.Signature(n)
	if k.spans, err = sections.SpansOf(f, k.spans[:0], vals); err != nil {
		return t, err
	}
	c, err := readCall(f, k.spans, vals, &k.tables.lookup, k.number)
	if err != nil {
		return t, err
	}
	k.called(c, n)
	t = template{call: c, posting: c.posting(), laned: k.Lane(n) != nil, array: k.r.array(f, k.spans, vals)}
	t.requests = c.namesRequests()
	if t.posting.Kind == signature.RequestOneShot {
		t.made = 1
	}
	t.posted, t.own, err = k.r.follows(c, k.spans, vals)
	return t, err
}

// Calls yields the calls of a stream in program order. It takes memory that does not depend on their number. It ends
// after an error.
func (k *Rank) Calls(stream int) iter.Seq2[*Call, error] { return k.CallsFrom(stream, 0) }

// CallsFrom is like Calls, but begins with the call at the given index.
func (k *Rank) CallsFrom(stream int, index uint64) iter.Seq2[*Call, error] {
	return func(yield func(*Call, error) bool) {
		cursor := k.streams[stream].Cursor()
		made, counted := int64(0), index == 0
		cursor.Seek(index)
		lanes := k.walkLanes(index)
		posts := posts{k: k, stream: stream, from: index}
		for {
			at := cursor.Pos()
			n, ok := cursor.Next()
			if !ok {
				return
			}
			t, err := k.template(int(n))
			if err == nil && t.array != nil {
				err = posts.reach(t.array, at)
			}
			if err == nil && t.requests && !counted {
				made, err = k.requestsBefore(stream, at)
				counted = true
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if lanes != nil && k.lanes[n] != nil {
				if t.call, err = lanes.call(&t, int(n)); err != nil {
					yield(nil, err)
					return
				}
			}
			c := t.at(stream, at, made)
			if t.array != nil && t.array.IsOmitted {
				posts.array(c, nil)
			}
			if len(t.posted) > 0 {
				statuses, _ := c.apart()
				if err := posts.fill(statuses, &t, made); err != nil {
					yield(nil, err)
					return
				}
			}
			if !yield(c, nil) {
				return
			}
			posts.post(&t, t.call, made)
			made += t.made
		}
	}
}

// at returns a copy of the template's call as the call at the given stream and index. made is how many one-shot
// requests the stream created before it.
func (t *template) at(stream int, index uint64, made int64) *Call {
	var c *Call
	if t.requests {
		c = t.call.numberRequests(made, t.made)
	} else {
		d := *t.call
		c = &d
	}
	c.Stream, c.Index = stream, index
	return c
}

// Call returns the call at the given stream and index.
func (k *Rank) Call(stream int, index uint64) (*Call, error) {
	for c, err := range k.CallsFrom(stream, index) {
		return c, err
	}
	return nil, fmt.Errorf("trace: %s: rank %d: stream %d has %d calls, none at %d",
		k.r.name, k.number, stream, k.CallCount(stream), index)
}

// requestsBefore returns how many one-shot requests a stream made before the call at the given index. The first use
// takes time in proportion to the grammar, so it is only used for calls that have requests.
func (k *Rank) requestsBefore(stream int, index uint64) (int64, error) {
	if index == 0 {
		return 0, nil
	}
	sums, err := k.requestSums(stream)
	if err != nil {
		return 0, err
	}
	return sums.Before(index), nil
}

// requestSums returns WeightSums that give, for each index in a stream, how many one-shot requests it made before.
func (k *Rank) requestSums(stream int) (*grammar.WeightSums, error) {
	k.mu.Lock()
	sums := k.sums[stream]
	k.mu.Unlock()
	if sums == nil {
		made := make([]int64, k.Terminals())
		for i := range made {
			if !slices.ContainsFunc(k.CallWithoutParams(i).Func.Params, func(p ParamDef) bool { return p.Type == TypeRequest }) {
				continue
			}
			t, err := k.template(i)
			if err != nil {
				return nil, err
			}
			made[i] = t.made
		}
		sums = k.weighed(stream, func(t uint32) int64 { return made[t] })
		k.mu.Lock()
		k.sums[stream] = sums
		k.mu.Unlock()
	}
	return sums, nil
}

// ClassTimes returns statistics of times by terminal, over all ranks of the rank's class. See Reader.Times.
func (k *Rank) ClassTimes() ([]Times, error) { return k.r.Times(k.nclass) }

// Times returns statistics of times by terminal of a class, over all of its ranks. Don't change the result, which is
// shared. If at least MinPoolSize terminals differ in values only, they share one summary: each has its part of count and
// sum, and the extremes and deviation of all. These may even cover the ranks of similar classes. Sums are accurate to
// MaxRelativeSumError. Extremes, deviations, and the distances of ranks' totals from their mean have six significant bits. In a
// trace without times all counts are 0.
func (r *Reader) Times(class int) ([]Times, error) {
	if known := r.latest.of(class, false); known != nil {
		return known, nil
	}
	times, _, err := r.timeLineTimes(class)
	return times, err
}

// timesOf decodes a class's part of section times.
func (r *Reader) timesOf(class int) ([]Times, []sections.Histogram, error) {
	c, err := r.classAt(class)
	if err != nil {
		return nil, nil, err
	}
	blobs, err := r.timing()
	if err != nil {
		return nil, nil, err
	}
	counts, err := r.calls(class, c)
	if err != nil {
		return nil, nil, err
	}
	groups := c.Groups()
	if !r.HasTimes() {
		return make([]Times, len(groups)), nil, nil
	}
	_, places := sections.NumberPlaces(groups)
	w := wire.NewReader(blobs[class], fmt.Sprintf("class %d", class))
	p, of, err := r.decodeTimes(w, class, counts, func(string, int, int) {})
	if err != nil {
		return nil, nil, err
	}
	times := make([]Times, len(counts))
	if w.Err() == nil {
		ranks, numbers := r.lists()[class], sections.NumberGroups(groups)
		times = p.Unpool(of, numbers, counts, ranks)
		sections.ReconcileExtremes(times, numbers, len(ranks), p.HasCrossClassExtremes)
	}
	hists := sections.DecodeHistograms(w, len(groups), places)
	if err := w.Finish(); err != nil {
		return nil, nil, r.failed(container.SectionTimes, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	return times, hists, nil
}

// decodeTimes reads the times of a class, in which the terminals of a pool share one entry. of is, by terminal, the
// index of its pool in p. After each kind of content, decodeTimes calls note with its name, its number of entries and
// its bytes. Errors in the data are left in w.
func (r *Reader) decodeTimes(w *wire.Reader, class int, counts []uint64, note func(what string, n, bytes int)) (p *sections.ClassPools, of []int32, err error) {
	c, err := r.classAt(class)
	if err != nil {
		return nil, nil, err
	}
	rest := w.RemainingLen()
	took := func(what string, n int) {
		note(what, n, rest-w.RemainingLen())
		rest = w.RemainingLen()
	}
	ranks, groups := r.lists()[class], sections.NumberGroups(c.Groups())
	key := func(n int) sections.PoolKey {
		return sections.PoolKey{Group: c.Terminals[n].Group, SignatureIndex: c.Terminals[n].SignatureIndex}
	}
	of, p = sections.NewClassPools(groups, c.FirstAlikeButForStack, key, counts, len(ranks))
	t := sections.TimeCoder{Coder: wire.Coder{Reader: w}, Ranks: r.ranks.Ranks}
	switch n := w.Int(r.ranks.Classes + 1); {
	case n == 1:
		t.IsBaseForOthers = true
	case n > 1:
		if t.BaseClass, err = r.baseTimes(n - 2); err != nil {
			return nil, nil, err
		}
	}
	p.Decode(&t, ranks, took)
	return p, of, nil
}

// baseTimes returns the encoded times of a class from which those of other classes are stored as differences.
func (r *Reader) baseTimes(class int) (*sections.TimeCodes, error) {
	if c, ok := r.bases.Load(class); ok {
		return c.(*sections.TimeCodes), nil
	}
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	blobs, err := r.timing()
	if err != nil {
		return nil, err
	}
	counts, err := r.calls(class, c)
	if err != nil {
		return nil, err
	}
	w := wire.NewReader(blobs[class], fmt.Sprintf("class %d", class))
	t := sections.TimeCoder{Coder: wire.Coder{Reader: w}, Ranks: r.ranks.Ranks, IsBaseForOthers: true}
	if w.Byte() != 1 {
		w.Fail("is not referred to by others")
	}
	key := func(n int) sections.PoolKey {
		return sections.PoolKey{Group: c.Terminals[n].Group, SignatureIndex: c.Terminals[n].SignatureIndex}
	}
	_, p := sections.NewClassPools(sections.NumberGroups(c.Groups()), c.FirstAlikeButForStack, key, counts, c.Ranks)
	codes := p.Decode(&t, nil, func(string, int) {})
	if err := w.Err(); err != nil {
		return nil, r.failed(container.SectionTimes, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	codes.IndexAsBase(p)
	r.bases.Store(class, codes)
	return codes, nil
}

// calls returns, by terminal of class n, how many calls of it all ranks of the class make together.
func (r *Reader) calls(n int, c *sections.DecodedClass) ([]uint64, error) {
	var ranks []int
	if len(c.VaryingSymbols) > 0 {
		ranks = r.lists()[n]
	}
	calls, err := column.CountStreamCalls(c.Streams, c.VaryingSymbols, len(c.Terminals), c.Ranks, func(i, member int) int64 {
		return c.RepetitionCounts[i].At(member, int64(ranks[member]))
	})
	if err != nil {
		return nil, r.failed(container.SectionColumns, fmt.Errorf("class %d: %w: %w", n, err, ErrFormat))
	}
	return calls, nil
}

// Process returns the rank's entry in the table of processes.
func (k *Rank) Process() (Process, error) {
	p, err := k.r.procs()
	if err != nil {
		return Process{}, err
	}
	return p.At(k.number), nil
}
