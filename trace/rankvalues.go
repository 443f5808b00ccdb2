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
	if !r.hasSection(container.SectionRankAttachedSums) {
		return m, nil
	}
	v, err := r.values()
	if err != nil {
		return nil, err
	}
	var list []sections.RankAttachedSums
	err = r.section(container.SectionRankAttachedSums, func(w *wire.Reader) {
		list = sections.DecodeRankAttachedSums(w, len(v.Names), r.ranks.Classes)
	})
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		name := v.Names[x.NameIndex]
		m[name] = make([]*timing.ClassTotals, len(x.ClassBlobs))
		for class, b := range x.ClassBlobs {
			if m[name][class], err = r.decodeTotals(container.SectionRankAttachedSums, class, b, true); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

// An AttachedSum is a rank's sum of attached numbers. The true sum differs from Sum by at most ErrorBound. If that is
// infinite, nothing is known of the rank itself, and Sum is the mean over the ranks of the class.
type AttachedSum struct{ Sum, ErrorBound float64 }

// IsOfRank reports whether the sum is that of the rank itself.
func (v AttachedSum) IsOfRank() bool { return !math.IsInf(v.ErrorBound, 1) }

// AttachedTotals is the sums of the values attached on a rank under one name.
type AttachedTotals struct {
	AttachedSum
	Sites []AttachedSiteSum   // call sites with attached values, in order of their first terminals
	leaf  map[int]AttachedSum // by leaf, numbered over all threads: its sum, if the file has it
}

// AttachedSiteSum is the sum of the values attached on a rank to the calls of one function from one site.
type AttachedSiteSum struct {
	FirstTerminal int // lowest terminal of the calls of that function from that site
	AttachedSum
}

// AttachedTotals returns the sums of the values attached to the calls of the rank, by name. The total is accurate to a
// percent, and so are the sums of the largest call sites.
func (k *Rank) AttachedTotals() (map[string]*AttachedTotals, error) {
	values, err := k.ClassAttachedStats()
	if err != nil || len(values) == 0 {
		return nil, err
	}
	all, err := k.r.valued()
	if err != nil {
		return nil, err
	}
	ranks := k.r.members[k.nclass]
	m := make(map[string]*AttachedTotals)
	for name, list := range values {
		out := &AttachedTotals{}
		number := make(map[int]int)
		for t, s := range list {
			if s.Count == 0 {
				continue
			}
			v := AttachedSiteSum{t, AttachedSum{float64(s.Sum) / float64(ranks), 0}}
			if ranks > 1 && (s.Min != 0 || s.Max != 0) {
				v.ErrorBound = math.Inf(1)
			}
			number[t] = len(out.Sites)
			out.Sites = append(out.Sites, v)
			out.Sum += v.Sum
			out.ErrorBound = max(out.ErrorBound, v.ErrorBound)
		}
		if len(out.Sites) == 0 {
			continue
		}
		m[name] = out
		if all[name] == nil || all[name][k.nclass] == nil {
			continue
		}
		c := all[name][k.nclass]
		out.AttachedSum = valueTotal(c, k.index)
		for n, t := range c.KnownSiteTerminals() {
			above, off, up := c.RankSiteTotalNs(n, timing.DurationKind, k.index)
			below, less, down := c.RankSiteTotalNs(n, timing.GapKind, k.index)
			if t >= len(list) {
				if out.leaf == nil {
					out.leaf = make(map[int]AttachedSum)
				}
				out.leaf[t-len(list)] = AttachedSum{above - below, off + less}
				continue
			}
			i, ok := number[t]
			if !ok {
				continue
			}
			// The file has no sums of positive values if these are 0 on every rank: then Max is not above 0. The same
			// holds for negative values and Min.
			if (up || list[t].Max <= 0) && (down || list[t].Min >= 0) {
				out.Sites[i].AttachedSum = AttachedSum{above - below, off + less}
			}
		}
	}
	return m, nil
}

// valueTotal returns the sum of all numbers attached on the rank with the given index in its class. The file has the
// sum of the positive ones as durations, and the absolute sum of the negative ones as gaps.
func valueTotal(c *timing.ClassTotals, index int) AttachedSum {
	above, off := c.RankTotalNs(timing.DurationKind, index)
	below, less := c.RankTotalNs(timing.GapKind, index)
	return AttachedSum{above - below, off + less}
}

// checkRankValues compares, for each name, the sum of the attached numbers over the ranks of a class with the class's
// own sum.
func (r *Reader) checkRankValues(class int, values map[string][]AttachedStat) error {
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
			got, off = got+v.Sum, off+v.ErrorBound
		}
		if math.Abs(sum) < math.MaxInt64/2 && math.Abs(got-sum) > off+1e-9*math.Abs(sum)+1 {
			return r.failed(container.SectionRankAttachedSums, fmt.Errorf("class %d: %s of the ranks are %.0f by sum, %.0f are known: %w", class, name, got, sum, ErrFormat))
		}
	}
	return nil
}
