// Package order gives up in which order requests were finished, where that is another on each rank and in each run, so that ranks that
// poll are of one class.
//
// Invariants:
//
//  1. Calls in a row from one place that are given what is left of the same requests, and finish some of them, finish the same after,
//     in the order of the array. Nothing that other ranks see is between them, so that any order is one that the run could have had.
//  2. Tests and probes that found nothing are left out, as the program saw nothing of the other ranks by them.
//  3. What ranks spent MUST stay: a call that takes the place of others takes as long as these together.
package order

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/mpi/meaning"
	"github.com/spoor-hpc/spoor/trace"
)

// Of makes a trace of another in which requests finish in the order of their arrays: the same one if they do so anyway. progress is told
// of each rank that was looked at.
func Of(r *trace.Reader, progress func(ranks int)) (*trace.Reader, error) {
	changed := false
	ch := &reduce.Change{
		Note:   "requests finish in array order, and tests in vain are left out",
		Values: func(*trace.Rank, int, []int64) {},
		Tracks: func(list []*track.Track) error {
			for _, t := range list {
				if len(t.Streams) > 1 {
					continue // others may finish requests in between
				}
				other, err := sorted(t)
				if err != nil {
					return fmt.Errorf("rank %d: %w", t.Rank, err)
				}
				changed = changed || other
			}
			return nil
		},
	}
	part, err := reduce.Changed(r, ch, progress)
	if err != nil {
		return nil, err
	}
	defer part.Close()
	if !changed {
		return r, nil
	}
	note := part.Content.Meta[trace.MetaNote+".changed"]
	delete(part.Content.Meta, trace.MetaNote+".changed")
	part.Content.Meta[trace.MetaNote+".order"] = note
	return part.Reader(r.Name())
}

// A call is what a terminal does.
type call struct {
	vain     bool
	key      string // calls that can be in a row have the same; "": it finishes nothing of an array
	requests []int64
	done     []finished
	spans    map[string]signature.Span // by parameter
}

// A finished request is a number in its array.
type finished struct {
	index  int64
	status []int64
}

// A sorter changes a track.
type sorter struct {
	t     *track.Track
	b     *track.Builder
	calls []call
	left  []uint64  // by terminal as it was: calls that stay
	row   []uint32  // calls in a row
	open  []int64   // what is left of their requests
	spent [2]uint64 // gaps and durations of calls that are left out, and that no other has yet
	other bool      // some calls are others now
}

// sorted changes a track, if there is anything to change.
func sorted(t *track.Track) (other bool, err error) {
	x := &sorter{t: t, b: track.Extend(t), left: make([]uint64, len(t.Sigs))}
	x.b.Sigs, x.b.Times = nil, nil
	changes := false
	for i := range t.Sigs {
		s := &t.Sigs[i]
		c, err := read(s)
		if err != nil {
			return false, err
		}
		changes = changes || c.vain || c.key != ""
		x.calls = append(x.calls, c)
		x.b.Number(s.Call, s.Site, s.Vals, "")
	}
	if !changes || len(x.b.Sigs) != len(t.Sigs) {
		return false, nil
	}
	for n := range t.Streams[0].Grammar.All() {
		x.take(n)
	}
	x.flush()
	if !x.other {
		return false, nil
	}
	for n, s := range t.Times {
		to := &x.b.Times[n]
		to.Duration.Merge(track.Scaled(s.Duration, min(s.Duration.Count, x.left[n])))
		to.Gap.Merge(track.Scaled(s.Gap, min(s.Gap.Count, x.left[n])))
	}
	out, _, _ := x.b.Finish(x.b.Grammars())
	*t = *out
	t.Courses = nil // of places that others have now
	t.Process.Asides = slices.DeleteFunc(slices.Clone(t.Process.Asides), func(a track.Aside) bool { return a.Call > 0 })
	return true, nil
}

// read finds out what a call does.
func read(s *signature.Signature) (c call, err error) {
	def, ok := mpi.ByID(s.Call)
	if !ok {
		return c, fmt.Errorf("function %d isn't known", s.Call)
	}
	is := meaning.WaitingOf(def)
	if !is.Completes && !is.Probes || s.Vals[0] != 0 {
		return c, nil
	}
	l := signature.LayoutOf(def)
	list, err := l.Spans(nil, s.Vals)
	if err != nil {
		return c, err
	}
	c.spans = make(map[string]signature.Span)
	for _, p := range list {
		if p.Param >= 0 && p.Param < len(def.Params) {
			if name := def.Params[p.Param].Name; p.Out || c.spans[name].End == 0 && !p.Summed(s.Vals) {
				c.spans[name] = p
			}
		}
	}
	value := func(name string) int64 { return s.Vals[c.spans[name].At] }
	_, flag := c.spans["flag"]
	requests, array := c.spans["array_of_requests"]
	switch {
	case flag && def.Has(mpi.Polls) && value("flag") == 0, is.Choice == meaning.SomeRequests && def.Has(mpi.Polls) && value("outcount") == 0:
		return call{vain: true}, nil
	case !array || requests.Out:
		return call{}, nil
	case is.Choice == meaning.AnyRequest:
		p := c.spans["status"]
		c.done = []finished{{value("index"), s.Vals[p.At:p.End]}}
	case is.Choice == meaning.SomeRequests:
		indices, statuses := c.spans["array_of_indices"], c.spans["array_of_statuses"]
		for _, index := range s.Vals[indices.At+1 : indices.End] {
			c.done = append(c.done, finished{index: index})
		}
		i := 0
		for p := range statuses.Elements(s.Vals) {
			c.done[i].status = s.Vals[p.At:p.End]
			i++
		}
	}
	c.requests = s.Vals[requests.At+1 : requests.End]
	for _, f := range c.done {
		if f.index < 0 || f.index >= int64(len(c.requests)) || c.requests[f.index] <= 0 || c.requests[f.index]&1 != 0 {
			return call{}, nil
		}
	}
	if len(c.done) > 0 {
		c.key = fmt.Sprint(s.Call, s.Site, len(c.requests), c.spans["array_of_statuses"].End-c.spans["array_of_statuses"].At == 1)
	}
	return c, nil
}

// take goes on with a call.
func (x *sorter) take(n uint32) {
	c := &x.calls[n]
	switch {
	case c.vain:
		x.spend(n)
		x.other = true
		return
	case c.key == "":
		x.flush()
		x.b.Stream(0).Append(n)
		x.left[n]++
		if x.spent != [2]uint64{} {
			x.b.Times[n].Gap.Sum += x.spent[0] + x.spent[1]
			x.spent = [2]uint64{}
		}
		return
	case len(x.row) == 0 || x.calls[x.row[0]].key != c.key || !slices.Equal(x.open, c.requests):
		x.flush()
		x.open = slices.Clone(c.requests)
	}
	x.row = append(x.row, n)
	for _, f := range c.done {
		x.open[f.index] = 0
	}
}

// spend takes the times of a call.
func (x *sorter) spend(n uint32) {
	x.spent[0] += uint64(x.t.Times[n].Gap.Mean())
	x.spent[1] += uint64(x.t.Times[n].Duration.Mean())
}

// flush writes the calls of a row: one for each request, or a single one if it can finish all.
func (x *sorter) flush() {
	if len(x.row) == 0 {
		return
	}
	first := &x.calls[x.row[0]]
	open := slices.Clone(first.requests)
	var done []finished
	for _, n := range x.row {
		x.spend(n)
		done = append(done, x.calls[n].done...)
	}
	slices.SortFunc(done, func(a, b finished) int { return cmp.Compare(a.index, b.index) })
	s := &x.t.Sigs[x.row[0]]
	each, row := uint64(len(done)), x.row
	x.row = nil
	if _, some := first.spans["outcount"]; some {
		each = 1
		indices, statuses := []int64{int64(len(done))}, []int64{int64(len(done))}
		for _, f := range done {
			indices, statuses = append(indices, f.index), append(statuses, f.status...)
		}
		if p := first.spans["array_of_statuses"]; s.Vals[p.At] < 0 {
			statuses = s.Vals[p.At:p.End]
		}
		x.call(s, first, map[string][]int64{"outcount": indices[:1], "array_of_indices": indices, "array_of_statuses": statuses}, each)
	} else {
		for _, f := range done {
			requests := append([]int64{int64(len(open))}, open...)
			x.call(s, first, map[string][]int64{"array_of_requests": requests, "index": {f.index}, "status": f.status}, each)
			open[f.index] = 0
		}
	}
	x.other = x.other || !slices.Equal(x.row, row)
	x.row, x.spent = nil, [2]uint64{}
}

// call appends a call like another, but for some values, which takes its share of what was spent.
func (x *sorter) call(s *signature.Signature, like *call, with map[string][]int64, of uint64) {
	var vals []int64
	at := 0
	for _, name := range slices.SortedFunc(maps.Keys(with), func(a, b string) int { return cmp.Compare(like.spans[a].At, like.spans[b].At) }) {
		vals = append(append(vals, s.Vals[at:like.spans[name].At]...), with[name]...)
		at = like.spans[name].End
	}
	n, _ := x.b.Number(s.Call, s.Site, append(vals, s.Vals[at:]...), "")
	x.b.Stream(0).Append(n)
	x.row = append(x.row, n)
	if !x.t.Timeless {
		x.b.Times[n].Add(x.spent[0]/of, x.spent[1]/of)
	}
}
