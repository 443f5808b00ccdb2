package trace

import (
	"fmt"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
)

func (r *Reader) readRankValues() (map[string][]*timing.ClassTotals, error) {
	m := make(map[string][]*timing.ClassTotals)
	if !r.hasSection(container.RankValues) {
		return m, nil
	}
	v, err := r.values()
	if err != nil {
		return nil, err
	}
	var list []sections.RankValue
	err = r.section(container.RankValues, func(w *wire.Reader) {
		list = sections.DecodeRankValues(w, len(v.Names), r.ranks.Classes)
	})
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		name := v.Names[x.Name]
		m[name] = make([]*timing.ClassTotals, len(x.Blobs))
		for class, b := range x.Blobs {
			if m[name][class], err = r.decodeTotals(container.RankValues, class, b, true); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// A ValueTotal is a sum of numbers that were attached. The truth is at most Within away from
// it; nothing is known of the rank if that is infinite, and it has its part in the sum
// of its class.
type ValueTotal struct{ Sum, Within float64 }

// Known reports whether the sum is that of the rank itself.
func (v ValueTotal) Known() bool { return !math.IsInf(v.Within, 1) }

// ValueTotals is what was attached on a rank under one name.
type ValueTotals struct {
	ValueTotal
	Sites []SiteValue        // where something was attached, in order of their first terminals
	leaf  map[int]ValueTotal // at leaves, numbered over all threads, as far as the file has it
}

// SiteValue is what was attached on a rank to the calls of one function from one place.
type SiteValue struct {
	Terminal int // the first of them
	ValueTotal
}

// ValueTotals returns the sums of what was attached to the calls of the rank, by name: in all to a
// percent, and so those of the call sites that have most of it.
func (k *Rank) ValueTotals() (map[string]*ValueTotals, error) {
	values, err := k.Values()
	if err != nil || len(values) == 0 {
		return nil, err
	}
	all, err := k.r.valued()
	if err != nil {
		return nil, err
	}
	ranks := k.r.members[k.nclass]
	m := make(map[string]*ValueTotals)
	for name, list := range values {
		out := &ValueTotals{}
		number := make(map[int]int)
		for t, s := range list {
			if s.Count == 0 {
				continue
			}
			v := SiteValue{t, ValueTotal{float64(s.Sum) / float64(ranks), 0}}
			if ranks > 1 && (s.Min != 0 || s.Max != 0) {
				v.Within = math.Inf(1)
			}
			number[t] = len(out.Sites)
			out.Sites = append(out.Sites, v)
			out.Sum += v.Sum
			out.Within = max(out.Within, v.Within)
		}
		if len(out.Sites) == 0 {
			continue
		}
		m[name] = out
		if all[name] == nil || all[name][k.nclass] == nil {
			continue
		}
		c := all[name][k.nclass]
		out.ValueTotal = valueTotal(c, k.index)
		for n, t := range c.Sites() {
			above, off, up := c.Site(n, timing.DurationKind, k.index)
			below, less, down := c.Site(n, timing.GapKind, k.index)
			if t >= len(list) {
				if out.leaf == nil {
					out.leaf = make(map[int]ValueTotal)
				}
				out.leaf[t-len(list)] = ValueTotal{above - below, off + less}
				continue
			}
			i, ok := number[t]
			if !ok {
				continue
			}
			// Without a column is also what is nothing on every rank.
			if (up || list[t].Max <= 0) && (down || list[t].Min >= 0) {
				out.Sites[i].ValueTotal = ValueTotal{above - below, off + less}
			}
		}
	}
	return m, nil
}

// valueTotal is the sum of the positive numbers minus that of the negative ones' amounts.
func valueTotal(c *timing.ClassTotals, index int) ValueTotal {
	above, off := c.Total(timing.DurationKind, index)
	below, less := c.Total(timing.GapKind, index)
	return ValueTotal{above - below, off + less}
}

// checkRankValues compares what was attached on each rank of a class with what was on all.
func (r *Reader) checkRankValues(class int, values map[string][]ValueStat) error {
	all, err := r.valued()
	if err != nil {
		return err
	}
	for name, list := range all {
		if list[class] == nil {
			continue
		}
		var sum, got, off float64
		for _, s := range values[name] {
			sum += float64(s.Sum)
		}
		for i := range r.members[class] {
			v := valueTotal(list[class], i)
			got, off = got+v.Sum, off+v.Within
		}
		if math.Abs(sum) < math.MaxInt64/2 && math.Abs(got-sum) > off+1e-9*math.Abs(sum)+1 {
			return r.failed(container.RankValues, fmt.Errorf("class %d: %s of the ranks are %.0f by sum, %.0f are known: %w", class, name, got, sum, ErrFormat))
		}
	}
	return nil
}
