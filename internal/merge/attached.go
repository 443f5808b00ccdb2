package merge

import (
	"errors"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace/model"
)

var errAttached = errors.New("signatures and attached values differ in number")

// attachments are what plugins and counters attached to the calls of each
// skeleton, by name. Like totals they stay what they are when classes are refined.
type attachments map[string][]model.ValueStat

func (a attachments) merge(o attachments) attachments {
	for name, list := range o {
		mine := a[name]
		if mine == nil {
			if a == nil {
				a = make(attachments)
			}
			a[name] = slices.Clone(list)
			continue
		}
		for i := range list {
			mine[i].Merge(list[i])
		}
	}
	return a
}

// leafAttached takes over what a single rank's track says.
func (c *class) leafAttached(tr *track.Track) error {
	if len(tr.Values) == 0 {
		return nil
	}
	of, n := c.shape().sites()
	c.attached = make(attachments, len(tr.Values))
	for name, list := range tr.Values {
		if len(list) != len(of) {
			return errAttached
		}
		sums := make([]model.ValueStat, n)
		for i, s := range list {
			sums[of[i]].Merge(s)
		}
		c.attached[name] = sums
	}
	return nil
}

// inFile gives the first terminal of each skeleton what the skeleton has.
func (a attachments) inFile(sh *shape) map[string][]model.ValueStat {
	if len(a) == 0 {
		return nil
	}
	of, _ := sh.sites()
	m := make(map[string][]model.ValueStat, len(a))
	for name, list := range a {
		out := make([]model.ValueStat, len(of))
		next := 0
		for i, n := range of {
			if n == next {
				out[i] = list[n]
				next++
			}
		}
		m[name] = out
	}
	return m
}

func (c *class) appendAttached(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(c.attached)))
	for _, name := range slices.Sorted(maps.Keys(c.attached)) {
		b = wire.AppendString(b, name)
		for _, s := range c.attached[name] {
			b = wire.AppendUvarint(b, s.Count)
			for _, v := range []int64{s.Sum, s.Min, s.Max} {
				if s.Count > 0 {
					b = wire.AppendVarint(b, v)
				}
			}
		}
	}
	return b
}

func (c *class) decodeAttached(r *wire.Reader, sh *shape) {
	_, n := sh.sites()
	for range r.Count(1) {
		name := r.String()
		list := make([]model.ValueStat, n)
		for i := range list {
			if list[i].Count = r.Uvarint(); list[i].Count > 0 {
				list[i].Sum, list[i].Min, list[i].Max = r.Varint(), r.Varint(), r.Varint()
			}
		}
		if r.Err() != nil {
			return
		}
		if c.attached == nil {
			c.attached = make(attachments)
		}
		c.attached[name] = list
	}
}
