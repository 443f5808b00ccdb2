// Package waits says which ranks waited for which, and why: the wait states of a run, as they
// were classified by EXPERT and Scalasca (Wolf and Mohr 2003; Geimer et al. 2010), and who
// brought them about.
//
// It goes through the calls of all ranks side by side (ops.Source.Together), so that memory follows the
// messages and collectives that are under way and not the calls. A call waits at most once: of
// several operations that it completes, for the one that came last. A call waits from its
// beginning until the others had come, never past its own end; a rank that came last waits for nobody.
package waits

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
)

// A Kind is a reason to wait.
type Kind int

// The kinds of wait states.
const (
	LateSender   Kind = iota // a receive was there before its message was sent
	WrongOrder               // the same, while other messages that were received later had been sent
	LateReceiver             // a send could not go on before its receive was posted
	AtBarrier
	AtAll     // a collective that needs data of all members
	LateRoot  // a collective that needs data of the root
	EarlyRoot // the root needs data of all others
	EarlyScan // a scan needs data of all members before
	kinds
)

var kindNames = [kinds]string{
	"late sender", "late sender, wrong order", "late receiver", "wait at barrier", "wait at all-to-all", "late root", "early root", "early scan",
}

func (k Kind) String() string { return kindNames[k] }

// Kinds names all wait states, in order of their numbers.
func Kinds() []string { return slices.Clone(kindNames[:]) }

// MarshalText writes a kind by its name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a kind by its name.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("no wait state is called %q", text)
	}
	*k = Kind(i)
	return nil
}

// Options say how to look.
type Options struct {
	Name     func(function string, s trace.Site) string // of a call site; nil: module and offset
	Begin    func(calls uint64)                         // told how many calls there are to look at; may be nil
	Progress func(calls uint64)                         // told now and then how many more calls were looked at; may be nil
	Each     func(w Wait)                               // told of every wait; may be nil
	Path     bool                                       // find the critical path, too
	Tree     calltree.Options                           // which tree has the loops of the path
}

// A Wait is time that one call waited. One whose reason turns out to be another is taken back first: its
// time is below 0 then.
type Wait struct {
	Rank, Stream int
	Kind         Kind
	From, Ns     int64 // From counts from the first call of any rank, as the calls of export do
	By           int   // the rank that came last
}

// Of finds the wait states of a trace, which must have a time for every call. Times are in ns.
func Of(r *trace.Reader, o Options) (*Report, error) {
	if err := r.NeedTimes(); err != nil {
		return nil, err
	}
	kind, err := r.TimeKind()
	if err != nil {
		return nil, err
	}
	if !kind.Own() {
		return nil, ErrMeans
	}
	if o.Name == nil {
		o.Name = func(_ string, s trace.Site) string { return fmt.Sprintf("%s+0x%x", s.Module, s.Offset) }
	}
	s, err := ops.New(r, ops.Options{From: ops.FromStart, To: ops.ToEnd, Messages: true, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	if o.Begin != nil {
		calls, err := s.Calls()
		if err != nil {
			return nil, err
		}
		o.Begin(calls)
	}
	a := newAnalysis(s, r.Ranks())
	if a.torn, err = torn(r); err != nil {
		return nil, err
	}
	if o.Path {
		a.hops = &hops{of: make(map[thread][]hop)}
	}
	if a.each = o.Each; a.each == nil {
		a.each = func(Wait) {}
	}
	if err := s.Together(func(k *trace.Rank) ops.Sink { return a.watch(k) }); err != nil {
		return nil, err
	}
	a.end()
	rep := a.report(o.Name)
	rep.Times = kind.String()
	if o.Path {
		rep.Path, err = a.path(r, rep, &o)
	}
	return rep, err
}

// An analysis is what is known so far.
type analysis struct {
	s        *ops.Source
	each     func(Wait)
	hops     *hops      // nil: the path is not asked for
	ranks    []*watcher // nil: left no track
	here     []*watcher // those that did
	places   []trace.FunctionSite
	index    map[trace.FunctionSite]int32
	messages map[uint64]*message
	torn     map[ops.Channel]bool // messages that can't be matched
	meetings map[meetingKey]*meeting
	rows     map[rowKey]*row

	suffered, caused []int64 // by rank
	spent            []int64 // by rank: in MPI
	other            map[string]int64

	matched   uint64 // messages of which both ends are known
	backwards uint64 // of these, received before they were sent
	off       int64  // by how much, at most
}

func newAnalysis(s *ops.Source, ranks int) *analysis {
	return &analysis{
		s: s, ranks: make([]*watcher, ranks), index: make(map[trace.FunctionSite]int32), messages: make(map[uint64]*message),
		meetings: make(map[meetingKey]*meeting), rows: make(map[rowKey]*row),
		suffered: make([]int64, ranks), caused: make([]int64, ranks), spent: make([]int64, ranks), other: make(map[string]int64),
	}
}

func (a *analysis) place(c *ops.Call) int32 { return a.placeOf(c.FunctionSite()) }

func (a *analysis) placeOf(p trace.FunctionSite) int32 {
	n, ok := a.index[p]
	if !ok {
		n = int32(len(a.places))
		a.index[p] = n
		a.places = append(a.places, p)
	}
	return n
}

// An arrival is when somebody came to an operation, and where.
type arrival struct {
	at     int64
	within int64 // about how well that is known
	rank   int32
	stream int32
	place  int32
}

// A blocked call is one in which its rank may have waited.
type blocked struct {
	arrival       // of the one that waits
	end     int64 // when it returned
	open    int   // operations of which it is not known yet when the others came
	told    bool  // there are no further ones
	known   bool  // something is said of it
	settled bool

	kind   Kind
	waited int64
	by     arrival  // who came last
	got    *message // of a late sender
}

// waitsFor notes that somebody else came to an operation at a time. The last one counts. Ties go to the lower kind, then to the
// lower rank, so that the order of the analysis doesn't matter.
func (b *blocked) waitsFor(kind Kind, other arrival, m *message) {
	w := min(other.at, b.end) - b.at
	if w > b.waited || w == b.waited && w > 0 && cmp.Or(cmp.Compare(kind, b.kind), cmp.Compare(other.rank, b.by.rank)) < 0 {
		b.kind, b.waited, b.by, b.got = kind, w, other, m
	}
}

// as is what a call waited, for a reason.
func (b *blocked) as(kind Kind, ns int64) Wait {
	return Wait{int(b.rank), int(b.stream), kind, b.at, ns, int(b.by.rank)}
}

// met says that of one more operation it is known.
func (a *analysis) met(b *blocked) {
	if b.open--; b.open == 0 && b.told {
		a.settle(b)
		b.settled = true
	}
}

// settle adds up what a call waited. All there is to know of it is known.
func (a *analysis) settle(b *blocked) {
	if b.waited <= 0 {
		return
	}
	a.suffered[b.rank] += b.waited
	a.caused[b.by.rank] += b.waited
	from, to := b.at, b.at+b.waited
	inMPI := a.ranks[b.by.rank].history(b.by.stream).within(from, to)
	a.row(b.place, b.kind).add(b.rank, b.by, b.waited, b.waited-inMPI)
	a.each(b.as(b.kind, b.waited))
	if a.hops != nil && !a.hops.many {
		a.hops.add(b)
	}
	if b.got != nil {
		a.ranks[b.rank].lateSender(late{b.got.turn, b.got.sent.at, b, b.waited - inMPI})
	}
}

// end settles what will not be known any more.
func (a *analysis) end() {
	for _, number := range slices.Sorted(maps.Keys(a.messages)) {
		m := a.messages[number]
		if m.sendCall != nil {
			a.met(m.sendCall)
		}
		if m.recvCall != nil {
			a.met(m.recvCall)
		}
	}
	for _, x := range a.meetings {
		for _, w := range x.waiting {
			a.met(w.b) // it waited for nobody that came
		}
	}
}
