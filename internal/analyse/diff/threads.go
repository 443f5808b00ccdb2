package diff

import (
	"iter"
	"maps"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// The numbers of a rank's threads depend on which thread called MPI first. So do the numbers of segments, handles and
// persistent requests that threads use. If a thread differs from the other trace's thread with the same number, this
// file looks for other pairs of threads that make the same calls. In these, handles and requests may have different
// numbers that map one to one, and addresses aren't compared.

// Limits of the search for pairs of threads.
const (
	maxThreads = 256     // threads of a rank
	maxTried   = 1 << 24 // calls compared, over all pairs that are tried
)

// threads reports whether ranks with several threads are equal, except that their threads have other numbers.
func (c *comparison) threads(a, b *trace.Rank) (bool, error) {
	n := a.Streams()
	if n < 2 || n != b.Streams() || n > maxThreads || c.o.AllowAnyCompletionOrder {
		return false, nil
	}
	t := &threadMatcher{c: c, a: a, b: b, names: newRenaming(), left: maxTried}
	if equal, err := t.equal(0, 0); !equal || err != nil {
		return false, err
	}
	taken := make([]bool, n)
	for i := 1; i < n; i++ {
		found := false
		for k := range n - 1 {
			j := 1 + (i-1+k)%(n-1) // try the thread with the same number first
			if taken[j] {
				continue
			}
			equal, err := t.equal(i, j)
			if err != nil {
				return false, err
			}
			if equal {
				taken[j], found = true, true
				break
			}
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

type threadMatcher struct {
	c     *comparison
	a, b  *trace.Rank
	names *renaming // the renaming that follows from the threads found equal so far
	left  int       // how many calls may still be compared
}

// equal reports whether thread i of rank a makes the same calls as thread j of rank b. If so, the numbers of their
// handles and requests correspond from then on.
func (t *threadMatcher) equal(i, j int) (bool, error) {
	if t.a.CallCount(i) != t.b.CallCount(j) {
		return false, nil
	}
	trial := &renaming{names: maps.Clone(t.names.names), old: maps.Clone(t.names.old), threads: true, files: t.c.o.AllowRenamedValues}
	if !trial.name(name{kind: threadNumber, num: int64(i)}, name{kind: threadNumber, num: int64(j)}) {
		return false, nil
	}
	o := t.c.o
	o.names, o.IgnoreAddresses = trial, true
	next, stop := iter.Pull2(t.b.Calls(j))
	defer stop()
	for x, err := range t.a.Calls(i) {
		if err != nil {
			return false, err
		}
		y, err, ok := next()
		if err != nil {
			return false, err
		}
		if t.left--; !ok || t.left < 0 || !o.equalCalls(x, y) {
			return false, nil
		}
		trial.end(true)
	}
	t.names = trial
	return true, nil
}

// again maps v to w and forgets earlier pairs of both: a number is reused when its object has been freed.
func (r *renaming) again(v, w name) bool {
	if before, ok := r.names[v]; ok {
		delete(r.old, before)
	}
	if before, ok := r.old[w]; ok {
		delete(r.names, before)
	}
	r.names[v], r.old[w] = w, v
	return true
}

// own reports whether two handles or requests are equal under the renaming. ok is false for values whose numbers don't
// depend on the order of threads. made says that the calls made these objects.
func (r *renaming) own(kind mpi.Kind, v, w *trace.Value, made bool) (equal, ok bool) {
	same := r.name
	if made {
		same = r.again
	}
	switch {
	case v.Type == trace.TypeHandle && v.Num >= trace.FirstCreatedHandle && w.Num >= trace.FirstCreatedHandle:
		return same(name{kind: kind, num: v.Num}, name{kind: kind, num: w.Num}), true
	case v.Type == trace.TypeRequest && v.RequestForm == w.RequestForm && v.RequestForm == trace.RequestPersistent:
		return same(name{kind: mpi.KindRequest, num: v.RequestID}, name{kind: mpi.KindRequest, num: w.RequestID}), true
	case v.Type == trace.TypeRequest && v.RequestForm == w.RequestForm && v.RequestForm == trace.RequestOfOtherThread:
		// Another thread made the request. RequestID says how many requests that thread has made since, which differs
		// from run to run.
		return r.name(name{kind: threadNumber, num: int64(v.RequestThread)}, name{kind: threadNumber, num: int64(w.RequestThread)}), true
	case v.Type == trace.TypeArray && v.Num == w.Num && len(v.Elems) == len(w.Elems) && len(v.Elems) > 0:
		if x := v.Elems[0].Type; x != trace.TypeHandle && x != trace.TypeRequest {
			return false, false
		}
		for i := range v.Elems {
			if v.Elems[i].Type != w.Elems[i].Type {
				return false, true
			}
			equal, ok := r.own(kind, &v.Elems[i], &w.Elems[i], made)
			if !ok {
				equal = v.Elems[i].Num == w.Elems[i].Num && v.Elems[i].RequestForm == w.Elems[i].RequestForm && v.Elems[i].RequestID == w.Elems[i].RequestID
			}
			if !equal {
				return false, true
			}
		}
		return true, true
	}
	return false, false
}
