package ops

// A channel is what messages don't overtake each other on.
type channel struct {
	comm     int
	from, to int // ranks of the world
	tag      int64
}

// number gives a message the number that it has at its other end: the n-th that is sent on a
// channel is the n-th that is received there, in the order in which receives were posted.
// A receive with a wildcard is numbered when it is known what it got.
func (p *process) number(op *Operation, from, to int, receiving bool) {
	if !p.s.o.Messages || op.Message != 0 {
		return
	}
	by := channel{op.Comm.Channel(), from, to, op.Tag}
	counts := &p.sent
	if receiving {
		counts = &p.got
	}
	op.Message = by.hash(counts.next(by))
}

// counts are how many messages there were on each channel.
type counts struct {
	all    map[channel]*uint64
	recent [16]struct { // those that were asked for last, as looking them up takes long
		channel
		n *uint64
	}
}

// next is the number of one more message on a channel, from 1.
func (x *counts) next(by channel) uint64 {
	last := &x.recent[uint64(by.from^by.to^int(by.tag))%uint64(len(x.recent))]
	if last.n == nil || last.channel != by {
		n := x.all[by]
		if n == nil {
			n = new(uint64)
			x.all[by] = n
		}
		last.channel, last.n = by, n
	}
	*last.n++
	return *last.n
}

// hash numbers messages of all channels, so that two have the same number by a chance of the
// square of how many there are to 2⁶⁴.
func (c channel) hash(n uint64) uint64 {
	h := uint64(0)
	for _, v := range [...]uint64{n, uint64(c.comm), uint64(c.from), uint64(c.to), uint64(c.tag)} {
		h ^= v
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
		h += 0x9e3779b97f4a7c15
	}
	return max(h, 1)
}
