package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A Timeline is the ranks' activity in tiles. Each row is one thread of one rank, or of several ranks that share it;
// each tile is an equal part of the time.
type Timeline struct {
	TimesKind       string             `json:"kind"` // how well times are known: exact, bounded, histogram, mean
	StartNs         int64              `json:"start_ns"`
	EndNs           int64              `json:"end_ns"`
	Ranks           int                `json:"ranks"`
	RanksPerRow     int                `json:"bin"`     // number of ranks that share a row; 1: each has its own
	FirstRanksOnly  bool               `json:"sampled"` // only the first rank of each row was read
	HasThreads      bool               `json:"threads"` // some ranks have several threads
	ActivityColumns int                `json:"columns"` // number of columns of trace.When; 0: the page doesn't use them
	Rows            []TimelineRow      `json:"rows"`
	Functions       []TimelineFunction `json:"functions"`

	Tiles               int    `json:"tiles"` // number of tiles of a row
	PackedMainFunctions string `json:"main"`  // a byte for each row and tile: function with most time, 255: none
	PackedInCallShares  string `json:"share"` // a byte for each row and tile: 250 × share of the time in Functions

	CoarseTiles          int    `json:"coarse"` // number of coarse tiles of a row in PackedFunctionShares
	PackedFunctionShares string `json:"each"`   // a byte for each function, row and coarse tile: 250 × share of time

	SingleCalls    *SingleCalls      `json:"single,omitempty"`   // the calls of short traces
	WaitTiles      *WaitTiles        `json:"waiting,omitempty"`  // nil unless the trace has single times
	Counters       []AttachedCounter `json:"counters,omitempty"` // values attached to calls
	KeptIterations []KeptIteration   `json:"kept,omitempty"`     // iterations shown with their own times

	folded bool           // threads are painted from their structure, not call by call
	own    bool           // the trace has the times of single calls
	pseudo [asides]int    // index in Functions of bySpoor, untraced and unended; −1: the run has no such time
	number map[string]int // by name of a function: index in Functions
	rows   [][]thread
	of     map[*trace.Function]int
	found  *waits.Report              // wait states of the run; nil: not analysed
	waited func(row int) []waits.Wait // returns the waits of a row; nil: not known
	first  int64                      // begin of the run's first call, from which times of waits.Wait count
}

// Pseudo-functions: reasons for time that a timeline shows like that of functions.
const (
	bySpoor  = iota // time of the recorder
	untraced        // tracing was switched off
	unended         // calls that never returned
	asides
)

// A TimelineRow is a row of a timeline.
type TimelineRow struct {
	FirstRank         int       `json:"first"` // number of the row's first rank
	LastRank          int       `json:"last"`
	Thread            int       `json:"thread,omitempty"` // 0: the thread that initialised MPI
	HasFurtherThreads bool      `json:"more,omitempty"`   // the row has this and all later threads
	StartFunction     string    `json:"of,omitempty"`     // of a row of one thread: its start functions; "": not known
	Host              string    `json:"host"`
	CategoryShares    []float64 `json:"share"` // share of each of Categories in the row's time; the rest is outside MPI
	Calls             uint64    `json:"calls"`
}

// A TimelineFunction is a function with its own colour in a timeline.
type TimelineFunction struct {
	Name     string  `json:"name"`
	Category int     `json:"category"`
	Ns       float64 `json:"ns"` // time in the function, in all rows
	Calls    uint64  `json:"calls"`
}

// FunctionCategories are kinds of functions that look the same in a timeline.
var FunctionCategories = []string{"point-to-point", "waiting", "collective", "one-sided", "files", "other MPI", "spoor", "not traced", "never returned"}

// Indices of the FunctionCategories of pseudo-functions, which are neither MPI nor the program and have no calls.
const (
	spoorCategory    = 6
	untracedCategory = 7
	unendedCategory  = 8
)

func category(f *trace.Function) int {
	name := strings.TrimPrefix(f.Name, "MPI_")
	switch {
	case strings.HasPrefix(name, "File_"), f.Has(trace.AttrPosix):
		return 4
	case strings.HasPrefix(name, "Win_") || slices.ContainsFunc(f.Params, func(p trace.ParamDef) bool { return p.Kind == mpi.KindWin && p.Dir == trace.DirIn }):
		return 3
	case f.Has(trace.AttrCompletes):
		return 1
	case f.Has(trace.AttrCollective):
		return 2
	case f.Has(trace.AttrStarts) || slices.ContainsFunc(f.Params, func(p trace.ParamDef) bool { return p.Name == "dest" || p.Name == "source" || p.Name == "message" }):
		return 0
	}
	return 5
}

// Bounds of a timeline.
const (
	maxRows      = 256
	maxTiles     = 1 << 18 // number of tiles of all rows
	mostTiles    = 1 << 14 // number of tiles of a row
	maxFunctions = 30      // functions with a colour of their own; the others share one
	maxEach      = 1 << 20 // number of coarse tiles of all rows and functions
	maxLooked    = 1 << 27 // number of calls painted one by one; with more, only the first rank of each row is read
	maxExpanded  = 1 << 20 // number of calls painted one by one if times are means; with more, see painter.folded
	maxParts     = 1 << 20 // for painter.folded: ranks × tiles; with more, only the first rank of each row is read
	finest       = 4       // a part shorter than 1/finest of a tile is painted as a whole
)

// A painter fills the tiles of one row at a time.
type painter struct {
	t     *Timeline
	of    map[*trace.Function]int
	width float64     // length of a tile in ns
	sums  [][]float32 // by function and tile: ns
	inMPI []float32   // by tile: ns of all functions
	kind  trace.SampleKind
	part  bool // the timeline is a part of the run
}

func timeline(r *trace.Reader, s *sums.Summary, o Options) (*Timeline, error) {
	t := &Timeline{Ranks: r.Ranks(), Rows: []TimelineRow{}}
	rows, err := t.choose(r)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	p := &painter{t: t, of: make(map[*trace.Function]int), kind: trace.ExactSample}
	p.functions(r, s)
	if err := p.asides(r, s); err != nil {
		return nil, err
	}
	t.Tiles = t.tiles(len(rows))
	t.CoarseTiles = t.Tiles
	for t.CoarseTiles > 64 && len(t.Functions)*len(rows)*t.CoarseTiles > maxEach {
		t.CoarseTiles /= 2
	}
	p.prepare()
	each := make([][]byte, len(t.Functions))
	var dominant, share []byte
	for i, list := range rows {
		for _, x := range list {
			paint := p.thread
			if t.folded {
				paint = p.folded
			}
			if err := paint(r, x, &t.Rows[i]); err != nil {
				return nil, fmt.Errorf("rank %d: %w", x.rank, err)
			}
		}
		dominant, share = p.tiles(dominant, share, len(list))
		for f := range each {
			each[f] = p.coarse(each[f], f, len(list))
		}
		p.close(&t.Rows[i], len(list))
		if err := t.Rows[i].name(r, list, o); err != nil {
			return nil, err
		}
		o.Progress("painting the timeline", i+1, len(rows))
	}
	if p.kind == trace.NoSample {
		return nil, nil
	}
	t.TimesKind = p.kind.String()
	t.PackedMainFunctions, t.PackedInCallShares, t.PackedFunctionShares = packed(dominant), packed(share), packed(slices.Concat(each...))
	if t.Counters, err = t.counters(r, rows); err != nil {
		return nil, err
	}
	if t.waited, err = t.waiting(r, rows, s, o); err != nil {
		return nil, err
	}
	t.rows, t.of = rows, p.of
	if s.Calls <= maxSingle && eachAlone(rows) {
		t.SingleCalls, err = t.singles(r, rows, 0, t.EndNs-t.StartNs, o, nil)
	}
	return t, err
}

// newPainter returns a painter for a timeline whose Functions are set; of is the index in Functions of each function.
func newPainter(t *Timeline, of map[*trace.Function]int) *painter {
	p := &painter{t: t, of: of, kind: trace.ExactSample}
	p.prepare()
	return p
}

// prepare allocates the sums of a row's tiles.
func (p *painter) prepare() {
	p.width = p.t.width()
	p.inMPI = make([]float32, p.t.Tiles)
	for range p.t.Functions {
		p.sums = append(p.sums, make([]float32, p.t.Tiles))
	}
}

// clear sets the sums to 0 for the next row.
func (p *painter) clear() {
	for f := range p.sums {
		clear(p.sums[f])
	}
	clear(p.inMPI)
}

// eachAlone reports whether each row is one thread.
func eachAlone(rows [][]thread) bool {
	return !slices.ContainsFunc(rows, func(list []thread) bool { return len(list) > 1 })
}

// A thread is a stream of a rank.
type thread struct{ rank, stream int }

// choose sets the rows and the time range, and returns each row's threads that are read. Ranks that share rows have
// one row for each thread.
func (t *Timeline) choose(r *trace.Reader) ([][]thread, error) {
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	streams := make([]int, t.Ranks) // number of streams of each rank
	calls := uint64(0)
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, err
		}
		streams[k.Number()] = k.Streams()
		t.HasThreads = t.HasThreads || k.Streams() > 1
		calls += k.TotalCallCount()
	}
	if t.StartNs, t.EndNs, err = r.TimeExtent(); err != nil {
		return nil, err
	}
	if t.EndNs <= t.StartNs {
		return nil, nil
	}
	rows := t.arrange(streams)
	for i := range t.Rows {
		t.Rows[i].Host = procs.At(t.Rows[i].FirstRank).Host
	}
	kind, err := r.TimeKind()
	if t.own = kind.OfTheCallItself(); err != nil {
		return nil, err
	}
	if w, err := r.When(); err != nil {
		return nil, err
	} else if w != nil && !t.own {
		t.ActivityColumns = len(w.ColumnWidthNs)
	}
	t.folded = !t.own && calls > maxExpanded
	if (!t.folded && calls > maxLooked || t.folded && len(streams) > maxParts/t.tiles(len(rows))) && t.RanksPerRow > 1 {
		t.FirstRanksOnly = true
		for i := range rows {
			rows[i] = rows[i][:1]
		}
	}
	return rows, nil
}

// width is the length of a tile, in ns.
func (t *Timeline) width() float64 { return float64(t.EndNs-t.StartNs) / float64(t.Tiles) }

// tiles is how many tiles a row has.
func (t *Timeline) tiles(rows int) int { return max(64, min(mostTiles, maxTiles/rows)) }

// name sets StartFunction of a row with a single thread.
func (row *TimelineRow) name(r *trace.Reader, list []thread, o Options) error {
	if len(list) != 1 || list[0].stream == 0 {
		return nil
	}
	k, err := r.Rank(list[0].rank)
	if err != nil {
		return err
	}
	row.StartFunction = o.SiteNaming.Locate.StartFunctions(k, list[0].stream)
	return nil
}

// arrange assigns threads to at most maxRows rows: each has its own if possible. Otherwise ranks share rows. If one
// rank has more than maxRows threads, the last of them share a row. streams is how many threads each rank has.
func (t *Timeline) arrange(streams []int) (rows [][]thread) {
	count := func(bin int) (n int) {
		for first := 0; first < len(streams); first += bin {
			n += slices.Max(streams[first:min(first+bin, len(streams))])
		}
		return n
	}
	t.RanksPerRow = max(1, (len(streams)+maxRows-1)/maxRows)
	for count(t.RanksPerRow) > maxRows && t.RanksPerRow < len(streams) {
		t.RanksPerRow++
	}
	for first := 0; first < len(streams); first += t.RanksPerRow {
		group := streams[first:min(first+t.RanksPerRow, len(streams))]
		last := min(slices.Max(group), maxRows)
		for n := range last {
			row := TimelineRow{FirstRank: -1, Thread: n, HasFurtherThreads: n == last-1 && last < slices.Max(group)}
			var list []thread
			for i, have := range group {
				for stream := n; stream < have && (stream == n || row.HasFurtherThreads); stream++ {
					list = append(list, thread{first + i, stream})
				}
			}
			row.FirstRank, row.LastRank = list[0].rank, list[len(list)-1].rank
			t.Rows, rows = append(t.Rows, row), append(rows, list)
		}
	}
	return rows
}

// functions chooses the functions with their own colour: those with most time.
func (p *painter) functions(r *trace.Reader, s *sums.Summary) {
	p.t.number = make(map[string]int)
	byName := make(map[string]*trace.Function)
	for _, f := range r.Schema() {
		byName[f.Name] = f
	}
	list := slices.Clone(s.Functions)
	slices.SortStableFunc(list, func(a, b sums.FunctionSummary) int { return cmp.Compare(b.Ns, a.Ns) })
	for i, f := range list {
		p.t.number[f.Name] = min(i, maxFunctions)
		if i < maxFunctions || len(list) == maxFunctions+1 {
			p.t.Functions = append(p.t.Functions, TimelineFunction{Name: f.Name, Category: category(byName[f.Name])})
			p.of[byName[f.Name]] = i
			continue
		}
		if i == maxFunctions {
			p.t.Functions = append(p.t.Functions, TimelineFunction{Name: fmt.Sprintf("%d other functions", len(list)-i), Category: len(FunctionCategories) - 1})
		}
		p.of[byName[f.Name]] = maxFunctions
	}
}

// thread paints the calls of a thread.
func (p *painter) thread(r *trace.Reader, x thread, row *TimelineRow) error {
	k, err := r.Rank(x.rank)
	if err != nil {
		return err
	}
	numbers, err := p.numbers(k)
	if err != nil {
		return err
	}
	open, over, err := p.unended(k)
	if err != nil {
		return err
	}
	// A call is painted only when the next one is known, because with mean times it may seem to end after that begins.
	var last trace.TimedTerminal
	have := false
	at := p.t.StartNs
	// ns is what is added to the function's Ns if the whole interval is within the timeline.
	paint := func(f int, start, end int64, ns float64) {
		whole := float64(end - start)
		start = max(start, at)
		if end = min(end, p.t.EndNs); end <= start {
			return
		}
		p.spread(f, float64(start-p.t.StartNs), float64(end-p.t.StartNs), float64(end-start))
		p.t.Functions[f].Ns += ns * float64(end-start) / whole
		at = end
	}
	put := func(end int64) {
		f := &p.t.Functions[numbers[last.Terminal]]
		if f.Calls++; last.Terminal < len(open) && open[last.Terminal] {
			// The call never returned: it lasted until its rank ended.
			f.Ns += float64(max(0, min(end, last.EndNs())-last.StartNs))
			paint(p.t.pseudo[unended], last.StartNs, min(end, over), float64(min(end, over)-last.StartNs))
		} else {
			end = min(end, last.EndNs())
			ns := float64(end - last.StartNs)
			if d := last.Timing.Duration; d.Kind.OfTheCallItself() && end == last.EndNs() {
				ns = float64(d.Ns) // end - last.Start may differ from a lossy duration by more than the latter's error
			}
			paint(numbers[last.Terminal], last.StartNs, end, ns)
		}
		row.Calls++
	}
	calls := k.TimedTerminals(x.stream)
	if p.part {
		m, err := k.MomentAt(x.stream, p.t.StartNs)
		if err != nil {
			return err
		}
		if m.LastBegunCall.Call != nil {
			calls = k.TimedTerminalsFrom(x.stream, m.LastBegunCall.Index)
		}
	}
	for c, err := range calls {
		if err != nil {
			return err
		}
		asides := c.Timing.AsidesBeforeCall(c.Index, last.EndNs(), c.StartNs)
		if have && len(asides) > 0 {
			put(asides[0].StartNs)
		} else if have {
			put(c.StartNs)
		} else {
			p.kind = min(p.kind, c.Timing.Duration.Kind)
		}
		for _, a := range asides {
			if f := p.t.pseudo[which(a)]; f >= 0 {
				paint(f, a.StartNs, a.StartNs+a.Ns, float64(a.Ns))
			}
		}
		if last, have = c, true; p.part && c.StartNs >= p.t.EndNs {
			return nil
		}
	}
	if have {
		put(p.t.EndNs)
	}
	return nil
}

// asides adds the pseudo-functions that the run has to the timeline's functions.
func (p *painter) asides(r *trace.Reader, s *sums.Summary) error {
	open, err := anyUnended(r)
	if err != nil {
		return err
	}
	for i, x := range [asides]struct {
		is       bool
		name     string
		category int
	}{
		{s.RecorderNs > 0 || p.t.own, "spoor (recording)", spoorCategory}, {s.TracingOffNs > 0, "tracing switched off", untracedCategory},
		{open, "calls that never returned", unendedCategory},
	} {
		if p.t.pseudo[i] = -1; x.is {
			p.t.pseudo[i] = len(p.t.Functions)
			p.t.Functions = append(p.t.Functions, TimelineFunction{Name: x.name, Category: x.category})
		}
	}
	return nil
}

// which returns the pseudo-function of an aside: untraced or bySpoor.
func which(a trace.PlacedAside) int {
	if a.TracingOff {
		return untraced
	}
	return bySpoor
}

// anyUnended reports whether the run has calls that never returned.
func anyUnended(r *trace.Reader) (bool, error) {
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			return false, err
		}
		for i := range k.Terminals() {
			if c, err := k.Terminal(i); err != nil || c.Return == trace.ReturnCodeNeverReturned {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// numbers returns, by terminal, the index of its function in the timeline's Functions.
func (p *painter) numbers(k *trace.Rank) ([]int, error) {
	list := make([]int, k.Terminals())
	for i := range list {
		c, err := k.Terminal(i)
		if err != nil {
			return nil, err
		}
		list[i] = p.of[c.Func]
	}
	return list, nil
}

// unended returns, by terminal, whether its calls never returned, and when the rank ended; nil if the run has no such
// calls.
func (p *painter) unended(k *trace.Rank) (list []bool, over int64, err error) {
	if p.t.pseudo[unended] < 0 {
		return nil, 0, nil
	}
	list = make([]bool, k.Terminals())
	for i := range list {
		c, err := k.Terminal(i)
		if err != nil {
			return nil, 0, err
		}
		list[i] = c.Return == trace.ReturnCodeNeverReturned
	}
	over, err = k.EndNs()
	return list, over, err
}

// function returns the index of a function in t.Functions.
func (t *Timeline) function(name string) int { return t.number[name] }

// parts is the number of steps in which a share of a tile is stored: parts means the whole tile.
const parts = 250

// portion returns parts × ns ÷ whole, rounded, but at least 1 if ns is not 0.
func portion(ns float32, whole float64) byte {
	if ns <= 0 {
		return 0
	}
	return byte(max(1, min(parts, parts*float64(ns)/whole+0.5)))
}

func (p *painter) tiles(dominant, share []byte, ranks int) ([]byte, []byte) {
	for i, sum := range p.inMPI {
		best, most := 255, float32(0)
		for f := range p.sums {
			if v := p.sums[f][i]; v > most {
				best, most = f, v
			}
		}
		dominant = append(dominant, byte(best))
		share = append(share, portion(sum, p.width*float64(ranks)))
	}
	return dominant, share
}

func (p *painter) coarse(b []byte, f, ranks int) []byte {
	each := p.t.Tiles / p.t.CoarseTiles
	for i := 0; i+each <= p.t.Tiles; i += each {
		var sum float32
		for _, v := range p.sums[f][i : i+each] {
			sum += v
		}
		b = append(b, portion(sum, p.width*float64(each*ranks)))
	}
	return b
}

// close sets a row's CategoryShares from the sums of its tiles, and sets these to 0 for the next row.
func (p *painter) close(row *TimelineRow, ranks int) {
	row.CategoryShares = make([]float64, len(FunctionCategories))
	whole := float64(p.t.EndNs-p.t.StartNs) * float64(ranks)
	for f := range p.sums {
		var sum float64
		for _, v := range p.sums[f] {
			sum += float64(v)
		}
		c := p.t.Functions[f].Category
		row.CategoryShares[c] += sum / whole
	}
	for i, v := range row.CategoryShares {
		row.CategoryShares[i] = float64(int(v*1e6+0.5)) / 1e6
	}
	p.clear()
}
