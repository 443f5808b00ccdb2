package efficiency

import (
	"cmp"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A meetings finds call sites from which different ranks make the same collective call. The report treats these sites
// as one.
type meetings struct {
	r       *trace.Reader
	o       *Options
	of      []map[trace.FunctionSite]bool             // by class: call sites of collective calls that are analysed
	classes map[trace.FunctionSite]int                // number of classes that make calls from a site
	same    map[trace.FunctionSite]trace.FunctionSite // the call site that represents a site
}

// meetingsOf finds, for each collective call of a class's first rank, the call sites from which other members of the
// communicator make it.
func meetingsOf(r *trace.Reader, o *Options) (*meetings, error) {
	m := &meetings{r: r, o: o, classes: make(map[trace.FunctionSite]int), same: make(map[trace.FunctionSite]trace.FunctionSite)}
	ranks := make(map[trace.FunctionSite]int)
	for class := range r.Classes() {
		members := r.Members(class)
		k, err := r.Rank(members[0])
		if err != nil {
			return nil, err
		}
		of := make(map[trace.FunctionSite]bool)
		for t := range k.Terminals() {
			c := k.CallWithoutParams(t)
			if key := o.siteOf(c); c.Func.Has(trace.AttrCollective) && o.wanted(c.Func) && !of[key] {
				of[key] = true
				ranks[key] += len(members)
				m.classes[key]++
			}
		}
		m.of = append(m.of, of)
	}
	for class := range m.of {
		if err := m.class(class); err != nil {
			return nil, err
		}
	}
	// Of the call sites that meet, the one that most ranks call from represents the others.
	most := make(map[trace.FunctionSite]trace.FunctionSite)
	for key := range m.same {
		root := m.root(key)
		if x, ok := most[root]; !ok || cmp.Or(cmp.Compare(ranks[key], ranks[x]), cmp.Compare(x.Site.Offset, key.Site.Offset), cmp.Compare(x.Site.Module, key.Site.Module)) > 0 {
			most[root] = key
		}
	}
	same := make(map[trace.FunctionSite]trace.FunctionSite)
	for key := range m.same {
		same[key] = most[m.root(key)]
	}
	m.same = same
	return m, nil
}

func (m *meetings) root(key trace.FunctionSite) trace.FunctionSite {
	for {
		up, ok := m.same[key]
		if !ok || up == key {
			return key
		}
		key = up
	}
}

// class looks at those call sites of a class's first rank from which not all classes make calls. It finds the sites
// from which other ranks make the same collective calls.
func (m *meetings) class(class int) error {
	some := func(key trace.FunctionSite) bool { return m.classes[key] < len(m.of) }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(m.of[class])), some) {
		return nil
	}
	k, x, err := m.rank(m.r.Members(class)[0])
	if err != nil || k.Streams() != 1 {
		return err
	}
	firsts := k.FirstPositions(0)
	done := make(map[trace.FunctionSite]bool)
	for t, n := range k.TerminalCounts(0) {
		called := k.CallWithoutParams(t)
		key := m.o.siteOf(called)
		if n == 0 || done[key] || !m.of[class][key] || !some(key) {
			continue
		}
		done[key] = true
		c, err := k.Terminal(t)
		if err != nil {
			return err
		}
		comm := x.CommOf(c, 0, firsts[t])
		if comm == nil {
			continue
		}
		own, err := ops.CollectiveCallsOn(comm, k, x)
		if own == nil || err != nil {
			return err
		}
		nth := own.CountBefore(firsts[t])
		seen := map[int]bool{class: true}
		for _, rank := range comm.Members() {
			if rank < 0 {
				continue
			}
			other := m.r.ClassOf(rank)
			if other < 0 || seen[other] || m.of[other][key] {
				continue
			}
			seen[other] = true
			if err := m.meets(key, comm, rank, nth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *meetings) rank(rank int) (*trace.Rank, *handles.Rank, error) {
	k, err := m.r.Rank(rank)
	if err != nil {
		return nil, nil, err
	}
	x, err := handles.TableOf(m.r).Rank(k)
	return k, x, err
}

// meets joins a site with the site from which a rank makes its nth collective call, from 0, on a communicator.
func (m *meetings) meets(key trace.FunctionSite, comm *handles.Comm, rank int, nth uint64) error {
	k, x, err := m.rank(rank)
	if err != nil {
		return err
	}
	calls, err := ops.CollectiveCallsOn(comm, k, x)
	if err != nil || calls == nil || nth >= calls.Total() {
		return err
	}
	_, t := calls.Nth(nth)
	c := k.CallWithoutParams(t)
	if there := m.o.siteOf(c); there.Function == key.Function {
		a, b := m.root(key), m.root(there)
		m.same[b], m.same[a] = a, a
	}
	return nil
}

// one returns the call site that represents the site of call c.
func (m *meetings) one(c *trace.Call) trace.FunctionSite {
	key := m.o.siteOf(c)
	if one, ok := m.same[key]; ok {
		return one
	}
	return key
}

// others lists the other call sites that site key represents.
func (m *meetings) others(key trace.FunctionSite) (list []trace.FunctionSite) {
	for other, one := range m.same {
		if one == key && other != key {
			list = append(list, other)
		}
	}
	slices.SortFunc(list, func(a, b trace.FunctionSite) int { return cmp.Compare(a.Site.Offset, b.Site.Offset) })
	return list
}
