package merge

import (
	"spoor/internal/timing"
	"spoor/internal/wire"
	"spoor/trace"
)

// pools tells for each terminal which one has its times in a message. A file
// has one summary for many terminals that differ in values only, so nothing is
// lost if they are put together on the way.
func (s *shape) pools() []int {
	members := make(map[skeleton]int)
	for _, k := range s.skeletons {
		members[k]++
	}
	first := make(map[skeleton]int)
	of := make([]int, len(s.skeletons))
	for i, k := range s.skeletons {
		of[i] = i
		if members[k] < trace.PoolFrom {
			continue
		}
		if _, ok := first[k]; !ok {
			first[k] = i
		}
		of[i] = first[k]
	}
	return of
}

func (c *class) appendTimes(b []byte) []byte {
	of := c.shape().pools()
	sums := make([]trace.Times, len(c.times))
	for i := range c.times {
		sums[of[i]].Duration.Merge(c.times[i].Duration)
		sums[of[i]].Gap.Merge(c.times[i].Gap)
	}
	for i := range sums {
		if of[i] == i {
			b = appendStat(b, sums[i].Duration)
			b = appendStat(b, sums[i].Gap)
		}
	}
	return b
}

func (c *class) decodeTimes(r *wire.Reader, sh shape) {
	c.times = make([]trace.Times, len(sh.skeletons))
	for i, p := range sh.pools() {
		if p == i {
			c.times[i] = trace.Times{Duration: decodeStat(r), Gap: decodeStat(r)}
		}
	}
}

func appendStat(b []byte, s timing.Stat) []byte {
	for _, v := range []uint64{s.Count, s.Sum, s.Min, s.Max} {
		b = wire.AppendUvarint(b, v)
	}
	return b
}

func decodeStat(r *wire.Reader) timing.Stat {
	return timing.Stat{Count: r.Uvarint(), Sum: r.Uvarint(), Min: r.Uvarint(), Max: r.Uvarint()}
}
