package diff

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// This file compares streams with AllowAnyCompletionOrder. Which of several requests finishes first, and how often a test finds
// nothing, differs from run to run. So calls that finish requests aren't compared one by one: both traces must finish
// the same requests with the same statuses. Tests that found nothing are ignored.
//
// A wildcard receive may get different messages in the two traces. But over the whole stream, both traces' wildcard
// receives must get the same messages. The second trace may also have a receive that names a source where the first one
// has a wildcard receive.
//
// A receive may name the source and tag that a wildcard probe has just found, and a call may query the status of such a
// message. Then that message, too, may differ between the traces.

// A finish is the completion of one operation: of a request of a stream.
type finish struct {
	form trace.RequestForm
	id   int64 // one-shot request: number of requests that the stream made before it; persistent one: its number
	nth  int64 // how often a persistent request had finished before; 0 for one-shot requests
}

// compare is an order of finishes, for sorting.
func (f finish) compare(g finish) int {
	return cmp.Or(cmp.Compare(f.form, g.form), cmp.Compare(f.id, g.id), cmp.Compare(f.nth, g.nth))
}

// completes reports whether AllowAnyCompletionOrder excludes a call from the comparison one by one: it completes requests, or tests.
func completes(c *trace.Call) bool {
	def, _ := mpi.CallByID(c.Func.ID)
	if !def.Has(mpi.AttrPolls) {
		return meaning.WaitBehaviourOf(def).Completes
	}
	if c.Param("message") == nil && c.Param("win") == nil {
		return true // a test, whose finished requests add counts, or a probe, which receives no message
	}
	return ops.FoundNothing(c)
}

// A tally is the state of comparing a stream of two traces with AllowAnyCompletionOrder. It collects finished operations, and removes
// those that both traces have finished. Arrays have a value for the first and one for the second trace.
type tally struct {
	open  map[finish]*trace.StatusValue // statuses of operations that only one trace has finished so far
	owner map[finish]bool               // whether the second trace has finished an operation of open, not the first
	times [2]map[int64]int64            // how often a persistent request has finished, by its number
	live  [2]map[int64]bool             // numbers of persistent requests that are active
	bad   *trace.Call                   // first call that finished an operation whose statuses differ
	wild  [2]map[finish]bool            // requests of receives with a wildcard or after a wildcard probe; one-shot ones until they finish
	found [2]map[int64]bool             // numbers of message handles that a wildcard probe made
	last  [2]*trace.StatusValue         // the last message that a wildcard receive got or a wildcard probe found
	probe [2]bool                       // the last probe had a wildcard and made no message handle
	came  map[trace.StatusValue]int     // how much more often the first trace's wildcard receives got a message
}

func newTally() *tally {
	return &tally{
		open: make(map[finish]*trace.StatusValue), owner: make(map[finish]bool),
		times: [2]map[int64]int64{make(map[int64]int64), make(map[int64]int64)},
		live:  [2]map[int64]bool{make(map[int64]bool), make(map[int64]bool)},
		wild:  [2]map[finish]bool{make(map[finish]bool), make(map[finish]bool)},
		found: [2]map[int64]bool{make(map[int64]bool), make(map[int64]bool)},
		came:  make(map[trace.StatusValue]int),
	}
}

// takesAny reports whether a call of the first or second trace is a wildcard receive or probe, or receives a message
// that a wildcard probe found.
func (t *tally) takesAny(c *trace.Call, second bool) bool {
	if m := c.Param("message"); m != nil && m.In.Type == trace.TypeHandle {
		return t.found[side(second)][m.In.Num]
	}
	r, ok := ops.ReceiveSelectionOf(c)
	if s := t.last[side(second)]; ok && !r.HasWildcard && s != nil && t.probe[side(second)] {
		return r.Source.In.Num == s.Source && r.Tag.In.Num == s.Tag
	}
	return r.HasWildcard
}

// made records which persistent requests a call starts, and whether it makes the request or message handle of a
// wildcard.
func (t *tally) made(c *trace.Call, second bool) {
	if c.Func.Has(trace.AttrStarts) {
		for _, r := range ops.RequestsOf(c) {
			if r.RequestForm == trace.RequestPersistent {
				t.live[side(second)][r.RequestID] = true
			}
		}
	}
	wild := t.takesAny(c, second)
	t.sees(c, second, wild)
	if r := c.Param("request"); r != nil && r.Out.Type == trace.TypeRequest {
		set(t.wild[side(second)], finish{form: r.Out.RequestForm, id: r.Out.RequestID}, wild)
	}
	if m := c.Param("message"); m != nil && m.Out.Type == trace.TypeHandle && m.In.Type != trace.TypeHandle {
		set(t.found[side(second)], m.Out.Num, wild)
	}
}

// sees records the message that a blocking wildcard receive (wild) got or a wildcard probe found. After a probe, it
// also records whether a receive that names the found message may follow.
func (t *tally) sees(c *trace.Call, second, wild bool) {
	def, _ := mpi.CallByID(c.Func.ID)
	is := meaning.WaitBehaviourOf(def)
	p := c.Param("status")
	if !is.Probes && !(is.Receives && is.Blocks) || p == nil || p.Out.Status == nil || p.Out.Status.Source == mpi.ProcNull || ops.FoundNothing(c) {
		return
	}
	if wild {
		t.last[side(second)] = p.Out.Status
	}
	if is.Probes {
		t.probe[side(second)] = wild && c.Param("message") == nil
	}
}

// set adds x to the set members if the flag is has the value true, else it removes x.
func set[T comparable](members map[T]bool, x T, is bool) {
	if is {
		members[x] = true
	} else {
		delete(members, x)
	}
}

// earlier is an order of the statuses of messages, for sorting.
func earlier(s, t trace.StatusValue) int {
	return cmp.Or(cmp.Compare(s.Source, t.Source), cmp.Compare(s.Tag, t.Tag), cmp.Compare(s.ReceivedBytes, t.ReceivedBytes))
}

func side(second bool) int {
	if second {
		return 1
	}
	return 0
}

// message counts a message with status s that a wildcard receive of the first or second trace got.
func (t *tally) message(s *trace.StatusValue, second bool) {
	if s == nil || s.Form == trace.StatusFormAbsent {
		return
	}
	m := trace.StatusValue{Source: s.Source, Tag: s.Tag, ReceivedBytes: s.ReceivedBytes, Cancelled: s.Cancelled}
	if t.came[m] += 1 - 2*side(second); t.came[m] == 0 {
		delete(t.came, m)
	}
}

// add records the operations that a call of the first or second trace finished.
func (t *tally) add(c *trace.Call, second bool) {
	t.sees(c, second, t.takesAny(c, second))
	for _, done := range ops.RequestsCompleted(c) {
		r, s := done.Request, done.Status
		f := finish{form: r.RequestForm, id: r.RequestID}
		wild := t.wild[side(second)][f]
		switch r.RequestForm {
		case trace.RequestOneShot:
			delete(t.wild[side(second)], f)
		case trace.RequestPersistent:
			if !t.live[side(second)][r.RequestID] {
				continue // an inactive request has no operation; its status may look like that of a finished send
			}
			delete(t.live[side(second)], r.RequestID)
			f.nth = t.times[side(second)][r.RequestID]
			t.times[side(second)][r.RequestID]++
		default:
			continue
		}
		if wild {
			t.message(s, second)
			if s != nil {
				t.last[side(second)], t.probe[side(second)] = s, false
			}
			s = nil
		}
		other, ok := t.open[f]
		if !ok || t.owner[f] == second {
			t.open[f], t.owner[f] = s, second
			continue
		}
		delete(t.open, f)
		delete(t.owner, f)
		if !sameStatus(s, other) && t.bad == nil {
			t.bad = c
		}
	}
}

// sameStatus reports whether two statuses are equal in all fields that both traces have.
func sameStatus(s, t *trace.StatusValue) bool {
	if s == nil || t == nil || s.Form == trace.StatusFormAbsent || t.Form == trace.StatusFormAbsent {
		return true
	}
	known := func(s *trace.StatusValue) bool {
		return s.Form == trace.StatusFormFilled || s.Form == trace.StatusFormIgnored
	}
	if known(s) && known(t) {
		return s.Source == t.Source && s.Tag == t.Tag && s.ReceivedBytes == t.ReceivedBytes && s.Cancelled == t.Cancelled
	}
	return s.Cancelled == t.Cancelled
}

// anyOrder finds the first difference of a stream of two ranks with AllowAnyCompletionOrder; nil: none.
func (c *comparison) anyOrder(a, b *trace.Rank, stream int, m *matcher) (*Difference, error) {
	if _, err := c.ahead(a, b, stream); err != nil {
		return nil, err
	}
	nextA, stopA := iter.Pull2(callsOf(a, stream, 0))
	defer stopA()
	nextB, stopB := iter.Pull2(callsOf(b, stream, 0))
	defer stopB()
	t := newTally()
	for {
		x, err := t.next(nextA, false)
		if err != nil {
			return nil, err
		}
		y, err := t.next(nextB, true)
		if err != nil {
			return nil, err
		}
		if x == nil && y == nil {
			break
		}
		if x != nil && y != nil {
			if equal, err := t.same(m, x, y); err != nil {
				return nil, err
			} else if equal {
				continue
			}
		}
		d := &Difference{Rank: a.Number(), Stream: stream, CallA: x, CallB: y}
		if x != nil {
			d.CallIndex = x.Index
			d.PrecedingCallsA, err = before(a, stream, x.Index, c.o.PrecedingCallCount)
		}
		return d, err
	}
	if what := t.rest(); what != "" {
		return &Difference{Rank: a.Number(), Stream: stream, NonCallText: what}, nil
	}
	return nil, nil
}

// next returns the next call that is compared one by one; nil: the stream has ended. It records what the calls that it
// skips finished.
func (t *tally) next(pull func() (*trace.Call, error, bool), second bool) (*trace.Call, error) {
	for {
		x, err, ok := pull()
		if err != nil || !ok {
			return nil, err
		}
		if !completes(x) {
			t.made(x, second)
			return x, nil
		}
		t.add(x, second)
	}
}

// same reports whether two calls are equal, or differ only in which message a wildcard got.
func (t *tally) same(m *matcher, x, y *trace.Call) (bool, error) {
	equal, err := m.same(x, y)
	if equal || err != nil {
		return equal, err
	}
	anyX := t.takesAny(x, false)
	switch {
	case x.Name() != y.Name():
		return false, nil
	case anyX && m.equalButSource(x, y): // the second trace's receive names a source instead of the wildcard
		return true, nil
	case anyX && t.takesAny(y, true) && m.equalButMessage(x, y, t.probe[0] && t.probe[1]):
		t.message(x.Param("status").Out.Status, false)
		t.message(y.Param("status").Out.Status, true)
		return true, nil
	}
	return m.equalButAsked(x, y, t.last), nil // equal if both query the status of a message that a wildcard got
}

// rest describes, after the last call, an operation that only one trace finished, or that both finished differently. It
// returns "" if nothing differs. Of several differences it always chooses the same one.
func (t *tally) rest() string {
	only := func(second bool) string {
		if second {
			return "second"
		}
		return "first"
	}
	switch {
	case t.bad != nil:
		return "a request finished with another status: " + t.bad.Text()
	case len(t.came) > 0:
		s := slices.MinFunc(slices.Collect(maps.Keys(t.came)), earlier)
		return fmt.Sprintf("only in the %s trace a message of %d bytes from rank %d came to a receive of any", only(t.came[s] < 0), s.ReceivedBytes, s.Source)
	case len(t.open) > 0:
		f := slices.MinFunc(slices.Collect(maps.Keys(t.open)), finish.compare)
		what := "request"
		if f.form == trace.RequestPersistent {
			what = "persistent"
		}
		return fmt.Sprintf("only the %s trace finished %s%d", only(t.owner[f]), what, f.id)
	}
	return ""
}
