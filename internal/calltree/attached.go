package calltree

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// An AttachedSum is the sum of values attached to the calls of a node under one name.
type AttachedSum struct {
	Name string `json:"name"`
	trace.LeafAttachedSum
}

func (a *AttachedSum) String() string {
	about := ""
	if a.IsEstimate {
		about = "~"
	}
	return a.Name + " " + about + FormatMean(a.Mean())
}

// RoundsByProgramText renders a loop's iterations as the program counted them; "" without a count, or if it equals the
// number found from the calls.
func (n *Node) RoundsByProgramText() string {
	if n.RoundsByProgram == nil {
		return ""
	}
	rounds, about := uint64(n.RoundsByProgram.Sum+0.5), ""
	if rounds == n.Rounds && !n.RoundsAreLowerBound && !n.EntriesAreLowerBound {
		return ""
	}
	if n.RoundsByProgram.IsEstimate {
		about = "~"
	}
	return about + show.FormatGrouped(rounds)
}

// addAttached returns the sums of list plus those of more, the latter multiplied by times. Both lists are in order of
// names; neither is changed.
func addAttached(list, more []AttachedSum, times float64) []AttachedSum {
	if len(more) == 0 {
		return list
	}
	out := make([]AttachedSum, 0, max(len(list), len(more)))
	for len(list) > 0 || len(more) > 0 {
		c := 1
		if len(more) == 0 {
			c = -1
		} else if len(list) > 0 {
			c = strings.Compare(list[0].Name, more[0].Name)
		}
		var x AttachedSum
		if c <= 0 {
			x, list = list[0], list[1:]
		}
		if c >= 0 {
			x.Name = more[0].Name
			v := more[0].LeafAttachedSum
			v.Count, v.Sum, v.ErrorBound = v.Count*times, v.Sum*times, v.ErrorBound*times
			x.Add(v)
			more = more[1:]
		}
		out = append(out, x)
	}
	return out
}

// attached returns, by leaf of the current thread, the mean values attached to a call; nil if there are no values.
func (b *builder) attached() ([][]AttachedSum, error) {
	var list [][]AttachedSum
	calls := make([]uint64, b.leaves.Len())
	values := b.leaves.AttachedValues
	if !b.OwnTimes && len(b.ranks) < len(b.p.TimedRanks) {
		values = b.leaves.MeanAttachedValues // of the class, like the times
	}
	for _, k := range b.ranks {
		values, err := values(k)
		if err != nil || values == nil {
			return nil, err
		}
		if list == nil {
			list = make([][]AttachedSum, b.leaves.Len())
		}
		for leaf, n := range b.leaves.Counts(k) {
			calls[leaf] += n
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			for leaf, v := range values[name] {
				if v.Count > 0 {
					list[leaf] = addAttached(list[leaf], []AttachedSum{{name, v}}, 1)
				}
			}
		}
	}
	for leaf := range list {
		list[leaf] = addAttached(nil, list[leaf], 1/float64(max(1, calls[leaf])))
	}
	return list, nil
}

// An AttachedSummary summarises the numbers that a plugin or a counter attached to calls of one function from one
// place, over all ranks that the profile is about.
type AttachedSummary struct {
	Name  string  `json:"name"`
	Count uint64  `json:"count"`
	Sum   int64   `json:"sum"`
	Mean  float64 `json:"mean"`
	Min   int64   `json:"min"`
	Max   int64   `json:"max"`
}

func (v *AttachedSummary) String() string { return v.Name + " " + FormatMean(v.Mean) }

// FormatMean renders a mean with three digits, from 1000 on as a whole number with separated thousands.
func FormatMean(x float64) string {
	if x >= 1000 {
		return show.FormatGrouped(uint64(x + 0.5))
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// AttachedSumsBySite are sums of attached values by number of a call site, then by name.
type AttachedSumsBySite map[int]map[string]trace.AttachedStat

// Add adds the values of a class's terminals. place is, by terminal, the number of its call site. The first terminal of
// a call site has the values of all of its terminals.
func (s AttachedSumsBySite) Add(r *trace.Reader, class int, place []int) error {
	all, err := r.AttachedStats(class)
	if err != nil {
		return err
	}
	for name, list := range all {
		for t, stat := range list {
			if stat.Count == 0 {
				continue
			}
			at := place[t]
			values := once.GetOrMake(s, at, func() map[string]trace.AttachedStat { return make(map[string]trace.AttachedStat) })
			sum := values[name]
			sum.Merge(stat)
			values[name] = sum
		}
	}
	return nil
}

// BySite returns the values of a call site, ordered by name.
func (s AttachedSumsBySite) BySite(place int) []AttachedSummary {
	var list []AttachedSummary
	for _, name := range slices.Sorted(maps.Keys(s[place])) {
		v := s[place][name]
		list = append(list, AttachedSummary{name, v.Count, v.Sum, v.Mean(), v.Min, v.Max})
	}
	return list
}
