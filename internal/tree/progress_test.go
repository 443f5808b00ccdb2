package tree

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// expanded lists the entries that a progress says.
func (p *tripCountPattern) expanded() (list []uint64) {
	for _, x := range p.list[:p.n] {
		for range x.times {
			for i := range x.entries {
				list = append(list, x.first+i*uint64(x.step))
			}
		}
	}
	return list
}

// cut makes a progress of entries in parts, and parts of parts.
func cut(t *rapid.T, list []uint64) (p tripCountPattern) {
	if len(list) == 0 {
		return p
	}
	if len(list) == 1 {
		p.add(entry(list[0]))
		return p
	}
	at := rapid.IntRange(1, len(list)-1).Draw(t, "at")
	p = cut(t, list[:at])
	p.join(cut(t, list[at:]))
	return p
}

// However entries are put together, they are said as they are, or not at all.
func TestProgressSaysEntries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Uint64Range(1, 4), 0, 12).Draw(t, "entries")
		p := cut(t, list)
		n := rapid.Uint64Range(1, 5).Draw(t, "times")
		p = p.repeated(n)
		if want := slices.Repeat(list, int(n)); !p.none && !slices.Equal(p.expanded(), want) {
			t.Fatalf("%v of %v, want %v", p.expanded(), p, want)
		}
	})
}

// The same progression again and again is found, however it is put together.
func TestProgressFindsSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.Int64Range(-5, 5).Draw(t, "step")
		entries := rapid.IntRange(3, 9).Draw(t, "entries")
		var list []uint64
		for i := range entries {
			list = append(list, uint64(100+int64(i)*step))
		}
		list = slices.Repeat(list, rapid.IntRange(1, 4).Draw(t, "times"))
		p := cut(t, list)
		p = p.repeated(rapid.Uint64Range(1, 1<<60).Draw(t, "again"))
		if got := p.step(); got != step {
			t.Fatalf("step %d of %v, want %d", got, list, step)
		}
	})
}
