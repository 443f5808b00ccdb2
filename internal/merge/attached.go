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

// code is numbers of so many sites.
func (a *attachments) code(c *wire.Coder, sites int) {
	names := slices.Sorted(maps.Keys(*a))
	wire.List(c, &names, 1, func(_ int, name *string) {
		c.String(name)
		list := (*a)[*name]
		if c.R != nil {
			list = make([]model.ValueStat, sites)
		}
		for i := range list {
			if s := &list[i]; !c.Failed() {
				if wire.Uints(c, &s.Count); s.Count > 0 {
					wire.Integers(c, &s.Sum, &s.Min, &s.Max)
				}
			}
		}
		if c.R != nil && *a == nil {
			*a = make(attachments)
		}
		if c.R != nil {
			(*a)[*name] = list
		}
	})
}
