package trace

import (
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

func (r *Reader) readValues() (v *sections.AttachedValues, err error) {
	v = &sections.AttachedValues{}
	err = r.optional(container.Values, func(w *wire.Reader) { v = sections.DecodeValues(w, r.ranks.Classes) })
	return v, err
}

// ValueNames returns the names under which numbers were attached to calls, by a
// plugin or by counters, in alphabetical order. A counter's numbers are what it
// counted between the thread's call before and the call.
func (r *Reader) ValueNames() ([]string, error) {
	v, err := r.values()
	if err != nil {
		return nil, err
	}
	return slices.Clone(v.Names), nil
}

// Values returns what was attached to the calls of a class, over all of its ranks:
// for each of ValueNames, by terminal. Calls of the same function from the same
// place share one summary: the first of their terminals has it, those of the
// others are empty.
func (r *Reader) Values(class int) (map[string][]ValueStat, error) {
	v, err := r.values()
	if err != nil || len(v.Names) == 0 {
		return nil, err
	}
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	m := make(map[string][]ValueStat, len(v.Names))
	err = r.ofClass(container.Values, class, v.Blobs[class], func(w *wire.Reader) {
		for _, name := range v.Names {
			m[name] = sections.DecodeValueStats(w, len(c.Terminals))
		}
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Values returns what was attached to the calls of the rank's class.
func (k *Rank) Values() (map[string][]ValueStat, error) { return k.r.Values(k.nclass) }

// ValuesOf returns the summaries of a terminal by name, found at the first
// terminal with its function and place.
func (k *Rank) ValuesOf(terminal int) (map[string]ValueStat, error) {
	all, err := k.Values()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	first := k.class.FirstLike(terminal)
	m := make(map[string]ValueStat)
	for name, list := range all {
		if s := list[first]; s.Count > 0 {
			m[name] = s
		}
	}
	return m, nil
}
