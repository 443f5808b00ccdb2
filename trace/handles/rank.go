package handles

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// maxBindings is the largest number of creations that a Rank stores for handles that mean several objects, one after
// the other. Each creation takes memory, though a loop of them takes next to none in the file. Above the limit, what
// the handles with most creations mean is unknown.
var maxBindings uint64 = 1 << 22

// A Rank determines which objects the handles of one rank mean in a call. It is not safe for concurrent use.
type Rank struct {
	t       *Table
	k       *trace.Rank
	class   *class
	counts  [][]uint64
	made    []created // by index in class.makers: what the terminal creates on this rank
	objects map[key]*object
	located bool
	handed  [][]handed        // by stream: uses of ambiguous handles whose objects another stream made
	rare    map[int]*rarities // by stream, if the class is not uniform; otherwise class.rare is used
}

// A created is a call that creates an object on the rank, and the handle that it gets. It is zero if no object is
// created, or none of a wanted kind.
type created struct {
	call *trace.Call
	*object
}

// An object is the history of one handle: all objects that it means, one after the other.
type object struct {
	name   key
	makers []Creation // the creating terminals, by stream; Index is 0 in each
	total  uint64     // number of calls that create an object with this handle
	state  nameState
	past   history[Creation] // if state is ambiguous: all creations, computed when Rank.past is first called
}

type nameState uint8

const (
	unseen    nameState = iota
	plain               // the handle means objects with the same properties in all calls
	ambiguous           // which object the handle means depends on the call's position
	lost                // as ambiguous, but too many creations to store: the object is unknown
)

// A Creation is the call that created an object, and the call's position (stream and index), at which the handles that
// it passes have to be resolved.
type Creation struct {
	Call   *trace.Call
	Stream int
	Index  uint64
}

// Rank returns a Rank for all kinds of handles of a rank.
func (t *Table) Rank(k *trace.Rank) (*Rank, error) {
	return t.view(k, func(kind) bool { return true })
}

// RankWithCommsOnly returns a Rank that knows only communicators, windows and files.
func (t *Table) RankWithCommsOnly(k *trace.Rank) (*Rank, error) {
	return t.view(k, func(of kind) bool { return of == comm || of == window || of == file })
}

// view returns a Rank that knows only the wanted kinds of objects.
func (t *Table) view(k *trace.Rank, wanted func(kind) bool) (*Rank, error) {
	c := t.class(k)
	x := &Rank{t: t, k: k, class: c, counts: c.counts, made: make([]created, len(c.makers)), objects: make(map[key]*object), rare: make(map[int]*rarities)}
	if x.counts == nil {
		x.counts = countsOf(k)
	}
	for stream, counts := range x.counts {
		for i, m := range c.makers {
			if counts[m.terminal] == 0 || !wanted(m.of) {
				continue
			}
			call, err := k.Terminal(m.terminal)
			if err != nil {
				return nil, err
			}
			name, ok := makes(m.of, call)
			if !ok {
				continue
			}
			o := x.objects[name]
			if o == nil {
				o = &object{name: name}
				x.objects[name] = o
			}
			o.makers = append(o.makers, Creation{Call: call, Stream: stream})
			o.total += counts[m.terminal]
			x.made[i] = created{call, o}
		}
	}
	x.bound()
	return x, x.findHanded()
}

// A handed is a stream's first use of a handle whose object another stream made.
type handed struct {
	key
	trace.Handover
}

// findHanded sets x.handed: for ambiguous handles, where a stream first uses an object that another one made.
func (x *Rank) findHanded() error {
	x.handed = make([][]handed, len(x.counts))
	for stream := range x.handed {
		if len(x.handed) == 1 {
			break
		}
		list, err := x.k.Handovers(stream)
		if err != nil {
			return err
		}
		for _, h := range list {
			of := slices.Index(mpiKinds[:], h.Kind)
			if k := (key{kind(of), h.Handle}); of >= 0 && x.ambiguous(k) {
				x.handed[stream] = append(x.handed[stream], handed{k, h})
			}
		}
	}
	return nil
}

// bound finds ambiguous handles. If they have more than maxBindings creations together, it marks those with most of
// them as lost.
func (x *Rank) bound() {
	var several []*object
	for name, o := range x.objects {
		if x.ambiguous(name) {
			several = append(several, o)
		}
	}
	slices.SortFunc(several, func(a, b *object) int {
		return cmp.Or(cmp.Compare(a.total, b.total), cmp.Compare(a.makers[0].Call.Terminal, b.makers[0].Call.Terminal))
	})
	room := maxBindings
	for _, o := range several {
		if o.total > room {
			o.state, room = lost, 0
			continue
		}
		room -= o.total
	}
}

// Count returns how often a terminal occurs in a stream.
func (x *Rank) Count(stream, terminal int) uint64 { return x.counts[stream][terminal] }

// ambiguous reports whether what a handle means (for a datatype: its size) depends on the position of the call.
func (x *Rank) ambiguous(name key) bool {
	o := x.objects[name]
	if o == nil {
		return false
	}
	if o.state == unseen {
		o.state = plain // ends the recursion if, in a damaged trace, an object is created from itself
		if x.changes(o) {
			o.state = ambiguous
		}
	}
	return o.state == ambiguous
}

func (x *Rank) changes(o *object) bool {
	first := o.makers[0].Call
	other := func(m Creation) bool { return m.Call != first }
	switch o.name.kind {
	case datatype:
		return slices.ContainsFunc(o.makers, func(m Creation) bool { return m.Call.NewType.Size != first.NewType.Size })
	case file: // only its communicator is asked for
		comm := first.Param("comm")
		other = func(m Creation) bool {
			c := m.Call.Param("comm")
			return c == nil || comm == nil || c.In.Num != comm.In.Num
		}
	}
	found := slices.ContainsFunc(o.makers, other)
	uses(first, func(k key) { found = found || x.ambiguous(k) })
	return found
}

// An extent says which calls of a creating terminal are searched: none, the first of each stream, or all.
type extent uint8

const (
	noneOf extent = iota
	firstOf
	allOf
)

// A making is the index in its stream of a call that creates an object, and the index of its terminal in class.makers.
type making struct {
	index uint64
	maker int
}

// makings returns the positions of the calls that create objects, by stream and in order, found in a single pass.
// wanted says for an object which of them.
func (x *Rank) makings(wanted func(*object) extent) [][]making {
	sought := make([]extent, len(x.made))
	for i, m := range x.made {
		if m.object != nil {
			sought[i] = wanted(m.object)
		}
	}
	c := x.class
	if !c.uniform {
		return x.find(sought)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found == nil || !slices.Equal(c.sought, sought) {
		c.sought, c.found = sought, x.find(sought)
	}
	return c.found
}

func (x *Rank) find(sought []extent) [][]making {
	found := make([][]making, len(x.counts))
	if !slices.ContainsFunc(sought, func(e extent) bool { return e != noneOf }) {
		return found
	}
	of := make([]int, x.k.Terminals()) // by terminal: 1 + its index in makers if all of its calls are wanted, else 0
	for i, e := range sought {
		if e == allOf {
			of[x.class.makers[i].terminal] = i + 1
		}
	}
	for stream, counts := range x.counts {
		for index, t := range x.k.Occurrences(stream, func(t int) bool { return of[t] > 0 }).All() {
			found[stream] = append(found[stream], making{index, of[t] - 1})
		}
		firsts := x.k.FirstPositions(stream)
		for i, e := range sought {
			if t := x.class.makers[i].terminal; e == firstOf && counts[t] > 0 {
				found[stream] = append(found[stream], making{firsts[t], i})
			}
		}
		slices.SortFunc(found[stream], func(a, b making) int { return cmp.Compare(a.index, b.index) })
	}
	return found
}

// past returns the creations of all objects that an ambiguous handle meant. The first call of past finds the positions
// of the calls that created them, for all ambiguous handles.
func (x *Rank) past(o *object) history[Creation] {
	if !x.located {
		x.located = true
		for stream, list := range x.makings(func(o *object) extent {
			if o.state == ambiguous {
				return allOf
			}
			return noneOf
		}) {
			for _, at := range list {
				m := &x.made[at.maker]
				m.past = append(m.past, binding[Creation]{stream, at.index, Creation{m.call, stream, at.index}})
			}
		}
		got := make(map[key]history[Creation])
		for stream, list := range x.handed {
			for _, h := range list {
				if m, ok := x.objects[h.key].past.of(h.MakerStream).last(h.MakerCall); ok {
					got[h.key] = append(got[h.key], binding[Creation]{stream, h.FirstUse, m.to})
				}
			}
		}
		for k, list := range got {
			o := x.objects[k]
			o.past = append(o.past, list...)
			slices.SortStableFunc(o.past, order)
		}
	}
	return o.past
}

// at returns the creation of the object that a handle means in the call at the given stream and index; false if
// unknown.
func (x *Rank) at(name key, stream int, index uint64) (Creation, bool) {
	o := x.objects[name]
	if o == nil || o.state == lost {
		return Creation{}, false
	}
	if o.state != ambiguous {
		return o.makers[len(o.makers)-1], true
	}
	b, ok := x.past(o).at(stream, index)
	return b.to, ok
}

// An OccurrenceGroup is occurrences of a terminal in a stream for which all handles that the call passes mean the
// same.
type OccurrenceGroup struct {
	ExampleIndex uint64 // an index in the stream at which the handles mean what they mean in these occurrences
	Count        uint64
}

// GroupOccurrences splits the occurrences of a terminal in a stream by what the call's handles mean.
func (x *Rank) GroupOccurrences(stream int, c *trace.Call) (list []OccurrenceGroup) {
	total := x.counts[stream][c.Terminal]
	if total == 0 {
		return nil
	}
	var pasts []history[Creation] // for each ambiguous handle that the call passes: its creations in this stream
	changes := uint64(0)
	uses(c, func(name key) {
		if x.ambiguous(name) {
			if own := x.past(x.objects[name]).of(stream); len(own) > 0 {
				pasts = append(pasts, own)
				changes += uint64(len(own))
			}
		}
	})
	if len(pasts) == 0 {
		return []OccurrenceGroup{{0, total}}
	}
	add := func(at, count uint64) {
		if n := len(list); n > 0 && list[n-1].ExampleIndex == at {
			list[n-1].Count += count
		} else if count > 0 {
			list = append(list, OccurrenceGroup{at, count})
		}
	}
	if total <= x.rareIn(stream).upTo || total < changes {
		for index := range x.positions(stream, c.Terminal) {
			at := uint64(0)
			for _, h := range pasts {
				if b, ok := h.last(index); ok {
					at = max(at, b.index)
				}
			}
			add(at, 1)
		}
		return list
	}
	breaks := []uint64{0}
	for _, h := range pasts {
		for _, b := range h {
			breaks = append(breaks, b.index)
		}
	}
	slices.Sort(breaks)
	o := x.occurrences(stream, c.Terminal)
	for i, at := range breaks {
		upto := total
		if i+1 < len(breaks) {
			upto = o.CountBefore(breaks[i+1])
		}
		add(at, upto-o.CountBefore(at))
	}
	return list
}

// positions yields the indices of a terminal's calls in a stream, in order.
func (x *Rank) positions(stream, terminal int) iter.Seq[uint64] {
	if list := x.rareIn(stream).at[terminal]; list != nil {
		return slices.Values(list)
	}
	return func(yield func(uint64) bool) {
		for index := range x.occurrences(stream, terminal).All() {
			if !yield(index) {
				return
			}
		}
	}
}

// rarities are the positions of all terminals with few calls in a stream, found in one pass.
type rarities struct {
	upTo uint64     // largest number of calls of such a terminal
	at   [][]uint64 // by terminal: the indices of its calls in order; nil if there are more than upTo
}

// mostRare is about the largest number of positions of a stream that rarities keep: above it, upTo is reduced.
const mostRare = 1 << 22

// rareIn returns the positions of the terminals that have few calls in a stream.
func (x *Rank) rareIn(stream int) *rarities {
	list := x.rare
	if x.class.uniform {
		x.class.mu.Lock()
		defer x.class.mu.Unlock()
		list = x.class.rare
	}
	r := list[stream]
	if r != nil {
		return r
	}
	counts := x.counts[stream]
	sum := func(upTo uint64) (sum uint64) {
		for _, n := range counts {
			if n <= upTo {
				sum += n
			}
		}
		return sum
	}
	r = &rarities{upTo: 1 << 16, at: make([][]uint64, len(counts))}
	for r.upTo > 8 && sum(r.upTo) > mostRare {
		r.upTo /= 2
	}
	room := make([]uint64, sum(r.upTo))
	for t, n := range counts {
		if n <= r.upTo {
			r.at[t], room = room[:0:n], room[n:]
		}
	}
	for index, t := range x.k.Occurrences(stream, func(t int) bool { return counts[t] <= r.upTo }).All() {
		r.at[t] = append(r.at[t], index)
	}
	list[stream] = r
	return r
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
	o := x.class.places[streamTerminal{stream, terminal}]
	if o == nil {
		o = find()
		x.class.places[streamTerminal{stream, terminal}] = o
	}
	return o
}

// TypeSize returns the data size in bytes of the datatype that a handle means in the call at the given stream and
// index; false if unknown.
func (x *Rank) TypeSize(handle int64, stream int, index uint64) (int64, bool) {
	if handle < trace.FirstCreatedHandle {
		return mpi.PredefinedTypeSize(handle)
	}
	b, ok := x.at(key{datatype, handle}, stream, index)
	if !ok || b.Call.NewType.Size < 0 {
		return 0, false
	}
	return b.Call.NewType.Size, true
}

// FixedTypeSize returns the data size in bytes of the datatypes that a handle means; 0 if it is unknown, or not the
// same in all calls.
func (x *Rank) FixedTypeSize(handle int64) int64 {
	if x.ambiguous(key{datatype, handle}) {
		return 0
	}
	n, _ := x.TypeSize(handle, 0, 0)
	return n
}

// ExtentRatio returns the extent divided by the data size of the datatype that a handle means in the call at the given
// stream and index. It is 1 if the datatype has no holes or is unknown.
func (x *Rank) ExtentRatio(handle int64, stream int, index uint64) float64 {
	if b, ok := x.at(key{datatype, handle}, stream, index); ok && handle >= trace.FirstCreatedHandle {
		if t := b.Call.NewType; t.Size > 0 && t.Extent > t.Size {
			return float64(t.Extent) / float64(t.Size)
		}
	}
	return 1
}

// Comm returns the communicator that the handle v means in the call at the given stream and index; nil if unknown.
func (x *Rank) Comm(v *trace.Value, stream int, index uint64) *Comm {
	comms, err := x.t.Comms()
	if v.Type != trace.TypeHandle || err != nil {
		return nil
	}
	return comms.At(x.k.Number(), stream, index, v.Num)
}

// CommOf returns the communicator of call c, which is at the given stream and index: the one that it passes, or the
// one on which the window or file that it passes was made; nil if unknown.
func (x *Rank) CommOf(c *trace.Call, stream int, index uint64) *Comm {
	for i := range c.Params {
		p := &c.Params[i]
		if p.In.Type != trace.TypeHandle {
			continue
		}
		switch of, ok := kindOf(p); {
		case ok && of == comm:
			return x.Comm(&p.In, stream, index)
		case ok && (of == window || of == file):
			if made, ok := x.at(key{of, p.In.Num}, stream, index); ok {
				return x.CommOf(made.Call, made.Stream, made.Index)
			}
			return nil
		}
	}
	return nil
}

// PersistentRequestCreation returns the creation of the persistent request that has the given RequestID in the call at
// the given stream and index; false if unknown.
func (x *Rank) PersistentRequestCreation(id int64, stream int, index uint64) (Creation, bool) {
	return x.at(key{request, id}, stream, index)
}

// CommCreation returns the creation of the communicator that a handle means in the call at the given stream and index.
// It returns false if the communicator is predefined or unknown.
func (x *Rank) CommCreation(handle int64, stream int, index uint64) (Creation, bool) {
	return x.at(key{comm, handle}, stream, index)
}

// A binding is the call (stream and index) from which on a handle means an object (to) in that stream. The call created
// the object, or is the first there that uses an object of another thread.
type binding[T any] struct {
	stream int
	index  uint64
	to     T
}

// A history is all bindings of one handle on a rank, sorted by stream and index.
type history[T any] []binding[T]

func order[T any](a, b binding[T]) int {
	return cmp.Or(cmp.Compare(a.stream, b.stream), cmp.Compare(a.index, b.index))
}

// with returns the history with another binding at its place in the order.
func (h history[T]) with(b binding[T]) history[T] {
	n := len(h)
	for n > 0 && order(h[n-1], b) > 0 {
		n--
	}
	return slices.Insert(h, n, b)
}

// at returns the binding that is valid in the call at the given stream and index; false if there is no binding.
// Bindings of the stream itself are valid from their calls on. Before its first one, the last binding of the other
// stream with the highest number is valid.
func (h history[T]) at(stream int, index uint64) (b binding[T], ok bool) {
	own := h.of(stream)
	if b, ok := own.last(index); ok {
		return b, true
	}
	if n := len(h); n > 0 && h[n-1].stream != stream {
		return h[n-1], true
	}
	if others := h[:len(h)-len(own)]; len(others) > 0 {
		return others[len(others)-1], true
	}
	if len(h) > 0 {
		return h[0], true
	}
	return b, false
}

// of returns the bindings of one stream.
func (h history[T]) of(stream int) history[T] {
	from := sort.Search(len(h), func(i int) bool { return h[i].stream >= stream })
	return h[from:sort.Search(len(h), func(i int) bool { return h[i].stream > stream })]
}

// last returns the last binding up to and including the call at the given index; h has bindings of one stream only.
func (h history[T]) last(index uint64) (b binding[T], ok bool) {
	n := sort.Search(len(h), func(i int) bool { return h[i].index > index })
	if n == 0 {
		return b, false
	}
	return h[n-1], true
}
