package calltree

import (
	"maps"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// Attached is what a plugin or a counter attached to the calls at a place under a name.
type Attached struct {
	Name string `json:"name"`
	trace.LeafValue
}

func (a *Attached) String() string {
	about := ""
	if a.Estimate {
		about = "~"
	}
	return a.Name + " " + about + Number(a.Mean())
}

// CountedRounds is how many rounds of a loop the program counted itself, "" where there is nothing or they are those that the calls tell.
func (n *Node) CountedRounds() string {
	if n.Counted == nil {
		return ""
	}
	rounds, about := uint64(n.Counted.Sum+0.5), ""
	if rounds == n.Rounds && !n.AtLeast && !n.Unsure {
		return ""
	}
	if n.Counted.Estimate {
		about = "~"
	}
	return about + show.Grouped(rounds)
}

// addAttached adds a number of times what another place has; both are in order of names. It leaves what it is given as it is.
func addAttached(list, more []Attached, times float64) []Attached {
	if len(more) == 0 {
		return list
	}
	out := make([]Attached, 0, max(len(list), len(more)))
	for len(list) > 0 || len(more) > 0 {
		c := 1
		if len(more) == 0 {
			c = -1
		} else if len(list) > 0 {
			c = strings.Compare(list[0].Name, more[0].Name)
		}
		var x Attached
		if c <= 0 {
			x, list = list[0], list[1:]
		}
		if c >= 0 {
			x.Name = more[0].Name
			v := more[0].LeafValue
			v.Count, v.Sum, v.Within = v.Count*times, v.Sum*times, v.Within*times
			x.Add(v)
			more = more[1:]
		}
		out = append(out, x)
	}
	return out
}

// attached returns what one call has at each leaf of the thread at hand; nil if there is nothing.
func (b *builder) attached() ([][]Attached, error) {
	var list [][]Attached
	calls := make([]uint64, b.leaves.Len())
	values := b.leaves.Values
	if !b.Own && len(b.ranks) < len(b.p.TimesOf) {
		values = b.leaves.MeanValues // of the class, as times are
	}
	for _, k := range b.ranks {
		values, err := values(k)
		if err != nil || values == nil {
			return nil, err
		}
		if list == nil {
			list = make([][]Attached, b.leaves.Len())
		}
		for leaf, n := range b.leaves.Counts(k) {
			calls[leaf] += n
		}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			for leaf, v := range values[name] {
				if v.Count > 0 {
					list[leaf] = addAttached(list[leaf], []Attached{{name, v}}, 1)
				}
			}
		}
	}
	for leaf := range list {
		list[leaf] = addAttached(nil, list[leaf], 1/float64(max(1, calls[leaf])))
	}
	return list, nil
}
