package ops

// A Channel carries messages in order: the k-th one sent is the k-th one received.
type Channel struct {
	Comm     int // as handles.Comm.Channel
	From, To int // ranks of the world
	Tag      int64
}

// Channel returns that of a message.
func (o *Operation) Channel(from, to int) Channel { return Channel{o.Comm.Channel(), from, to, o.Tag} }

// number gives a message the number that it has at its other end: the n-th that is sent on a
// channel is the n-th that is received there, in the order in which receives were posted.
// A receive with a wildcard is numbered when it is known what it got.
func (p *process) number(op *Operation, from, to int, receiving bool) {
	if !p.s.o.Messages || op.Message != 0 {
		return
	}
	by := op.Channel(from, to)
	counts := &p.sent
	if receiving {
		counts = &p.got
	}
	op.Nth = counts.next(by)
	op.Message = by.Number(op.Nth)
}

// counts are how many messages there were on each channel.
type counts struct {
	all    map[Channel]*uint64
	recent [16]struct { // those that were asked for last, as looking them up takes long
		Channel
		n *uint64
	}
}

// next is the number of one more message on a channel, from 1.
func (x *counts) next(by Channel) uint64 {
	last := &x.recent[uint64(by.From^by.To^int(by.Tag))%uint64(len(x.recent))]
	if last.n == nil || last.Channel != by {
		n := x.all[by]
		if n == nil {
			n = new(uint64)
			x.all[by] = n
		}
		last.Channel, last.n = by, n
	}
	*last.n++
	return *last.n
}

// Number numbers the n-th message among those of all channels, so that two have the same number by a chance of the
// square of how many there are to 2⁶⁴.
func (c Channel) Number(n uint64) uint64 {
	h := uint64(0)
	for _, v := range [...]uint64{n, uint64(c.Comm), uint64(c.From), uint64(c.To), uint64(c.Tag)} {
		h ^= v
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
		h += 0x9e3779b97f4a7c15
	}
	return max(h, 1)
}
