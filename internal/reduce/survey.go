package reduce

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// A sizeFamily is sizes that are merged in the same way wherever they occur, so that equal ones stay equal.
type sizeFamily struct {
	sizes  stats.NumberDistribution
	unit   int64  // least common multiple, in bytes, of the units in which calls count these sizes
	fixed  bool   // the sizes must stay unchanged
	stored uint64 // number of occurrences of these sizes in distinct calls, each of which the file stores
	keys   map[key]bool
	sorted []stats.Bin // the distinct sizes, rising
	bins   []trace.Bin
	// precision is the percentage with which bins was made, see Options.PrecisionPercent.
	precision int
}

// A survey is all size families of a trace, as a union-find structure over keys.
type survey struct {
	r      *trace.Reader
	parent map[key]key
	of     map[key]*sizeFamily // by the key that represents the family, see root
	wilds  bool                // some receive takes any tag
	code   int64               // bytes that the section on the program's code adds to the file
}

// largestUnit is the largest sizeFamily.unit, in bytes. Sizes with a larger common multiple of units stay unchanged.
const largestUnit = 1 << 20

func (s *survey) root(k key) key {
	for {
		p, ok := s.parent[k]
		if !ok || p == k {
			return k
		}
		k = p
	}
}

func (s *survey) family(k key) *sizeFamily {
	if _, ok := s.parent[k]; !ok {
		s.parent[k] = k
	}
	k = s.root(k)
	return once.GetOrMake(s.of, k, func() *sizeFamily {
		return &sizeFamily{sizes: stats.NumberDistribution{KeepAllExact: true}, unit: 1, keys: map[key]bool{k: true}, precision: 100}
	})
}

// join makes one family of the families of two keys.
func (s *survey) join(a, b key) {
	s.family(a)
	s.family(b)
	a, b = s.root(a), s.root(b)
	if a == b {
		return
	}
	to, from := s.of[a], s.of[b]
	if to.sizes.BinCount() < from.sizes.BinCount() {
		a, b, to, from = b, a, from, to
	}
	to.sizes.Join(&from.sizes)
	to.stored += from.stored
	to.fixed = to.fixed || from.fixed
	to.commonUnit(from.unit)
	maps.Copy(to.keys, from.keys)
	s.parent[b] = a
	delete(s.of, b)
}

func (f *sizeFamily) commonUnit(unit int64) {
	common := f.unit / stats.GCD(f.unit, unit) * unit
	if unit <= 0 || unit > largestUnit || common > largestUnit {
		f.fixed = true
		return
	}
	f.unit = common
}

// surveyOf finds the size families of a trace. progress is called after each rank.
func surveyOf(r *trace.Reader, progress func(ranks int)) (*survey, error) {
	s := &survey{r: r, parent: make(map[key]key), of: make(map[key]*sizeFamily)}
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, err
		}
		if err := s.rank(k); err != nil {
			return nil, fmt.Errorf("rank %d: %w", k.Number(), err)
		}
		progress(1)
	}
	if s.wilds {
		for k := range s.parent {
			if !k.collective {
				s.join(wild, k)
			}
		}
	}
	for _, f := range s.of {
		f.sorted = f.sizes.AllBins()
	}
	return s, nil
}

func (s *survey) rank(k *trace.Rank) error {
	x, err := handles.TableOf(s.r).Rank(k)
	if err != nil {
		return err
	}
	plans := make([]*sizePlan, k.Terminals())
	counts := make([]uint64, k.Terminals())
	lanes := false
	sites := make(map[[2]any]key)
	for stream := range k.Streams() {
		for t, n := range k.TerminalCounts(stream) {
			counts[t] += n
		}
	}
	take := func(t int, vals []int64, calls uint64) {
		c := k.CallWithoutParams(t)
		for i := range plans[t].slots {
			x := &plans[t].slots[i]
			key := x.keyIn(vals)
			s.wilds = s.wilds || key == wild
			f := s.family(key)
			if x.unit <= 0 && vals[x.at] == 0 {
				continue // the parameter is ignored here
			}
			if x.fixed || x.unit <= 0 {
				f.fixed = true
				continue
			}
			f.commonUnit(x.unit)
			if vals[x.at] >= 0 && !x.again {
				f.sizes.Add(vals[x.at]*x.unit, calls, k.Number())
				f.stored++
			}
			// The sizes of a call site are one family, whatever their tags; sizes in statuses are grouped by tag.
			if at := [2]any{c.Func.ID, c.Site}; x.tag >= 0 && !x.told {
				if first, ok := sites[at]; ok {
					s.join(first, key)
				} else {
					sites[at] = key
				}
			}
		}
	}
	for t := range plans {
		if plans[t], err = planOf(k, t, k.Signature(t), x.FixedTypeSize); err != nil {
			return err
		}
		if len(plans[t].slots) > 0 && k.Lane(t) != nil {
			lanes = true
		} else {
			take(t, k.Signature(t), counts[t])
		}
	}
	if !lanes {
		return nil
	}
	for stream := range k.Streams() {
		for t, vals := range k.Signatures(stream) {
			if len(plans[t].slots) > 0 && k.Lane(t) != nil {
				take(t, vals, 1)
			}
		}
	}
	return nil
}

// cost is the approximate number of bits that the family's sizes take in the file.
func (f *sizeFamily) cost() float64 {
	total, bits := float64(f.sizes.Count), 0.0
	for _, t := range f.sorted {
		bits += float64(t.Count) / total * math.Log2(total/float64(t.Count))
	}
	return bits * float64(f.stored)
}

// merge merges a family's sizes at a precision.
func (f *sizeFamily) merge(precision int) {
	f.precision, f.bins = precision, nil
	if !f.fixed {
		f.bins = MergeSizes(f.sorted, precision, f.unit)
	}
}

// value returns the size that replaces a size of the family; the same size if it is in no bin.
func (f *sizeFamily) value(size int64) int64 {
	i, _ := slices.BinarySearchFunc(f.bins, size, func(b trace.Bin, size int64) int { return cmp.Compare(b.High, size) })
	if i < len(f.bins) && f.bins[i].Low <= size {
		return f.bins[i].ReplacingValue
	}
	return size
}
