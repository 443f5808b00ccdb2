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

// Which of several requests is finished first, and how often a test finds
// nothing, differs from run to run. With AnyOrder, calls that finish requests
// aren't compared as calls: it counts that the same requests are finished, with
// the same statuses; calls that tested in vain don't count at all.

// A receive from any rank or with any tag may take another message than the
// same receive of the other trace: it counts that the same messages came.

// A receive of the second trace may also name the rank that the first one's
// receive from any got its message from.

// A receive may name what a probe for any message found right before, and a call may ask of the status of such a message: then that is
// another message in each trace, too.

// A finish is the end of an operation.
type finish struct {
	form trace.RequestForm
	id   int64 // of a one-shot request: how many the stream made before it
	nth  int64 // of a persistent request: how often it was finished before
}

// compare is an order of finishes.
func (f finish) compare(g finish) int {
	return cmp.Or(cmp.Compare(f.form, g.form), cmp.Compare(f.id, g.id), cmp.Compare(f.nth, g.nth))
}

// completes reports whether a call is one that AnyOrder leaves out.
func completes(c *trace.Call) bool {
	def, _ := mpi.ByID(c.Func.ID)
	if !def.Has(mpi.AttrPolls) {
		return meaning.WaitBehaviourOf(def).Completes
	}
	if c.Param("message") == nil && c.Param("win") == nil {
		return true // the requests are dealt with, or nothing is taken
	}
	return ops.FoundNothing(c)
}

// A tally cancels what both traces finished.
type tally struct {
	open  map[finish]*trace.StatusValue
	owner map[finish]bool // false: a, true: b
	times [2]map[int64]int64
	live  [2]map[int64]bool         // persistent requests that are active
	bad   *trace.Call               // first call whose status differs
	wild  [2]map[finish]bool        // requests of receives that take any message
	found [2]map[int64]bool         // by message handle: whether a probe for any message made it
	last  [2]*trace.StatusValue     // message that came last to such a receive or probe
	probe [2]bool                   // it was found by a probe that leaves it where it is
	came  map[trace.StatusValue]int // to such: more often in the first trace than in the second
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

// takesAny reports whether a call receives or looks for what comes first, or receives what such a call found.
func (t *tally) takesAny(c *trace.Call, second bool) bool {
	if m := c.Param("message"); m != nil && m.In.Type == trace.TypeHandle {
		return t.found[side(second)][m.In.Num]
	}
	r, ok := ops.ReceiveSelectionOf(c)
	if s := t.last[side(second)]; ok && !r.Wildcard && s != nil && t.probe[side(second)] {
		return r.Source.In.Num == s.Source && r.Tag.In.Num == s.Tag
	}
	return r.Wildcard
}

// made notes the receives that take any message, and what is started.
func (t *tally) made(c *trace.Call, second bool) {
	if c.Func.Has(trace.AttrStarts) {
		for _, r := range ops.RequestsOf(c) {
			if r.Form == trace.RequestPersistent {
				t.live[side(second)][r.ID] = true
			}
		}
	}
	wild := t.takesAny(c, second)
	t.sees(c, second, wild)
	if r := c.Param("request"); r != nil && r.Out.Type == trace.TypeRequest {
		set(t.wild[side(second)], finish{form: r.Out.Form, id: r.Out.ID}, wild)
	}
	if m := c.Param("message"); m != nil && m.Out.Type == trace.TypeHandle && m.In.Type != trace.TypeHandle {
		set(t.found[side(second)], m.Out.Num, wild)
	}
}

// sees notes the message that a receive or probe of any got or found.
func (t *tally) sees(c *trace.Call, second, wild bool) {
	def, _ := mpi.ByID(c.Func.ID)
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

// set has a set contain a member or not.
func set[T comparable](members map[T]bool, x T, is bool) {
	if is {
		members[x] = true
	} else {
		delete(members, x)
	}
}

// earlier is an order of messages.
func earlier(s, t trace.StatusValue) int {
	return cmp.Or(cmp.Compare(s.Source, t.Source), cmp.Compare(s.Tag, t.Tag), cmp.Compare(s.Count, t.Count))
}

func side(second bool) int {
	if second {
		return 1
	}
	return 0
}

// message notes a message that a wildcard receive got.
func (t *tally) message(s *trace.StatusValue, second bool) {
	if s == nil || s.Form == trace.StatusAbsent {
		return
	}
	m := trace.StatusValue{Source: s.Source, Tag: s.Tag, Count: s.Count, Cancelled: s.Cancelled}
	if t.came[m] += 1 - 2*side(second); t.came[m] == 0 {
		delete(t.came, m)
	}
}

// add notes what a call of one of the traces finished.
func (t *tally) add(c *trace.Call, second bool) {
	t.sees(c, second, t.takesAny(c, second))
	for _, done := range ops.RequestsCompleted(c) {
		r, s := done.Request, done.Status
		f := finish{form: r.Form, id: r.ID}
		wild := t.wild[side(second)][f]
		switch r.Form {
		case trace.RequestOneShot:
			delete(t.wild[side(second)], f)
		case trace.RequestPersistent:
			if !t.live[side(second)][r.ID] {
				continue // the status of an inactive send says as much as that of an active one
			}
			delete(t.live[side(second)], r.ID)
			f.nth = t.times[side(second)][r.ID]
			t.times[side(second)][r.ID]++
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

// sameStatus compares statuses as far as both are known.
func sameStatus(s, t *trace.StatusValue) bool {
	if s == nil || t == nil || s.Form == trace.StatusAbsent || t.Form == trace.StatusAbsent {
		return true
	}
	known := func(s *trace.StatusValue) bool { return s.Form == trace.StatusFilled || s.Form == trace.StatusIgnored }
	if known(s) && known(t) {
		return s.Source == t.Source && s.Tag == t.Tag && s.Count == t.Count && s.Cancelled == t.Cancelled
	}
	return s.Cancelled == t.Cancelled
}

// anyOrder compares a stream of two ranks.
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
			d.Index = x.Index
			d.Context, err = before(a, stream, x.Index, c.o.ContextCalls)
		}
		return d, err
	}
	if what := t.rest(); what != "" {
		return &Difference{Rank: a.Number(), Stream: stream, Text: what}, nil
	}
	return nil, nil
}

// next returns the next call that is compared as a call, nil at the end. It notes what calls before it finished.
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

// same reports whether two calls are equal, but for messages that may come in another order.
func (t *tally) same(m *matcher, x, y *trace.Call) (bool, error) {
	equal, err := m.same(x, y)
	if equal || err != nil {
		return equal, err
	}
	anyX := t.takesAny(x, false)
	switch {
	case x.Name() != y.Name():
		return false, nil
	case anyX && m.equalButSource(x, y): // the second trace names whom the first one got its message from
		return true, nil
	case anyX && t.takesAny(y, true) && m.equalButMessage(x, y, t.probe[0] && t.probe[1]):
		t.message(x.Param("status").Out.Status, false)
		t.message(y.Param("status").Out.Status, true)
		return true, nil
	}
	return m.equalButAsked(x, y, t.last), nil // about the status of such a message
}

// rest says what only one of the traces finished, or finished otherwise; "" if nothing. Of several it is the first one,
// so that the answer is always the same.
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
		return fmt.Sprintf("only in the %s trace a message of %d bytes from rank %d came to a receive of any", only(t.came[s] < 0), s.Count, s.Source)
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
