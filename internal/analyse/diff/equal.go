package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A matcher compares distinct calls of two ranks and remembers the results. Requests are equal if their ranks have made
// equally many since: up to the first difference, both ranks have made the same requests.
type matcher struct {
	a, b  *trace.Rank
	o     Options
	match []int32         // by terminal of a: 1 + the terminal of b that last was equal; 0: none so far
	miss  map[[2]int]bool // pairs of a terminal of a and one of b that are different
	names *renaming       // nil: no values may differ between the traces
}

func newMatcher(a, b *trace.Rank, o Options) *matcher {
	m := &matcher{a: a, b: b, o: o, match: make([]int32, a.Terminals()), miss: make(map[[2]int]bool)}
	if o.corresponds() {
		m.names = newRenaming()
		m.names.files, m.names.anywhere = o.AllowRenamedValues, o.AllowMovedBlocks && !o.AllowRenamedValues
		m.o.names = m.names
	}
	return m
}

func (m *matcher) equal(a, b int) (bool, error) {
	if m.match[a] == int32(b)+1 {
		return true, nil
	}
	if m.miss[[2]int{a, b}] {
		return false, nil
	}
	x, err := m.a.Terminal(a)
	if err != nil {
		return false, err
	}
	y, err := m.b.Terminal(b)
	if err != nil {
		return false, err
	}
	equal := m.o.equalCalls(x, y)
	if m.names != nil {
		m.names.end(equal)
	}
	if equal {
		m.match[a] = int32(b) + 1
		return true, nil
	}
	m.miss[[2]int{a, b}] = true
	return false, nil
}

// same reports whether two calls are equal. It compares their terminals, which is remembered. If a terminal has a lane,
// or if statuses or requests of only one of the calls follow from earlier calls, it compares the calls with all their
// values.
func (m *matcher) same(x, y *trace.Call) (bool, error) {
	if m.a.Lane(x.Terminal) == nil && m.b.Lane(y.Terminal) == nil {
		equal, err := m.equal(x.Terminal, y.Terminal)
		if equal || err != nil || m.a.DependsOnEarlierCalls(x.Terminal) == m.b.DependsOnEarlierCalls(y.Terminal) {
			return equal, err
		}
	}
	equal := m.o.equalCalls(x, y)
	if m.names != nil {
		m.names.end(equal)
	}
	return equal, nil
}

// equalButSource reports whether wildcard receive x and receive y are equal, except that y names the source and tag of
// the message that it got.
func (m *matcher) equalButSource(x, y *trace.Call) bool {
	c := *y
	c.Params = slices.Clone(y.Params)
	p := c.Param("status")
	asked, ok := ops.ReceiveSelectionOf(x)
	got, known := ops.ReceiveSelectionOf(&c)
	if !ok || !known || p == nil || p.Out.Status == nil {
		return false
	}
	s := p.Out.Status
	for _, q := range []struct {
		old, at *trace.Param
		value   int64
	}{{asked.Source, got.Source, s.Source}, {asked.Tag, got.Tag, s.Tag}} {
		if q.old.In.Num < 0 && q.at.In.Num == q.value {
			q.at.In = q.old.In
		}
	}
	return m.equalCopies(x, &c)
}

// equalButMessage reports whether two receives are equal, except that they got different messages. If named is set,
// they may also differ in source, tag and size, which they took from a probe before them.
func (m *matcher) equalButMessage(x, y *trace.Call, named bool) bool {
	p, q := x.Param("status"), y.Param("status")
	if p == nil || q == nil || p.Out.Status == nil || q.Out.Status == nil {
		return false
	}
	c := *y
	c.Params = slices.Clone(y.Params)
	*c.Param("status") = *p
	asked, ok := ops.ReceiveSelectionOf(x)
	if got, known := ops.ReceiveSelectionOf(&c); named && ok && known {
		got.Source.In, got.Tag.In = asked.Source.In, asked.Tag.In
		proportional(x.Param("count"), c.Param("count"), p.Out.Status.ReceivedBytes, q.Out.Status.ReceivedBytes)
	}
	return m.equalCopies(x, &c)
}

// equalButAsked reports whether two calls that query a status (e.g. MPI_Get_count) are equal, except that it is the
// status of different messages. last has, for each trace, the last message that a wildcard got.
func (m *matcher) equalButAsked(x, y *trace.Call, last [2]*trace.StatusValue) bool {
	p, q := x.Param("status"), y.Param("status")
	if p == nil || q == nil || !sameMessage(p.In.Status, last[0]) || !sameMessage(q.In.Status, last[1]) {
		return false
	}
	c := *y
	c.Params = slices.Clone(y.Params)
	c.Param("status").In = p.In
	for i := range c.Params {
		if r := &c.Params[i]; r.In.Type == trace.TypeNone && i < len(x.Params) {
			proportional(&x.Params[i], r, p.In.Status.ReceivedBytes, q.In.Status.ReceivedBytes)
		}
	}
	return m.equalCopies(x, &c)
}

func sameMessage(s, t *trace.StatusValue) bool {
	return s != nil && t != nil && s.Source == t.Source && s.Tag == t.Tag && s.ReceivedBytes == t.ReceivedBytes
}

// proportional sets q's number of elements to p's if elements have the same size in both messages: both numbers are in
// proportion to the bytes of their messages.
func proportional(p, q *trace.Param, bytesOfP, bytesOfQ int64) {
	if p == nil || q == nil {
		return
	}
	for _, v := range [][2]*trace.Value{{&p.In, &q.In}, {&p.Out, &q.Out}} {
		if v[0].Type == trace.TypeInt && v[1].Type == trace.TypeInt && v[0].Num*bytesOfQ == v[1].Num*bytesOfP {
			v[1].Num = v[0].Num
		}
	}
}

// equalCopies reports whether two calls are equal. One may be a changed copy of a recorded call, so the result isn't
// remembered for terminals.
func (m *matcher) equalCopies(x, y *trace.Call) bool {
	equal := m.o.equalCalls(x, y)
	if m.names != nil {
		m.names.end(equal)
	}
	return equal
}

// sameResult compares the fields of statuses that function f sets; the others keep their earlier values. File
// operations set only the count, and probes don't set the cancelled bit.
func sameResult(f *trace.Function, s, t *trace.StatusValue) bool {
	switch def, _ := mpi.CallByID(f.ID); {
	case def.UsesOpenFile():
		return s.Form == t.Form && s.ReceivedBytes == t.ReceivedBytes
	case meaning.WaitBehaviourOf(def).Probes:
		return s.Form == t.Form && s.Source == t.Source && s.Tag == t.Tag && s.ReceivedBytes == t.ReceivedBytes
	}
	return *s == *t
}

// ofMPI reports whether output parameter p of call c is the value of a predefined attribute, such as MPI_TAG_UB. C
// programs get a pointer to the value, Fortran programs the value, so traces of the two differ.
func ofMPI(c *trace.Call, p *trace.Param) bool {
	if p.Name() != "attribute_val" || p.Def.Dir != trace.DirOut {
		return false
	}
	for i := range c.Params {
		if k := &c.Params[i]; k.Kind() == mpi.KindKeyval {
			return mpi.ConstantName(mpi.KindKeyval, k.In.Num) != ""
		}
	}
	return false
}

func (o *Options) equalCalls(x, y *trace.Call) bool {
	if x.Name() != y.Name() || x.Return != y.Return || len(x.Params) != len(y.Params) || o.CompareSites && !o.sameSite(x.Site, y.Site) {
		return false
	}
	// If addresses may differ, so may the results of MPI_Aint_add and MPI_Aint_diff, which are computed from them.
	if !o.equalValues(&x.Result, &y.Result) && !(o.IgnoreAddresses && strings.HasPrefix(x.Name(), "MPI_Aint_")) && !(o.corresponds() && betweenSegments(x)) {
		return false
	}
	for i := range x.Params {
		p, q := &x.Params[i], &y.Params[i]
		if s, t := p.Out.Status, q.Out.Status; o.corresponds() && s != nil && t != nil && p.Name() == q.Name() {
			if !sameResult(x.Func, s, t) {
				return false
			}
			continue
		}
		// The cancelled bit isn't compared, as the function that set one of the statuses may not have set it.
		if s, t := p.In.Status, q.In.Status; o.AllowMovedBlocks && s != nil && t != nil {
			if s.Form != t.Form || s.Source != t.Source || s.Tag != t.Tag || s.ReceivedBytes != t.ReceivedBytes {
				return false
			}
			continue
		}
		if o.AllowRenamedValues && ofMPI(x, p) && ofMPI(y, q) || o.AllowMovedBlocks && unread(x, p) && unread(y, q) {
			continue
		}
		if p.Name() != q.Name() || !o.equalPart(p, &p.In, &q.In) || !o.equalPart(p, &p.Out, &q.Out) {
			return false
		}
	}
	return equalPointers(x.NewComm, y.NewComm) && o.equalTypes(x.NewType, y.NewType)
}

func (o *Options) sameSite(s, t trace.Site) bool {
	if o.IgnoreCallers {
		return s.WithoutCallers() == t.WithoutCallers()
	}
	return s.Equal(t)
}

// betweenSegments reports whether a call is MPI_Aint_diff of addresses in two different segments.
func betweenSegments(c *trace.Call) bool {
	if c.Name() != "MPI_Aint_diff" || len(c.Params) != 2 {
		return false
	}
	v, w := c.Params[0].In.Addr, c.Params[1].In.Addr
	return v.Class != w.Class || v.Device != w.Device || v.ID != w.ID
}

// equalTypes reports whether two new datatypes are equal, as far as the trace describes them. If addresses may differ,
// so may the lower bound and extent of a datatype that is made of addresses.
func (o *Options) equalTypes(x, y *trace.NewType) bool {
	if (o.IgnoreAddresses || o.corresponds()) && x != nil && y != nil && isAddress(x.TrueLowerBound) && isAddress(y.TrueLowerBound) {
		return x.Size == y.Size
	}
	return equalPointers(x, y)
}

// isAddress reports whether a number is so large that it must be an address, or the distance between two addresses.
func isAddress(n int64) bool {
	const far = 1 << 40
	return (n > far || n < -far) && n < 1<<47 && n > -1<<47
}

// DifferingParams names the parameters in which two calls of one function differ. It adds "return" if their results
// differ, and "#" if they made different communicators or datatypes.
func DifferingParams(x, y *trace.Call) []string {
	o := Options{CompareSites: true}
	var list []string
	for i := range min(len(x.Params), len(y.Params)) {
		p, q := &x.Params[i], &y.Params[i]
		if !o.equalValues(&p.In, &q.In) || !o.equalValues(&p.Out, &q.Out) {
			list = append(list, p.Name())
		}
	}
	if x.Return != y.Return || !o.equalValues(&x.Result, &y.Result) {
		list = append(list, "return")
	}
	if !equalPointers(x.NewComm, y.NewComm) || !equalPointers(x.NewType, y.NewType) {
		list = append(list, "#")
	}
	return list
}

// equalPart reports whether two values of parameter p are equal: its inputs or its outputs in two calls.
func (o *Options) equalPart(p *trace.Param, v, w *trace.Value) bool {
	if o.names != nil && v.Type == w.Type {
		if equal, ok := o.names.renamed(p, v, w); ok {
			return equal
		}
	}
	return o.equalValues(v, w)
}

func (o *Options) equalValues(v, w *trace.Value) bool {
	if v.Type != w.Type {
		return false
	}
	switch v.Type {
	case trace.TypeFunctionRef:
		// The number of a callback function depends on its address in the binary.
		return !o.CompareSites && (v.Num == 0) == (w.Num == 0) || v.Num == w.Num || v.Site != nil && equalPointers(v.Site, w.Site)
	case trace.TypeAddress:
		return o.IgnoreAddresses || o.names != nil && o.names.address(&v.Addr, &w.Addr) || o.names == nil && v.Addr == w.Addr
	case trace.TypeString:
		return v.IsNullString == w.IsNullString && v.Text == w.Text
	case trace.TypeStatus:
		if s, t := v.Status, w.Status; o.AllowRenamedValues && s.IsPending() && t != nil && t.HasError {
			return t.IsPending() // the request hasn't completed, so the other fields hold what they held before
		}
		return equalPointers(v.Status, w.Status)
	case trace.TypeRequest:
		return v.RequestForm == w.RequestForm && v.RequestID == w.RequestID
	case trace.TypeInt:
		return v.Num == w.Num || isAddress(v.Num) && isAddress(w.Num) &&
			(o.IgnoreAddresses || o.names != nil && o.names.name(name{kind: mpi.KindAddress, num: v.Num}, name{kind: mpi.KindAddress, num: w.Num}))
	case trace.TypeArray:
		return v.Num == w.Num && slices.EqualFunc(v.Elems, w.Elems, func(a, b trace.Value) bool { return o.equalValues(&a, &b) })
	case trace.TypeNone, trace.TypeTime, trace.TypeHandle, trace.TypeMPITObject:
		return v.Num == w.Num
	}
	panic(fmt.Sprintf("diff: values of type %d can't be compared", v.Type)) // no parameter has values of another type
}

func equalPointers[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// A renaming maps values of the first trace that may differ to values of the second, one to one. Addresses are mapped
// by segment and shift within it. A comparison adds pairs; they are kept only if it finds the calls equal.
type renaming struct {
	there, back map[movedSegment]movedSegment
	names, old  map[name]name
	trial       []func()

	threads bool // handles and persistent requests may have different numbers, as they depend on the order of threads
	files   bool // file names and attribute keys may differ

	anywhere bool // addresses in memory without allocation events are all equal
}

// A movedSegment is a segment, and by how many bytes offsets in it are larger than in the other trace's segment.
type movedSegment struct {
	class  trace.AddressClass
	device int
	id     int64
	shift  int64
}

// A name is a value that may be another in each run, such as a file's name or a handle's number, with its kind.
type name struct {
	kind mpi.Kind
	text string
	num  int64
}

// threadNumber is the kind of names that are numbers of threads. No parameter has this kind.
const threadNumber = mpi.KindNone

func newRenaming() *renaming {
	return &renaming{
		files: true,
		there: make(map[movedSegment]movedSegment), back: make(map[movedSegment]movedSegment), names: make(map[name]name), old: make(map[name]name),
	}
}

// end ends a comparison: it keeps the pairs of values that were added since the last end, or removes them.
func (r *renaming) end(keep bool) {
	if !keep {
		for _, undo := range r.trial {
			undo()
		}
	}
	r.trial = r.trial[:0]
}

func (r *renaming) address(v, w *trace.SymbolicAddress) bool {
	if v.Class == trace.AddressSpecial || w.Class == trace.AddressSpecial {
		return *v == *w
	}
	switch {
	case nowhere(v) || nowhere(w):
		return true
	case !r.anywhere:
	case !block(v) || !block(w):
		return *v == *w
	case v.Class == trace.AddressUnknown || w.Class == trace.AddressUnknown:
		return true
	case v.Offset != w.Offset:
		return false
	}
	from := movedSegment{v.Class, v.Device, v.ID, 0}
	to := movedSegment{w.Class, w.Device, w.ID, w.Offset - v.Offset}
	if known, ok := r.there[from]; ok {
		return known == to
	}
	if _, ok := r.back[to]; ok {
		return false
	}
	r.there[from], r.back[to] = to, from
	r.trial = append(r.trial, func() { delete(r.there, from); delete(r.back, to) })
	return true
}

// unread reports whether a parameter is a buffer that MPI ignores because the caller isn't the root. Programs may pass
// uninitialised pointers there. It is known only for MPI_COMM_WORLD, where the root is a world rank.
func unread(c *trace.Call, p *trace.Param) bool {
	if p.In.Type != trace.TypeAddress || !p.Def.OnlyRoot {
		return false
	}
	comm, root := c.Param("comm"), c.Param("root")
	return comm != nil && root != nil && comm.In.Num == mpi.HandleCommWorld && root.In.Num != int64(c.Rank)
}

// nowhere reports whether all that a trace has of an address is that it lies in no known segment. Such addresses can't
// even be compared for equality.
func nowhere(v *trace.SymbolicAddress) bool {
	return v.Class == trace.AddressUnknown && v.ID >= model.FirstUncomparableAddress
}

// block reports whether an address is, or may be, in memory that the program allocated.
func block(v *trace.SymbolicAddress) bool {
	return v.Class == trace.AddressHeap || v.Class == trace.AddressUnknown
}

func (r *renaming) name(v, w name) bool {
	if known, ok := r.names[v]; ok {
		return known == w
	}
	if _, ok := r.old[w]; ok {
		return false
	}
	r.names[v], r.old[w] = w, v
	r.trial = append(r.trial, func() { delete(r.names, v); delete(r.old, w) })
	return true
}

// renamed reports whether two values of parameter p are equal under the renaming. ok is false if p's values may not be
// renamed.
func (r *renaming) renamed(p *trace.Param, v, w *trace.Value) (equal, ok bool) {
	if r.threads {
		if equal, ok := r.own(p.Kind(), v, w, v == &p.Out); ok {
			return equal, true
		}
	}
	switch {
	case !r.files:
	case v.Type == trace.TypeString && p.Name() == "filename" && !v.IsNullString && !w.IsNullString:
		return r.name(name{kind: mpi.KindFile, text: v.Text}, name{kind: mpi.KindFile, text: w.Text}), true
	case v.Type == trace.TypeString && p.Kind() == mpi.KindFilePath && !v.IsNullString && !w.IsNullString:
		return r.name(name{kind: mpi.KindFilePath, text: v.Text}, name{kind: mpi.KindFilePath, text: w.Text}), true
	case v.Type == trace.TypeInt && (p.Kind() == mpi.KindKeyval || p.Kind() == mpi.KindFint):
		return v.Num == w.Num || r.name(name{kind: p.Kind(), num: v.Num}, name{kind: p.Kind(), num: w.Num}), true
	}
	return false, false
}
