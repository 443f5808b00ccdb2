package calltree

import (
	"maps"
	"slices"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// A Value summarises the numbers that a plugin or a counter attached to calls
// of one function from one place, over all ranks that the profile is about.
type Value struct {
	Name  string  `json:"name"`
	Count uint64  `json:"count"`
	Sum   int64   `json:"sum"`
	Mean  float64 `json:"mean"`
	Min   int64   `json:"min"`
	Max   int64   `json:"max"`
}

func (v *Value) String() string { return v.Name + " " + Number(v.Mean) }

// Number renders a mean with three digits, thousands with their points.
func Number(x float64) string {
	if x >= 1000 {
		return show.Grouped(uint64(x + 0.5))
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// ValueSums collects values by the number of a place.
type ValueSums map[int]map[string]trace.ValueStat

// add takes in what a class's terminals have; place numbers a terminal's place.
// The first terminal of a place has it for all of them.
func (s ValueSums) Add(r *trace.Reader, class int, place []int) error {
	all, err := r.Values(class)
	if err != nil {
		return err
	}
	for name, list := range all {
		for t, stat := range list {
			if stat.Count == 0 {
				continue
			}
			at := place[t]
			if s[at] == nil {
				s[at] = make(map[string]trace.ValueStat)
			}
			sum := s[at][name]
			sum.Merge(stat)
			s[at][name] = sum
		}
	}
	return nil
}

// of returns the values of a place by name.
func (s ValueSums) Of(place int) []Value {
	var list []Value
	for _, name := range slices.Sorted(maps.Keys(s[place])) {
		v := s[place][name]
		list = append(list, Value{name, v.Count, v.Sum, v.Mean(), v.Min, v.Max})
	}
	return list
}
