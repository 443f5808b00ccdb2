package series

import (
	"errors"
	"math/bits"

	"github.com/spoor-hpc/spoor/internal/once"
)

// PlaceCodec codes each time as its difference from the usual time at its place. A place is the key of the call and
// the key of the call before it, so that a loop's entry and its iterations are different places.
//
// Differences are in cells of levels, as wide as the bound allows. Each difference is a few binary decisions, which a
// mixer predicts in several contexts. These are the place, the group of the key, the scatter and the last times
// there, the time measured just before, and the last two differences. Another context is how unusual the times of the
// calls before were: what delays one call delays the next.
//
// If the bound is 0, the bits of a time that its cell does not determine follow as they are.
type PlaceCodec struct{}

// Name implements Codec.
func (PlaceCodec) Name() string { return "place" }

var errShort = errors.New("timing data cut short")

// Append implements Codec.
func (PlaceCodec) Append(dst []byte, b Batch, c *CallInfo) ([]byte, error) {
	want, err := b.lists(c)
	if err != nil {
		return nil, err
	}
	w := newWriter()
	placed(w, b, want, c)
	return w.finish(dst), nil
}

// Decode implements Codec.
func (PlaceCodec) Decode(src []byte, want TimeLists, c *CallInfo) (Batch, error) {
	if err := c.check(); err != nil {
		return Batch{}, err
	}
	r, err := newReader(src)
	if err != nil {
		return Batch{}, err
	}
	b := want.make(len(c.Keys))
	placed(r, b, want, c)
	if r.get.ReadPastEnd() {
		return Batch{}, errShort
	}
	return b, nil
}

// A usual is the typical time of calls with one key, or in one group of keys: its centre and scatter, in 1/256 of a
// cell.
type usual struct {
	centre, scatter int32
	// The centre, in whole cells, to which differences are coded; it follows centre in coarse steps, see update.
	at   int32
	last [2]int8
	seen uint16
}

// A placer is the state of coding one batch with PlaceCodec.
type placer struct {
	mix      *mixer
	surprise int32
	before   int32 // cell of the previous time
	// Differences of the last gap and of the last duration from their centres, in cells, limited to -7 … 7.
	off  [2]int32
	hash [contexts]uint32
}

// placed codes a batch. If c writes it takes times from b, else it puts them there.
func placed(c *coder, b Batch, want TimeLists, calls *CallInfo) {
	keys, first := dense(calls.Keys)
	groups, levels := groupsOf(calls, first)
	p := &placer{mix: newMixer(len(keys) * bits.OnesCount8(uint8(want)))}
	top := uint32(0)
	for _, g := range groups {
		top = max(top, g+1)
	}
	var lists [2]struct {
		values       []uint64
		keys, groups []usual
	}
	lists[0].values, lists[1].values = b.Gaps, b.Durations
	for i := range lists {
		lists[i].keys = make([]usual, len(first))
		lists[i].groups = make([]usual, top)
	}
	previous := uint32(0)
	for at, k := range keys {
		g := groups[k]
		l := levels[k]
		for i := range lists {
			list := &lists[i]
			if list.values == nil {
				continue
			}
			here, kind := &list.keys[k], &list.groups[g]
			p.contexts(here, kind, uint32(i), k, previous, g)
			level, rest := int32(0), uint64(0)
			if !c.reading {
				level, rest, _ = l.split(list.values[at])
			}
			level = p.distance(c, here.at, level, l.count())
			if width := l.open(level); width > 0 {
				rest = c.raw(rest, width)
			}
			if c.reading {
				list.values[at] = l.join(level, rest)
			}
			p.off[i] = min(max(level-here.at, -7), 7)
			p.learn(here, kind, level)
		}
		previous = k + 1
	}
}

// groupsOf numbers the combinations of key group and error bound by first use. It returns, by number of the key, the
// number of its combination and its levels.
func groupsOf(c *CallInfo, first []uint32) (groups []uint32, list []*levels) {
	type kind struct {
		group uint32
		bound Bound
	}
	numbers := map[kind]uint32{}
	byBound := map[Bound]*levels{}
	for _, k := range first {
		id := kind{bound: c.bound(k)}
		if c.KindOfKey != nil {
			id.group = c.KindOfKey[k]
		}
		n, _ := once.NumberOf(numbers, id)
		groups, list = append(groups, n), append(list, once.GetOrMake(byBound, id.bound, func() *levels { return levelsOf(id.bound) }))
	}
	return groups, list
}

// contexts computes the hashes of the contexts for coding the next time.
func (p *placer) contexts(here, kind *usual, list, key, previous, group uint32) {
	if here.seen == 0 {
		here.centre, here.scatter = kind.centre, kind.scatter+256
		here.at = (here.centre + 128) >> 8
		here.last = [2]int8{4, 4}
		if kind.seen == 0 {
			here.scatter = 16 << 8
		}
	}
	scale := log2(here.scatter)
	centre := uint32(here.at)
	p.hash = [contexts]uint32{
		mixed(1+list, scale>>1, uint32(here.last[0]+8)<<4|uint32(here.last[1]+8)),
		mixed(3+list, key<<16^previous, centre),
		mixed(5+list, key, centre<<12^uint32(p.before)),
		mixed(7+list, scale>>1, log2(p.surprise)),
		mixed(9+list, group, centre),
		mixed(11+list, scale>>1, uint32(p.off[list]+8)<<4|uint32(p.off[1-list]+8)),
	}
}

// log2 returns about 2·log₂(v) + 2, but v itself if that is less than 2.
func log2(v int32) uint32 {
	n := bits.Len32(uint32(v))
	if n < 2 {
		return uint32(n)
	}
	return uint32(2*n) | uint32(v)>>(n-2)&1
}

func mixed(a, b, c uint32) uint32 {
	h := (a*0x2c1b3c6d ^ b) * 0x297a2d39
	h = (h ^ h>>15 ^ c) * 0x9e3779b1
	return h ^ h>>13
}

// modelled is how many bits of a difference below its leading one are predicted; lower bits are stored as they are.
const modelled = 3

// distance codes a cell, level, as its difference from the cell centre. The returned cell is always below count, even
// if the input is damaged.
func (p *placer) distance(c *coder, centre, level, count int32) int32 {
	m, h := p.mix, &p.hash
	d := int64(level) - int64(centre)
	if m.code(c, h, 1, 1, b2u(d != 0)) == 0 {
		return min(max(centre, 0), count-1)
	}
	down := m.code(c, h, 2, 2, b2u(d < 0))
	a := uint64(max(d, -d))
	class := uint32(0)
	for {
		more := b2u(a>>(class+1) != 0)
		if m.code(c, h, 4+2*class+down, 3+class, more) == 0 || class == 31 {
			break
		}
		class++
	}
	size := uint64(1)
	for i := int(class) - 1; i >= 0; i-- {
		bit := uint32(a >> i & 1)
		if int(class)-1-i < modelled {
			bit = m.code(c, h, 128+(class<<4|uint32(size)&15)<<1+down, 15, bit)
			size = size<<1 | uint64(bit)
			continue
		}
		low := c.raw(a&(1<<(i+1)-1), uint(i+1))
		size = size<<(i+1) | low
		break
	}
	d = int64(size)
	if down != 0 {
		d = -d
	}
	return int32(min(max(int64(centre)+d, 0), int64(count-1)))
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// learn updates the estimates for the key and its group after the time's cell, level, was coded.
func (p *placer) learn(here, kind *usual, level int32) {
	off := level - here.at
	size := max(off, -off)
	// Surprise is the ratio of differences to the scatter, smoothed over the latest times, in 1/256.
	s := int32(min(int64(size)<<16/int64(here.scatter+128), 1<<14))
	p.surprise += (s - p.surprise) >> 2
	p.before = level
	here.last[1], here.last[0] = here.last[0], int8(min(max(off, -3), 3))
	here.update(level)
	kind.update(level)
}

// update adapts centre and scatter to a time in cell level. With more times seen each has less influence, down to a
// limit.
func (u *usual) update(level int32) {
	const far = 1 << 21 // in cells: longer times move the centre as if they were this long
	v := min(level, far) << 8
	if u.seen == 0 {
		u.centre, u.scatter, u.at = v, 2<<8, min(level, far)
		u.seen = 1
		return
	}
	if u.seen < 63 {
		u.seen++
	}
	n := int32(u.seen)
	u.centre += (v - u.centre) / n
	off := v - u.centre
	u.scatter += (max(off, -off) - u.scatter) / min(n, 16)
	// The contexts of differences learned for one centre are of less use after it moved, so small changes are ignored.
	if d := u.centre - u.at<<8; d > 180 || d < -180 {
		u.at = (u.centre + 128) >> 8
	}
}

// LosslessCodec is PlaceCodec with an error bound of 0, whatever CallInfo says.
type LosslessCodec struct{}

// Name implements Codec.
func (LosslessCodec) Name() string { return "lossless" }

// Append implements Codec.
func (LosslessCodec) Append(dst []byte, b Batch, c *CallInfo) ([]byte, error) {
	return PlaceCodec{}.Append(dst, b, &CallInfo{Keys: c.Keys, KindOfKey: c.KindOfKey})
}

// Decode implements Codec.
func (LosslessCodec) Decode(src []byte, want TimeLists, c *CallInfo) (Batch, error) {
	return PlaceCodec{}.Decode(src, want, &CallInfo{Keys: c.Keys, KindOfKey: c.KindOfKey})
}
