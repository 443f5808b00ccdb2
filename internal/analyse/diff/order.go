package diff

import (
	"fmt"
	"iter"

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

// A finish is the end of an operation.
type finish struct {
	form trace.RequestForm
	id   int64 // of a one-shot request: how many the stream made before it
	nth  int64 // of a persistent request: how often it was finished before
}

// completes reports whether a call is one that AnyOrder leaves out.
func completes(c *trace.Call) bool {
	def, _ := mpi.ByID(c.Func.ID)
	if !def.Has(mpi.Polls) {
		return meaning.WaitingOf(def).Completes
	}
	if c.Param("message") == nil && c.Param("win") == nil {
		return true // the requests are dealt with, or nothing is taken
	}
	flag := c.Param("flag")
	return flag != nil && flag.Out.Type == trace.Int && flag.Out.Num == 0
}

// finished yields what a call finished, with its status if known.
func finished(c *trace.Call) iter.Seq2[*trace.Value, *trace.StatusValue] {
	return func(yield func(*trace.Value, *trace.StatusValue) bool) {
		if def, _ := mpi.ByID(c.Func.ID); !meaning.WaitingOf(def).Completes || c.Return != 0 && c.Return != mpi.ErrInStatus {
			return
		}
		if f := c.Param("flag"); f != nil && f.Out.Num == 0 {
			return
		}
		if r := c.Param("request"); r != nil {
			yield(&r.In, c.Param("status").Out.Status)
			return
		}
		list := c.Param("array_of_requests")
		if list == nil {
			return
		}
		one := func(request int64, status *trace.StatusValue) bool {
			return request < 0 || request >= int64(len(list.In.Elems)) || yield(&list.In.Elems[request], status)
		}
		if i := c.Param("index"); i != nil {
			one(i.Out.Num, c.Param("status").Out.Status)
			return
		}
		statuses := c.Param("array_of_statuses").Out.Elems
		at := func(i int) *trace.StatusValue {
			if i < len(statuses) {
				return statuses[i].Status
			}
			return nil
		}
		if i := c.Param("array_of_indices"); i != nil {
			for k := range i.Out.Elems {
				if !one(i.Out.Elems[k].Num, at(k)) {
					return
				}
			}
			return
		}
		for k := range list.In.Elems {
			if !one(int64(k), at(k)) {
				return
			}
		}
	}
}

// A tally cancels what both traces finished.
type tally struct {
	open  map[finish]*trace.StatusValue
	owner map[finish]bool // false: a, true: b
	times [2]map[int64]int64
	live  [2]map[int64]bool         // persistent requests that are active
	bad   *trace.Call               // first call whose status differs
	wild  [2]map[int64]bool         // one-shot requests of receives that take any message
	came  map[trace.StatusValue]int // to such: more often in the first trace than in the second
}

func newTally() *tally {
	return &tally{
		open: make(map[finish]*trace.StatusValue), owner: make(map[finish]bool),
		times: [2]map[int64]int64{make(map[int64]int64), make(map[int64]int64)},
		live:  [2]map[int64]bool{make(map[int64]bool), make(map[int64]bool)},
		wild:  [2]map[int64]bool{make(map[int64]bool), make(map[int64]bool)},
		came:  make(map[trace.StatusValue]int),
	}
}

// takesAny reports whether a call receives what comes first.
func takesAny(c *trace.Call) bool {
	source, tag := c.Param("source"), c.Param("tag")
	return source != nil && tag != nil && (source.In.Num == mpi.AnySource || tag.In.Num == mpi.AnyTag)
}

// made notes the receives that take any message, and what is started.
func (t *tally) made(c *trace.Call, second bool) {
	if c.Func.Has(trace.Starts) {
		for i := range c.Params {
			list := c.Params[i].In.Elems
			if c.Params[i].In.Type == trace.Request {
				list = []trace.Value{c.Params[i].In}
			}
			for _, r := range list {
				if r.Type == trace.Request && r.Form == trace.RequestPersistent {
					t.live[side(second)][r.ID] = true
				}
			}
		}
	}
	if r := c.Param("request"); r != nil && r.Out.Form == trace.RequestOnce && takesAny(c) {
		t.wild[side(second)][r.Out.ID] = true
	}
}

func side(second bool) int {
	if second {
		return 1
	}
	return 0
}

// message notes a message that came to a receive of any.
func (t *tally) message(s *trace.StatusValue, second bool) {
	if s == nil {
		return
	}
	m := trace.StatusValue{Source: s.Source, Tag: s.Tag, Count: s.Count, Cancelled: s.Cancelled}
	if t.came[m] += 1 - 2*side(second); t.came[m] == 0 {
		delete(t.came, m)
	}
}

// add notes what a call of one of the traces finished.
func (t *tally) add(c *trace.Call, second bool) {
	for r, s := range finished(c) {
		if s.Pending() {
			continue
		}
		if wild := t.wild[side(second)]; r.Form == trace.RequestOnce && wild[r.ID] {
			delete(wild, r.ID)
			if s != nil && s.Form != trace.StatusAbsent {
				t.message(s, second)
			}
			s = nil
		}
		f := finish{form: r.Form, id: r.ID}
		switch r.Form {
		case trace.RequestOnce:
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
	next := func(pull func() (*trace.Call, error, bool), second bool) (*trace.Call, error) {
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
	for {
		x, err := next(nextA, false)
		if err != nil {
			return nil, err
		}
		y, err := next(nextB, true)
		if err != nil {
			return nil, err
		}
		if x == nil && y == nil {
			break
		}
		if x != nil && y != nil {
			if equal, err := m.same(x, y); err != nil {
				return nil, err
			} else if equal {
				continue
			}
			if x.Name() == y.Name() && takesAny(x) && m.equalButSource(x, y) {
				continue
			}
			if x.Name() == y.Name() && takesAny(x) && takesAny(y) && m.equalButStatus(x, y) {
				t.message(x.Param("status").Out.Status, false)
				t.message(y.Param("status").Out.Status, true)
				continue
			}
		}
		d := &Difference{Rank: a.Number(), Stream: stream, A: x, B: y}
		if x != nil {
			d.Index = x.Index
			d.Before, err = before(a, stream, x.Index, c.o.Context)
		}
		return d, err
	}
	if t.bad != nil {
		return &Difference{Rank: a.Number(), Stream: stream, What: "a request finished with another status: " + t.bad.Text()}, nil
	}
	for s, n := range t.came {
		only := "first"
		if n < 0 {
			only = "second"
		}
		return &Difference{Rank: a.Number(), Stream: stream, What: fmt.Sprintf(
			"only in the %s trace a message of %d bytes from rank %d came to a receive of any", only, s.Count, s.Source)}, nil
	}
	if len(t.open) > 0 {
		// The first of them, so that the answer is always the same.
		var f finish
		found := false
		for g := range t.open {
			if !found || g.form < f.form || g.form == f.form && (g.id < f.id || g.id == f.id && g.nth < f.nth) {
				f, found = g, true
			}
		}
		only, what := "first", "request"
		if t.owner[f] {
			only = "second"
		}
		if f.form == trace.RequestPersistent {
			what = "persistent"
		}
		return &Difference{Rank: a.Number(), Stream: stream, What: fmt.Sprintf("only the %s trace finished %s%d", only, what, f.id)}, nil
	}
	return nil, nil
}
