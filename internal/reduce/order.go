package reduce

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// OrderCompletions removes the order in which requests finished where it differs between ranks and runs. Ranks that
// poll then fall into one class.
//
// Invariants:
//
//  1. Consecutive calls of one call site finish the same requests as before, but in the order of their array. Each
//     such call passes the requests that the previous ones left. No action visible to other ranks is between them, so
//     the run could have had any order.
//  2. Tests and probes that found nothing are left out, as they show the program nothing of other ranks.
//  3. The ranks' times MUST stay: a call that replaces others takes their total time.
//
// It returns the same trace if all requests finish in array order anyway. progress is called after each rank.
func OrderCompletions(r *trace.Reader, progress func(ranks int)) (*trace.Reader, error) {
	changed := false
	ch := &ValueChange{
		Note:       "requests finish in array order, and tests in vain are left out",
		EditValues: func(*trace.Rank, int, []int64) {},
		EditTracks: func(list []*track.Track) error {
			for _, t := range list {
				if len(t.Streams) > 1 {
					continue // calls of other threads may finish requests in between
				}
				other, err := sorted(r, t)
				if err != nil {
					return fmt.Errorf("rank %d: %w", t.Rank, err)
				}
				changed = changed || other
			}
			return nil
		},
	}
	part, err := ChangeValues(r, ch, progress)
	if err != nil {
		return nil, err
	}
	defer part.Close()
	if !changed {
		return r, nil
	}
	note := part.Content.Meta[trace.MetaNotePrefix+".changed"]
	delete(part.Content.Meta, trace.MetaNotePrefix+".changed")
	part.Content.Meta[trace.MetaNotePrefix+".order"] = note
	return part.Reader(r.Name())
}

// A call is what the calls of a terminal do with requests.
type call struct {
	vain     bool
	key      string // equal for calls that may form a sorter.row; "": the call completes no requests of an array
	requests []int64
	done     []finished
	spans    map[string]signature.Span // by name of a parameter: its values in the signature
}

// A finished is a request that a call completed: its index in the call's array, and its status.
type finished struct {
	index  int64
	status []int64
}

// A sorter puts the completions in one track into the order of the arrays.
type sorter struct {
	t     *track.Track
	b     *track.Builder
	calls []*call   // by terminal; nil: not seen yet
	left  []uint64  // by terminal of the original track: number of calls that stay unchanged
	row   []uint32  // terminals of consecutive calls that are reordered together
	open  []int64   // requests that the row's calls have not finished yet
	spent [2]uint64 // sums, in ns, of gaps and of durations of left-out calls; not yet added to a kept call
	other bool      // some calls of the track have changed
}

// sorted puts the completions in a track of a trace into the order of the arrays. other reports whether it changed any.
func sorted(r *trace.Reader, t *track.Track) (other bool, err error) {
	x := &sorter{t: t, b: track.NewBuilderFrom(t), calls: make([]*call, len(t.Signatures)), left: make([]uint64, len(t.Signatures))}
	x.b.Signatures, x.b.Times = nil, nil
	for i := range t.Signatures {
		x.b.FindOrAddTerminal(t.Signatures[i].FunctionID, t.Signatures[i].Site, t.Signatures[i].Values, "")
	}
	if len(x.b.Signatures) != len(t.Signatures) {
		return false, nil
	}
	k, err := r.Rank(t.Rank)
	if err != nil {
		return false, err
	}
	w, err := k.Walk(0, 0)
	if err != nil {
		return false, err
	}
	for n := range t.Streams[0].Grammar.All() {
		if !w.Next() {
			return false, w.Err()
		}
		if x.calls[n] == nil {
			if x.calls[n], err = callOf(w.Call(), &t.Signatures[n]); err != nil {
				return false, err
			}
		}
		x.take(n)
	}
	x.flush()
	if !x.other {
		return false, nil
	}
	for n, s := range t.Times {
		to := &x.b.Times[n]
		to.Duration.Merge(track.ScaleStat(s.Duration, min(s.Duration.Count, x.left[n])))
		to.Gap.Merge(track.ScaleStat(s.Gap, min(s.Gap.Count, x.left[n])))
	}
	out, _, _ := x.b.Finish(x.b.Grammars())
	*t = *out
	t.DropCallPositions()
	return true, nil
}

// callOf finds out what a call with a signature does.
func callOf(from *trace.Call, s *signature.Signature) (*call, error) {
	c := &call{vain: ops.FoundNothing(from), spans: make(map[string]signature.Span)}
	if from.Return != 0 || c.vain {
		return c, nil
	}
	vals := s.Values
	list, err := sections.SpansOf(from.Func, nil, vals)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if p := &list[i]; p.Param >= 0 && p.Param < len(from.Func.Params) {
			if name := from.Func.Params[p.Param].Name; p.IsOutput || c.spans[name].End == 0 && !p.HasOmittedDispls(vals) {
				c.spans[name] = *p
			}
		}
	}
	requests, array := c.spans["array_of_requests"]
	done := ops.RequestsCompleted(from)
	if !array || requests.IsOutput || len(done) == 0 || from.Param("index") == nil && from.Param("outcount") == nil {
		return c, nil
	}
	var statuses [][]int64
	if p, one := c.spans["status"]; one {
		statuses = append(statuses, vals[p.First:p.End])
	}
	all := c.spans["array_of_statuses"]
	for p := range all.Elements(vals) {
		statuses = append(statuses, vals[p.First:p.End])
	}
	for i, d := range done {
		if d.Request.RequestForm != trace.RequestOneShot {
			return c, nil
		}
		f := finished{index: int64(d.ArrayIndex)}
		if i < len(statuses) {
			f.status = statuses[i]
		}
		c.done = append(c.done, f)
	}
	c.requests = vals[requests.First+1 : requests.End]
	c.key = fmt.Sprint(s.FunctionID, s.Site, len(c.requests), all.End-all.First == 1)
	return c, nil
}

// take processes the track's next call, which has terminal n.
func (x *sorter) take(n uint32) {
	c := x.calls[n]
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

// spend adds a left-out call's times to spent.
func (x *sorter) spend(n uint32) {
	x.spent[0] += uint64(x.t.Times[n].Gap.Mean())
	x.spent[1] += uint64(x.t.Times[n].Duration.Mean())
}

// flush writes the calls of a row: one call for each request, or a single call if it can complete all.
func (x *sorter) flush() {
	if len(x.row) == 0 {
		return
	}
	first := x.calls[x.row[0]]
	open := slices.Clone(first.requests)
	var done []finished
	for _, n := range x.row {
		x.spend(n)
		done = append(done, x.calls[n].done...)
	}
	slices.SortFunc(done, func(a, b finished) int { return cmp.Compare(a.index, b.index) })
	s := &x.t.Signatures[x.row[0]]
	each, row := uint64(len(done)), x.row
	x.row = nil
	if _, some := first.spans["outcount"]; some {
		each = 1
		indices, statuses := []int64{int64(len(done))}, []int64{int64(len(done))}
		for _, f := range done {
			indices, statuses = append(indices, f.index), append(statuses, f.status...)
		}
		if p := first.spans["array_of_statuses"]; s.Values[p.First] < 0 {
			statuses = s.Values[p.First:p.End]
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

// call appends a call with signature s, except for the parameters in with, which has their values. Its times are
// x.spent divided by of. like has the positions of parameters in s.
func (x *sorter) call(s *signature.Signature, like *call, with map[string][]int64, of uint64) {
	var vals []int64
	at := 0
	for _, name := range slices.SortedFunc(maps.Keys(with), func(a, b string) int { return cmp.Compare(like.spans[a].First, like.spans[b].First) }) {
		vals = append(append(vals, s.Values[at:like.spans[name].First]...), with[name]...)
		at = like.spans[name].End
	}
	n, _ := x.b.FindOrAddTerminal(s.FunctionID, s.Site, append(vals, s.Values[at:]...), "")
	x.b.Stream(0).Append(n)
	x.row = append(x.row, n)
	if !x.t.Timeless {
		x.b.Times[n].Add(x.spent[0]/of, x.spent[1]/of)
	}
}
