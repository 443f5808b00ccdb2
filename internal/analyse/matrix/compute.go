package matrix

import (
	"cmp"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// maxEntries is how many cells that aren't zero a matrix has at most; each takes 24 bytes.
const maxEntries = 1 << 26

// Compute counts the traffic of a trace. It computes what each distinct call sends once, and multiplies.
func Compute(r *trace.Reader, opts Options) (*Matrix, error) {
	return build(r, opts, func(w *worker, k *trace.Rank) error {
		wanted := w.b.wanted(k)
		for stream := range k.Streams() {
			for _, terminal := range wanted {
				if w.x.Count(stream, terminal) == 0 {
					continue
				}
				c, err := k.Terminal(terminal)
				if err != nil {
					return err
				}
				for _, p := range w.x.GroupOccurrences(stream, c) {
					w.count = p.Count
					w.call(c, stream, p.ExampleIndex)
				}
			}
		}
		return nil
	})
}

// ComputeCallByCall counts the traffic by visiting every call of every rank. Tests compare Compute with it.
func ComputeCallByCall(r *trace.Reader, opts Options) (*Matrix, error) {
	return build(r, opts, func(w *worker, k *trace.Rank) error {
		w.count = 1
		for stream := range k.Streams() {
			for c, err := range k.Calls(stream) {
				if err != nil {
					return err
				}
				w.call(c, stream, c.Index)
			}
		}
		return nil
	})
}

// HasTraffic reports whether a trace has calls of any function whose traffic the options count.
func HasTraffic(r *trace.Reader, opts Options) bool {
	return slices.ContainsFunc(r.Schema(), func(f *trace.Function) bool { return !f.Has(trace.AttrStarts) && opts.wants(f) })
}

// A builder collects the traffic that the workers count.
type builder struct {
	m     *Matrix
	opts  *Options
	comms *handles.Comms

	mu    sync.Mutex
	sums  []map[int]Cell // by row, by column: the cells so far; one-sided reads add to rows of other ranks
	fans  map[*handles.Comm]*fan
	lists map[int][]int // by class: terminals of the calls that opts count
	used  int
}

// A worker counts the traffic of one rank after another. Several workers run in parallel.
type worker struct {
	traffic
	source *ops.Source
	x      *handles.Rank
	b      *builder
	count  uint64 // how often the current call occurs

	row  map[int]Cell // what the current rank sends, by receiving rank
	back map[int]Cell // what the current rank gets from other ranks through one-sided reads, by these ranks
	sum  Matrix       // totals over all ranks that the worker has counted; has no rows
}

func build(r *trace.Reader, opts Options, walk func(*worker, *trace.Rank) error) (*Matrix, error) {
	comms, err := handles.TableOf(r).Comms()
	if err != nil {
		return nil, err
	}
	opts.RanksPerRow = max(opts.RanksPerRow, 1)
	m := &Matrix{Ranks: r.Ranks(), RanksPerRow: opts.RanksPerRow}
	b := &builder{
		m: m, opts: &opts, comms: comms, sums: make([]map[int]Cell, m.RowCount()),
		fans: make(map[*handles.Comm]*fan), lists: make(map[int][]int),
	}
	var next, done atomic.Int64
	var group sync.WaitGroup
	errs := make(chan error, runtime.GOMAXPROCS(0))
	for range cap(errs) {
		group.Go(func() {
			w := &worker{b: b}
			var err error
			if w.source, err = ops.NewSource(r, ops.Options{IgnoreTimes: true, FindBytesPerMember: true}); err != nil {
				errs <- err
				return
			}
			w.opts, w.out = &opts, w
			for {
				rank := int(next.Add(1)) - 1
				if rank >= r.Ranks() {
					break
				}
				if r.ClassOf(rank) < 0 {
					continue
				}
				if err := w.do(r, rank, walk); err != nil {
					next.Store(int64(r.Ranks()))
					errs <- err
					break
				}
				if opts.Progress != nil {
					opts.Progress(int(done.Add(1)), r.Ranks())
				}
			}
			b.merge(&w.sum)
		})
	}
	group.Wait()
	select {
	case err := <-errs:
		return nil, err
	default:
	}
	return b.finish(), nil
}

func (w *worker) do(r *trace.Reader, rank int, walk func(*worker, *trace.Rank) error) error {
	k, err := r.Rank(rank)
	if err != nil {
		return err
	}
	if w.account, err = w.source.Interpreter(k); err != nil {
		return err
	}
	w.x = w.account.Handles()
	w.rank = rank
	w.row, w.back = make(map[int]Cell), make(map[int]Cell)
	if err := cmp.Or(walk(w, k), w.account.Err()); err != nil {
		return err
	}
	return w.b.add(rank, w.row, w.back)
}

// wanted returns the terminals of a rank's class whose traffic the options count.
func (b *builder) wanted(k *trace.Rank) []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return once.GetOrMake(b.lists, k.Class(), func() (list []int) {
		for i := range k.Terminals() {
			if b.opts.wants(k.CallWithoutParams(i).Func) {
				list = append(list, i)
			}
		}
		return list
	})
}

// add adds the cells of a rank, a worker's row and back, to the matrix.
func (b *builder) add(rank int, row, back map[int]Cell) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	put := func(from, to int, c Cell) {
		if b.sums[from] == nil {
			b.sums[from] = make(map[int]Cell)
		}
		sum, known := b.sums[from][to]
		if !known {
			b.used++
		}
		sum.add(c)
		b.sums[from][to] = sum
	}
	bin := rank / b.m.RanksPerRow
	for to, c := range row {
		put(bin, to/b.m.RanksPerRow, c)
	}
	for from, c := range back {
		put(from/b.m.RanksPerRow, bin, c)
	}
	if b.used > maxEntries {
		return fmt.Errorf("more than %d pairs of ranks talk to each other; take several ranks together", maxEntries)
	}
	return nil
}

func (b *builder) merge(sum *Matrix) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.m.ToElsewhere.add(sum.ToElsewhere)
	b.m.Total.add(sum.Total)
	b.m.UnsizedMessages += sum.UnsizedMessages
	b.m.UnknownPartnerCalls += sum.UnknownPartnerCalls
	for i, c := range sum.SizeHistogram {
		b.m.SizeHistogram[i].add(c)
	}
}

func (b *builder) finish() *Matrix {
	m := b.m
	m.rows = make([][]RowEntry, m.RowCount())
	for i, sum := range b.sums {
		m.rows[i] = entries(sum)
		b.sums[i] = nil
	}
	for _, c := range b.comms.List() { // not over b.fans, so that the order is the same each time
		f := b.fans[c]
		if f == nil {
			continue
		}
		all, elsewhere := f.total()
		m.Total.add(all)
		m.ToElsewhere.add(elsewhere)
		m.fans = append(m.fans, f)
	}
	return m
}

// fan returns the fan of a communicator, and makes an empty one at the first call.
func (b *builder) fan(c *handles.Comm) *fan {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.fans[c]
	if f == nil {
		f = &fan{from: c.Members(), same: true}
		f.to = f.from
		if c.RemoteSize > 0 {
			f.same = false
			f.to = c.Remote.Members()
		}
		f.out = make([]Cell, len(f.from))
		b.fans[c] = f
	}
	return f
}

// sized returns a cell of n messages of bytes each, and adds them to the histogram of sizes. sized is false if the size
// isn't known.
func (w *worker) sized(n uint64, bytes uint64, sized bool) Cell {
	c := Cell{Messages: n}
	if !sized {
		w.sum.UnsizedMessages += n
		return c
	}
	c.Bytes = n * bytes
	w.sum.SizeHistogram[bits.Len64(bytes)].add(c)
	return c
}

// send counts messages to a world rank; -1: a rank outside the world. send, receive, spread, collect and unknown
// implement visitor.
func (w *worker) send(to int, bytes uint64, sized bool) { w.message(w.row, to, bytes, sized) }

func (w *worker) receive(from int, bytes uint64, sized bool) { w.message(w.back, from, bytes, sized) }

func (w *worker) message(peers map[int]Cell, peer int, bytes uint64, sized bool) {
	c := w.sized(w.count, bytes, sized)
	if peer < 0 {
		w.sum.ToElsewhere.add(c)
		return
	}
	w.sum.Total.add(c)
	sum := peers[peer]
	sum.add(c)
	peers[peer] = sum
}

// others returns how many messages a member of a communicator sends if it sends one to each other member, or to each
// member of the remote group.
func others(c *handles.Comm) uint64 {
	if c.RemoteSize > 0 {
		return uint64(c.RemoteSize)
	}
	return uint64(c.Size - 1)
}

// each counts messages of bytes between member self and each other member. It returns the cell of one of these pairs.
// ok is false if there are no other members, or if they or self aren't known.
func (w *worker) each(c *handles.Comm, self int, bytes uint64, sized bool) (Cell, bool) {
	n := others(c)
	if n == 0 {
		return Cell{}, false
	}
	all := w.sized(w.count*n, bytes, sized)
	if c.RemoteSize > 0 && c.Remote == nil || self < 0 {
		w.sum.ToElsewhere.add(all)
		return Cell{}, false
	}
	return Cell{w.count, all.Bytes / n}, true
}

func (w *worker) spread(c *handles.Comm, self int, bytes uint64, sized bool) {
	if one, ok := w.each(c, self, bytes, sized); ok {
		w.b.fan(c).out[self].add(one)
	}
}

func (w *worker) collect(c *handles.Comm, self int, bytes uint64, sized bool) {
	one, ok := w.each(c, self, bytes, sized)
	if !ok {
		return
	}
	from := c
	if c.RemoteSize > 0 {
		from = c.Remote
	}
	f := w.b.fan(from)
	w.b.mu.Lock()
	if f.in == nil {
		f.in = make([]Cell, len(f.to))
	}
	w.b.mu.Unlock()
	f.in[self].add(one)
}

func (w *worker) unknown() { w.sum.UnknownPartnerCalls += w.count }
