package partners

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A message is a message that a rank sends.
type message struct {
	offset   int // receiver's rank minus sender's
	tag      int64
	bytes    uint64
	datatype int64
	place    int    // number of the call site, as in ops.Call
	at       uint64 // index of the call
}

// An end is the first call that receives, or that waits, in an interval of a rank. any is false without such a call.
type end struct {
	at  uint64
	any bool
}

// A share is one rank's part of an interval.
type share struct {
	first, end   uint64 // indices of its calls: from first, up to but without end
	removed      []bool // by call from first on: whether it is removed if the interval gets synthetic messages
	sent         []message
	receive      end
	wait         end
	got          uint64 // number of received messages
	rounds       uint64 // how often sent contains its shortest repeated part (e.g. 2 for messages a, b, a, b)
	comm         *handles.Comm
	closing      int64  // handle of the communicator of the collective call that ends the interval
	closingComm  int    // number of the communicator with the handle closing
	fence        uint64 // hash that identifies the collective call that ends the interval
	closed       bool   // a collective call ends the interval; false: the run's end
	why          string // why the interval keeps its messages; "": they can be synthetic
	balance      [2]uint64
	crossedSince int // number of the oldest interval that made a request which is used in this one; else its own
}

// A walk goes through the calls of a rank.
type walk struct {
	ops.NopSink
	ranks    int
	rank     int
	source   *ops.Source
	losses   uint64
	share    share
	interval int
	made     int64   // number of one-shot requests that the rank has made so far
	began    []int64 // by interval: value of made at its beginning
	open     int     // number of pending operations
	visit    func(interval int, s *share)
	members  map[int]map[int]int // by communicator: each member's rank in it, by its rank in the world
	last     uint64
}

// walkRank passes a rank's intervals to visit. The share is valid only during the call.
func walkRank(r *trace.Reader, source *ops.Source, rank int, visit func(interval int, s *share)) error {
	w := &walk{ranks: r.Ranks(), rank: rank, source: source, visit: visit, began: []int64{0}, members: make(map[int]map[int]int)}
	w.share.crossedSince = 0
	return source.RunRank(rank, w)
}

// Begin stores how many calls could not be interpreted on the ranks that were walked before.
func (w *walk) Begin(*trace.Rank) error {
	w.losses = w.lost()
	return nil
}

// End ends the last interval, which has no collective call at its end.
func (w *walk) End(*trace.Rank) error {
	w.share.end = w.last
	w.close(false)
	return nil
}

func (w *walk) keep(why string) {
	w.share.why = cmp.Or(w.share.why, why)
}

// lost returns how often the source could not interpret a call so far, over all ranks.
func (w *walk) lost() (n uint64) {
	for _, x := range w.source.Losses {
		n += x
	}
	return n
}

const (
	whyUnknown  = "the trace does not have what some calls did, or with whom"
	whyRequests = "requests of one interval are used in another, or by nobody"
)

// Enter ends the current interval if the next call is a collective of all ranks. Otherwise, it adds the call to it.
func (w *walk) Enter(c *ops.Call) error {
	w.last = c.Index + 1
	s := &w.share
	if n := len(c.Acts); n > 0 || c.Func.Has(trace.AttrCompletes) {
		if lost := w.lost(); lost != w.losses {
			w.losses = lost
			w.keep(whyUnknown)
		}
	}
	if comm, handle, ok := w.ends(c); ok {
		s.end, s.closing, s.closingComm = c.Index, handle, comm
		s.fence = mixedAll(uint64(comm), uint64(c.Func.ID))
		w.close(true)
		w.share.first = c.Index + 1
		return nil
	}
	w.requests(c.Call)
	removed, why := w.concerns(c)
	if why != "" {
		w.keep(why)
	}
	s.removed = append(s.removed, removed)
	if removed && c.Func.Has(trace.AttrCompletes) && !s.wait.any {
		s.wait = end{c.Index, true}
	}
	for i := range c.Acts {
		w.act(c, &c.Acts[i])
	}
	return nil
}

// ends reports whether a call is a collective of all ranks, and returns its communicator.
func (w *walk) ends(c *ops.Call) (comm int, handle int64, ok bool) {
	if def, known := mpi.CallNamed(c.Name()); known && (def.Has(mpi.AttrInitialises) || def.Has(mpi.AttrFinalises)) {
		return 0, mpi.HandleCommWorld, true
	}
	for i := range c.Acts {
		a := &c.Acts[i]
		if a.Kind == ops.ActCollective && a.Comm.RemoteSize == 0 && a.Comm.Number >= 0 && a.Comm.Size == w.ranks {
			if p := c.Param("comm"); p != nil {
				return a.Comm.Number, p.In.Num, true
			}
		}
	}
	return 0, 0, false
}

// close ends the current interval.
func (w *walk) close(closed bool) {
	s := &w.share
	if s.closed = closed; w.open != 0 {
		w.keep(whyRequests)
	}
	s.rounds = repeats(s.sent)
	w.visit(w.interval, s)
	w.interval++
	w.began = append(w.began, w.made)
	w.share = share{removed: s.removed[:0], sent: s.sent[:0], crossedSince: w.interval}
	if w.open != 0 {
		w.keep(whyRequests)
	}
}

// requests records which intervals a call's requests belong to.
func (w *walk) requests(c *trace.Call) {
	var value func(v *trace.Value, out bool)
	value = func(v *trace.Value, out bool) {
		switch {
		case v.Type == trace.TypeArray:
			for i := range v.Elems {
				value(&v.Elems[i], out)
			}
		case v.Type != trace.TypeRequest || v.RequestForm != trace.RequestOneShot:
		case out:
			w.made = max(w.made, v.RequestID+1)
		default: // a request made in an earlier interval is pending at the beginnings of all intervals since
			for w.share.crossedSince > 0 && v.RequestID < w.began[w.share.crossedSince] {
				w.share.crossedSince--
			}
		}
	}
	for i := range c.Params {
		p := &c.Params[i]
		if p.Def.Type == trace.TypeRequest {
			value(&p.In, false)
			value(&p.Out, true)
		}
	}
}

// concerns reports whether a call is removed if its interval gets synthetic messages. If why isn't empty, the interval
// can't get any because of this call.
func (w *walk) concerns(c *ops.Call) (removed bool, why string) {
	def, known := mpi.CallByID(c.Func.ID)
	if !known {
		return false, "calls of functions that aren't known"
	}
	m, wait := meaning.DataMovementOf(c.Name()), meaning.WaitBehaviourOf(def)
	request, status := false, false
	for i := range c.Func.Params {
		p := &c.Func.Params[i]
		request = request || p.Type == trace.TypeRequest
		status = status || p.Type == trace.TypeStatus && !p.HasOut
		if p.Kind == mpi.KindWin {
			return false, "one-sided calls are in it"
		}
	}
	message := m != nil && (m.Pattern == meaning.PatternToPeer || m.Pattern == meaning.PatternReceive)
	switch {
	case m != nil && m.TakesEffectAtStart:
		return false, "" // its request belongs to another interval
	case c.Func.Has(trace.AttrStarts):
		return false, "persistent requests are in it"
	case message, wait.Choice != meaning.ChooseNoRequest, wait.Probes, status:
		if c.Return != 0 {
			return true, c.Name() + " may have failed"
		}
		return true, ""
	case request:
		return false, c.Name() + " is in it"
	}
	return false, ""
}

// act processes an action of a call.
func (w *walk) act(c *ops.Call, a *ops.Act) {
	s := &w.share
	switch a.Kind {
	case ops.ActSendBegin, ops.ActRecvBegin:
		w.open++
	case ops.ActSendEnd, ops.ActRecvEnd:
		w.open--
	case ops.ActCancelled:
		w.open--
		w.keep("messages are cancelled")
	case ops.ActCollectiveBegin, ops.ActCollectiveEnd, ops.ActReadBegin, ops.ActReadEnd, ops.ActWriteBegin, ops.ActWriteEnd, ops.ActRMAEndByRequest:
		w.keep("other operations that don't block are in it")
	case ops.ActCollective:
		w.meet(a.Comm)
	}
	if a.Kind == ops.ActRecvBegin || a.Kind == ops.ActRecv {
		if !s.receive.any {
			s.receive = end{c.Index, true}
		}
	}
	sends, receives := a.Kind == ops.ActSend || a.Kind == ops.ActSendBegin, a.Kind == ops.ActRecv || a.Kind == ops.ActRecvEnd
	if !sends && !receives {
		return
	}
	other := a.PeerWorldRank()
	if other < 0 {
		w.keep(whyUnknown)
		return
	}
	number := a.Comm.Number
	if number < 0 {
		number = -1 - w.rank
	}
	if a.Comm.Remote != nil {
		number = min(number, a.Comm.Remote.Number)
	}
	if sends {
		s.count(1, uint64(number), uint64(w.rank), uint64(other), uint64(a.Tag))
	} else {
		s.count(-1, uint64(number), uint64(other), uint64(w.rank), uint64(a.Tag))
		s.got++
	}
	switch {
	case a.Comm.RemoteSize > 0 || a.Comm.Size != w.ranks || a.Comm.Number < 0:
		w.keep("messages are in a communicator that not all ranks are members of")
	case s.comm != nil && s.comm != a.Comm:
		w.keep("messages are in several communicators")
	}
	if s.comm = a.Comm; !sends {
		return
	}
	if len(s.sent) == mostSent {
		w.keep("ranks send more messages than are looked at")
		return
	}
	x := message{a.PeerInComm - w.member(a.Comm), a.Tag, a.SentBytes, -1, c.SiteIndex, c.Index}
	for _, name := range []string{"datatype", "sendtype"} {
		if p := c.Param(name); p != nil {
			x.datatype = p.In.Num
			break
		}
	}
	s.sent = append(s.sent, x)
}

// mostSent is the largest number of messages that a rank may send in an interval that gets synthetic messages.
const mostSent = 1 << 20

// member returns the walked rank's number in a communicator.
func (w *walk) member(c *handles.Comm) int {
	if c.Number == 0 {
		return w.rank
	}
	return once.GetOrMake(w.members, c.Number, func() map[int]int {
		of := make(map[int]int)
		for i, world := range c.Members() {
			of[world] = i
		}
		return of
	})[w.rank]
}

// meet adds a collective call on a communicator of some ranks to the interval's balance. The sum over all ranks is 0
// only if all members make the call in the same interval.
func (w *walk) meet(c *handles.Comm) {
	if c.RemoteSize > 0 {
		w.keep("collective calls between groups are in it")
		return
	}
	if c.Number < 0 {
		return
	}
	n := int64(-1)
	if w.member(c) == 0 {
		n = int64(c.Size) - 1
	}
	w.share.count(n, uint64(c.Number), 1<<40)
}

// count adds n times the hash of list to s.balance. n is 1 for a sent message, -1 for a received one; meet passes other
// numbers. If all messages sent in the interval are received in it, the sum over all ranks is 0. Otherwise it is 0 with
// probability 2⁻¹²⁸.
func (s *share) count(n int64, list ...uint64) {
	h := mixedAll(list...)
	s.balance[0] += uint64(n) * h
	s.balance[1] += uint64(n) * grammar.DrawHash(h, 1)
}

// repeats returns how many equal parts, as short as possible, a list of messages consists of: 1 if it doesn't repeat.
// Messages with the same receiver and tag are equal.
func repeats(list []message) uint64 {
	n := len(list)
	if n == 0 {
		return 0
	}
	same := func(i, j int) bool { return list[i].offset == list[j].offset && list[i].tag == list[j].tag }
	// border is the length of the longest border of each prefix of list (Knuth, Morris and Pratt): of the longest
	// proper prefix that is also a suffix.
	border := make([]int, n)
	for i := 1; i < n; i++ {
		k := border[i-1]
		for k > 0 && !same(i, k) {
			k = border[k-1]
		}
		if same(i, k) {
			k++
		}
		border[i] = k
	}
	if period := n - border[n-1]; n%period == 0 {
		return uint64(n / period)
	}
	return 1
}

// body hashes the receivers and tags of messages.
func body(list []message) uint64 {
	h := uint64(len(list))
	for i := range list {
		h = grammar.DrawHash(grammar.DrawHash(h, uint64(list[i].offset)), uint64(list[i].tag))
	}
	return h
}

// places adds the call sites of messages to a sorted list.
func places(out []int, list []message) []int {
	for i := range list {
		if at, ok := slices.BinarySearch(out, list[i].place); !ok {
			out = slices.Insert(out, at, list[i].place)
		}
	}
	return out
}
