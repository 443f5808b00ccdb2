package machine

import "math"

// A Change multiplies what messages and computing take. 1 leaves a time as it is.
type Change struct {
	Latency  float64 // what the smallest message takes, but for overheads; of rendezvous with its handshake
	Bytes    float64 // what the bytes of a message take beyond that
	Overhead float64 // of sends and receives
	Compute  float64 // what cores take
}

// With returns a machine that differs by a change. Factors are at least 0, and that of Compute more.
func (m *Machine) With(c Change) *Machine {
	x := *m
	x.CPU /= c.Compute
	x.Levels = make([]Level, len(m.Levels))
	for i := range m.Levels {
		x.Levels[i] = m.Levels[i].with(c)
	}
	x.Collectives = append([]Collective(nil), m.Collectives...)
	for i := range x.Collectives {
		x.Collectives[i].Times = x.Collectives[i].Times.with(0, c)
	}
	return &x
}

func (l Level) with(c Change) Level {
	overhead := l.SendOverhead + l.ReceiveOverhead
	l.Eager, l.Rendezvous = l.Eager.with(overhead, c), l.Rendezvous.with(overhead, c)
	l.SendOverhead, l.ReceiveOverhead, l.Gap = scaled(l.SendOverhead, c.Overhead), scaled(l.ReceiveOverhead, c.Overhead), scaled(l.Gap, c.Overhead)
	l.Sending, l.Receiving, l.Gaps = l.Sending.with(l.Sending.OneWay(0), c), l.Receiving.with(l.Receiving.OneWay(0), c), l.Gaps.with(l.Gaps.OneWay(0), c)
	return l
}

func (t Table) with(overhead int64, c Change) Table {
	least := t.OneWay(0)
	overhead = min(overhead, least)
	var out Table
	for _, r := range t {
		bytes := max(0, r.Time-least)
		out = append(out, Row{r.Bytes, scaled(overhead, c.Overhead) + scaled(least-overhead, c.Latency) + scaled(bytes, c.Bytes)})
	}
	return out
}

func scaled(time int64, factor float64) int64 {
	return int64(math.Round(min(longest, float64(time)*factor)))
}
