package codec

import "github.com/spoor-hpc/spoor/internal/file/logistic"

// A mixer predicts bits: several contexts have a probability each, and weights
// by how well they did lately make one of them. It is what internal/file/wire does
// for bytes, cut down for speed: a few contexts, whose slots for the decisions of
// one time lie together, and one input each. The last input is what the decision is
// mostly, whatever the context: most programs make too few calls to fill all slots.
type mixer struct {
	slots  []slot
	mask   uint32
	sets   [16][inputs]int32
	cur    [inputs]*slot
	inputs [inputs]int32
	nodes  [512]slot // by decision
}

// A slot is an adaptive probability of a one.
type slot struct {
	p uint16
	n uint16 // how often it was used, up to a limit
}

const (
	contexts    = 6
	line        = 16 // slots that lie together: decisions of one time
	inputs      = contexts + 1
	slotLimit   = 60
	firstWeight = 15000 // of 65536
	learning    = 24
)

func newMixer(values int) *mixer {
	bits := 12
	for bits < 18 && 1<<bits < 8*values {
		bits++
	}
	m := &mixer{slots: make([]slot, 1<<bits), mask: 1<<bits - 1}
	for i := range m.slots {
		m.slots[i].p = 1 << 15
	}
	for i := range m.nodes {
		m.nodes[i].p = 1 << 15
	}
	for i := range m.sets {
		for k := range m.sets[i] {
			m.sets[i][k] = firstWeight
		}
	}
	return m
}

// code codes one bit in the given contexts with a set of weights.
func (m *mixer) code(c *coder, hash *[contexts]uint32, node uint32, set uint32, bit uint32) uint32 {
	w := &m.sets[set&15]
	dot := int64(0)
	for i, h := range hash {
		if node >= line {
			h = (h ^ node/line*0x9e3779b1) * 0x85ebca6b
		}
		m.cur[i] = &m.slots[(h&^(line-1)|node&(line-1))&m.mask]
	}
	m.cur[contexts] = &m.nodes[node%uint32(len(m.nodes))]
	for i, s := range &m.cur {
		st := logistic.Stretch(s.p) * int32(confidence[s.n]) >> 4
		m.inputs[i] = st
		dot += int64(w[i]) * int64(st)
	}
	p := min(max(logistic.Squash(int32(max(min(dot>>16, logistic.Limit), -logistic.Limit))), 24), 65536-24)
	bit = c.code(bit, p)
	target := int32(bit<<16) - int32(bit)
	e := (target - p) * learning >> 10
	for k, x := range &m.inputs {
		w[k] += (x*e + 1<<9) >> 10
	}
	for _, s := range &m.cur {
		s.p = uint16(int32(s.p) + (target-int32(s.p))*rate[s.n]>>16)
		if s.n < slotLimit {
			s.n++
		}
	}
	return bit
}

var (
	rate       [slotLimit + 1]int32
	confidence [slotLimit + 1]uint8
)

func init() {
	for n := range rate {
		rate[n] = int32(65536 * 2 / (2*n + 3))
		confidence[n] = uint8(16 * (n + 1) / (n + 3))
	}
}
