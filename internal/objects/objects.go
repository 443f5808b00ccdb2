// Package objects tells what the handles that a call passes stand for at its position: how
// large the datatype is, which communicator a window or file spans, which call made the
// persistent request that is started, who the neighbours are. Bounds tell what a handle
// stands for at most, for those to whom the position doesn't matter.
//
// A rank's name for an object is the lowest free number of its kind, so that
// the same number may mean one thing early and another late. Mostly it does
// not, and then what a terminal means follows from the terminal alone; where
// it does, Pieces splits the terminal's occurrences by the positions at which
// the meaning changes. Nothing is expanded either way.
//
// A thread's calls say nothing of when another's were: an object that a thread
// did not make itself is the last one that another made under that number.
//
// The package does not name handles (internal/symbol does, while recording). Which
// ranks have the same communicator takes all ranks to find out: trace.Comms does that.
// Both resolve a number at a position with package naming.
package objects

import (
	"slices"
	"sync"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A kind is a kind of object.
type kind uint8

const (
	datatype kind = iota
	window
	request // persistent
	comm
	file
)

type key struct {
	kind kind
	id   int64
}

// maxBindings bounds how often objects of a name that changes its meaning may be
// made on a rank, for each takes memory here, but next to none in a file that says
// they were made in a loop. What a name means that exceeds it is not known.
var maxBindings uint64 = 1 << 20

// A Table is what all ranks of a trace share.
type Table struct {
	r *trace.Reader

	mu      sync.Mutex
	classes map[int]*class
	graphs  graphs
}

// A class caches what is the same for all ranks of a class.
type class struct {
	makers  []int // terminals that make objects
	uniform bool
	counts  [][]uint64 // by stream; of a uniform class

	mu     sync.Mutex
	places map[place]*trace.Occurrences // of a uniform class
}

// A place is a terminal in a stream.
type place struct{ stream, terminal int }

// New prepares a trace.
func New(r *trace.Reader) *Table { return &Table{r: r, classes: make(map[int]*class)} }

// Comms returns the communicators of the trace, which are found when first asked
// for.
func (t *Table) Comms() (*trace.Comms, error) { return t.r.Comms() }

func (t *Table) class(k *trace.Rank) (*class, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.classes[k.Class()]; c != nil {
		return c, nil
	}
	c := &class{places: make(map[place]*trace.Occurrences)}
	calls, err := k.Distinct()
	if err != nil {
		return nil, err
	}
	for n, call := range calls {
		if _, ok := makes(call); ok {
			c.makers = append(c.makers, n)
		}
	}
	if c.uniform, err = t.r.Uniform(k.Class()); err != nil {
		return nil, err
	}
	if c.uniform {
		c.counts = countsOf(k)
	}
	t.classes[k.Class()] = c
	return c, nil
}

func countsOf(k *trace.Rank) [][]uint64 {
	counts := make([][]uint64, k.Streams())
	for s := range counts {
		counts[s] = k.Counts(s)
	}
	return counts
}

// A Rank is what the handles of one rank stand for. It is not safe for use by
// several goroutines at once.
type Rank struct {
	t      *Table
	k      *trace.Rank
	class  *class
	counts [][]uint64
	made   map[key]*history
}

// Rank returns the view of a rank.
func (t *Table) Rank(k *trace.Rank) (*Rank, error) {
	c, err := t.class(k)
	if err != nil {
		return nil, err
	}
	x := &Rank{t: t, k: k, class: c, counts: c.counts, made: make(map[key]*history)}
	if x.counts == nil {
		x.counts = countsOf(k)
	}
	for stream, counts := range x.counts {
		for _, n := range c.makers {
			if counts[n] == 0 {
				continue
			}
			call, err := k.Terminal(n)
			if err != nil {
				return nil, err
			}
			made, ok := makes(call)
			if !ok {
				continue
			}
			h := x.made[made]
			if h == nil {
				h = &history{}
				x.made[made] = h
			}
			h.makers = append(h.makers, maker{stream, call})
			h.total += counts[n]
		}
	}
	var several []*history
	for made, h := range x.made {
		if x.ambiguous(made) {
			several = append(several, h)
		}
	}
	if len(several) > 0 {
		x.locate(several...)
	}
	return x, nil
}

// Count returns how often a terminal occurs in a stream.
func (x *Rank) Count(stream, terminal int) uint64 { return x.counts[stream][terminal] }

// makes tells what a call makes.
func makes(c *trace.Call) (key, bool) {
	want, of := "", kind(0)
	switch f := c.Func; {
	case f.Has(trace.CreatesType) && c.NewType != nil:
		want, of = "datatype", datatype
	case f.Has(trace.CreatesWin):
		want, of = "win", window
	case f.Has(trace.CreatesComm) && c.NewComm != nil:
		want, of = "comm", comm
	case f.Has(trace.Persistent):
		want, of = "request", request
	case c.Func.Has(trace.Collective):
		want, of = "file", file
	default:
		return key{}, false
	}
	for i := range c.Params {
		p := &c.Params[i]
		if p.Kind() != want {
			continue
		}
		if id, ok := own(of, &p.Out); ok {
			return key{of, id}, true
		}
	}
	return key{}, false
}

// own returns the number of an object that the program made.
func own(of kind, v *trace.Value) (int64, bool) {
	if of == request {
		return v.ID, v.Type == trace.Request && v.Form == trace.RequestPersistent
	}
	return v.Num, v.Type == trace.Handle && v.Num >= trace.FirstLocal
}

var kinds = map[string]kind{"datatype": datatype, "win": window, "request": request, "comm": comm, "file": file}

// uses calls visit with each object of its own that a call passes.
func uses(c *trace.Call, visit func(key)) {
	for i := range c.Params {
		p := &c.Params[i]
		of, ok := kinds[p.Kind()]
		if !ok || of == request && !c.Func.Has(trace.Starts) {
			continue
		}
		if id, ok := own(of, &p.In); ok {
			visit(key{of, id})
		}
		for j := range p.In.Elems {
			if id, ok := own(of, &p.In.Elems[j]); ok {
				visit(key{of, id})
			}
		}
	}
}

// A Piece is occurrences of a terminal in a stream for which all handles that
// the call passes mean the same.
type Piece struct {
	At    uint64 // a position that resolves the handles
	Count uint64
}

// Pieces splits the occurrences of a terminal in a stream.
func (x *Rank) Pieces(stream int, c *trace.Call) []Piece {
	total := x.counts[stream][c.Terminal]
	if total == 0 {
		return nil
	}
	var breaks []uint64
	uses(c, func(name key) {
		if !x.ambiguous(name) {
			return
		}
		for _, b := range x.made[name].positions {
			if b.Stream == stream {
				breaks = append(breaks, b.Index)
			}
		}
	})
	if len(breaks) == 0 {
		return []Piece{{0, total}}
	}
	slices.Sort(breaks)
	breaks = slices.Compact(breaks)
	o := x.occurrences(stream, c.Terminal)
	var list []Piece
	at, before := uint64(0), uint64(0)
	for i := 0; i <= len(breaks); i++ {
		upto := total
		if i < len(breaks) {
			upto = o.Before(breaks[i])
		}
		if upto > before {
			list = append(list, Piece{at, upto - before})
		}
		before = upto
		if i < len(breaks) {
			at = breaks[i]
		}
	}
	return list
}

func (x *Rank) occurrences(stream, terminal int) *trace.Occurrences {
	find := func() *trace.Occurrences {
		return x.k.Occurrences(stream, func(t int) bool { return t == terminal })
	}
	if !x.class.uniform {
		return find()
	}
	x.class.mu.Lock()
	defer x.class.mu.Unlock()
	o := x.class.places[place{stream, terminal}]
	if o == nil {
		o = find()
		x.class.places[place{stream, terminal}] = o
	}
	return o
}

// TypeSize returns the bytes of data of a datatype that a call at a position
// passes; false if not known.
func (x *Rank) TypeSize(handle int64, stream int, index uint64) (int64, bool) {
	if handle < trace.FirstLocal {
		return mpi.TypeSize(handle)
	}
	b, ok := x.at(key{datatype, handle}, stream, index)
	if !ok || b.Call.NewType.Size < 0 {
		return 0, false
	}
	return b.Call.NewType.Size, true
}

// Holes is how many times as many bytes as a datatype has of data it spans, one behind the other; 1 if it has no holes, or not known.
func (x *Rank) Holes(handle int64, stream int, index uint64) float64 {
	if b, ok := x.at(key{datatype, handle}, stream, index); ok && handle >= trace.FirstLocal {
		if t := b.Call.NewType; t.Size > 0 && t.Extent > t.Size {
			return float64(t.Extent) / float64(t.Size)
		}
	}
	return 1
}

// Comm returns the communicator that a call at a position passes; nil if not
// known.
func (x *Rank) Comm(v *trace.Value, stream int, index uint64) *trace.Comm {
	comms, err := x.t.Comms()
	if v.Type != trace.Handle || err != nil {
		return nil
	}
	return comms.At(x.k.Number(), stream, index, v.Num)
}

// CommOf returns the communicator that a call is about: one that it passes, or the one that
// its window or file was made on; nil if not known.
func (x *Rank) CommOf(c *trace.Call) *trace.Comm { return x.commOf(c, c.Stream, c.Index) }

func (x *Rank) commOf(c *trace.Call, stream int, index uint64) *trace.Comm {
	for i := range c.Params {
		p := &c.Params[i]
		if p.In.Type != trace.Handle {
			continue
		}
		of, ok := kinds[p.Kind()]
		switch {
		case ok && of == comm:
			return x.Comm(&p.In, stream, index)
		case ok && (of == window || of == file):
			if m, ok := x.at(key{of, p.In.Num}, stream, index); ok {
				return x.commOf(m.Call, m.Stream, m.Index)
			}
			return nil
		}
	}
	return nil
}

// A Making is the call that made an object, and where it was. The position
// resolves the handles of that call.
type Making struct {
	Call   *trace.Call
	Stream int
	Index  uint64
}

// Request returns the making of a persistent request, given its ID.
func (x *Rank) Request(id int64, stream int, index uint64) (Making, bool) {
	return x.at(key{request, id}, stream, index)
}

// Window returns the making of a window.
func (x *Rank) Window(handle int64, stream int, index uint64) (Making, bool) {
	return x.at(key{window, handle}, stream, index)
}

// Maker returns the making of a communicator that is not predefined.
func (x *Rank) Maker(handle int64, stream int, index uint64) (Making, bool) {
	return x.at(key{comm, handle}, stream, index)
}
