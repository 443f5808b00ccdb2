package trace

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// A ValueStat is a summary of the numbers that a plugin or a counter attached to
// calls under one name.
type ValueStat = timing.Signed

// values is the section of attached values. A trace without any has none.
type values struct {
	names []string
	blobs [][]byte // per class
}

// appendValues and decodeValues: what was attached to the calls of each class.
//
//	values = names uvarint, name string…, per class blob
//	blob   = per name: terminals uvarint, (terminal, as a difference to the one before uvarint,
//	         count uvarint, min varint, (max - min) uvarint, sum varint)…
func appendValues(classes []Class) []byte {
	all := make(map[string]bool)
	for i := range classes {
		for name := range classes[i].Values {
			all[name] = true
		}
	}
	if len(all) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(all))
	b := wire.AppendUvarint(nil, uint64(len(names)))
	for _, name := range names {
		b = wire.AppendString(b, name)
	}
	blobs := make([][]byte, len(classes))
	for i := range classes {
		for _, name := range names {
			blobs[i] = appendValueStats(blobs[i], classes[i].Values[name])
		}
	}
	return appendBlobs(b, blobs)
}

func appendValueStats(b []byte, list []ValueStat) []byte {
	n := 0
	for _, s := range list {
		if s.Count > 0 {
			n++
		}
	}
	b = wire.AppendUvarint(b, uint64(n))
	last := 0
	for i, s := range list {
		if s.Count == 0 {
			continue
		}
		b = wire.AppendUvarint(b, uint64(i-last))
		last = i
		b = wire.AppendUvarint(b, s.Count)
		b = wire.AppendVarint(b, s.Min)
		b = wire.AppendUvarint(b, uint64(s.Max-s.Min))
		b = wire.AppendVarint(b, s.Sum)
	}
	return b
}

func decodeValueStats(r *wire.Reader, terminals int) []ValueStat {
	list := make([]ValueStat, terminals)
	at := 0
	for range r.Count(5) {
		at += r.Int(max(0, terminals-1-at))
		s := ValueStat{Count: r.Uvarint(), Min: r.Varint()}
		s.Max = s.Min + int64(r.Uvarint())
		s.Sum = r.Varint()
		if at >= terminals || s.Count == 0 || s.Max < s.Min {
			r.Fail("values of terminal %d of %d, %d of them from %d to %d", at, terminals, s.Count, s.Min, s.Max)
		}
		if r.Err() != nil {
			return list
		}
		list[at] = s
	}
	return list
}

func decodeValues(r *wire.Reader, classes int) *values {
	v := &values{}
	for range r.Count(1) {
		v.names = append(v.names, r.String())
		if n := len(v.names); n > 1 && v.names[n-2] >= v.names[n-1] {
			r.Fail("names of values out of order")
			return v
		}
	}
	v.blobs = decodeBlobs(r, classes)
	return v
}

func (r *Reader) readValues() (v *values, err error) {
	if !r.hasSection(container.Values) {
		return &values{}, nil
	}
	err = r.section(container.Values, func(w *wire.Reader) { v = decodeValues(w, r.ranks.classes) })
	return v, err
}

func (r *Reader) hasSection(id byte) bool {
	return r.sections.Find(id) != nil
}

// ValueNames returns the names under which numbers were attached to calls, by a
// plugin or by counters, in alphabetical order. A counter's numbers are what it
// counted between the thread's call before and the call.
func (r *Reader) ValueNames() ([]string, error) {
	v, err := r.values()
	if err != nil {
		return nil, err
	}
	return slices.Clone(v.names), nil
}

// Values returns what was attached to the calls of a class, over all of its ranks:
// for each of ValueNames, by terminal. Calls of the same function from the same
// place share one summary: the first of their terminals has it, those of the
// others are empty.
func (r *Reader) Values(class int) (map[string][]ValueStat, error) {
	v, err := r.values()
	if err != nil || len(v.names) == 0 {
		return nil, err
	}
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	m := make(map[string][]ValueStat, len(v.names))
	w := wire.NewReader(v.blobs[class], fmt.Sprintf("class %d", class))
	for _, name := range v.names {
		m[name] = decodeValueStats(w, len(c.terminals))
	}
	if err := w.Done(); err != nil {
		return nil, r.failed(container.Values, fmt.Errorf("%w: %w", err, ErrFormat))
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
	first := k.class.firstLike(terminal)
	m := make(map[string]ValueStat)
	for name, list := range all {
		if s := list[first]; s.Count > 0 {
			m[name] = s
		}
	}
	return m, nil
}

// firstLike is the first terminal with the same function, place and number of
// values.
func (c *class) firstLike(terminal int) int {
	g := c.terminals[terminal].group
	for i := range c.terminals {
		if c.terminals[i].group == g {
			return i
		}
	}
	return terminal
}
