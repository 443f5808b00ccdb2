package series

import (
	"encoding/binary"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// This is a binary arithmetic coder of 32 bits, without carries. A probability is that of bit 1, in 1/65536. Bits
// without a prediction are stored separately, uncoded.

// A coder writes or reads bits and numbers. When it writes, methods code their arguments and return them. When it
// reads, methods ignore these arguments and return what was coded.
type coder struct {
	reading   bool
	low, high uint32

	out []byte // output when writing
	put wire.BitWriter

	in  []byte // input when reading
	x   uint32
	get wire.BitReader
}

func newWriter() *coder { return &coder{high: ^uint32(0)} }

func newReader(src []byte) (*coder, error) {
	r := wire.NewReader(src, "times")
	c := &coder{reading: true, high: ^uint32(0), in: r.Blob(), get: wire.BitReader{Input: r.Remaining()}}
	if err := r.Err(); err != nil {
		return nil, err
	}
	for range 4 {
		c.take()
	}
	return c, nil
}

// take shifts the next byte of the input into x; past the end of the input that is 0.
func (c *coder) take() {
	b := byte(0)
	if len(c.in) > 0 {
		b, c.in = c.in[0], c.in[1:]
	}
	c.x = c.x<<8 | uint32(b)
}

// code codes one bit that is 1 with probability p/65536.
func (c *coder) code(bit uint32, p int32) uint32 {
	mid := c.low + uint32(uint64(c.high-c.low)*uint64(p)>>16)
	if c.reading {
		bit = b2u(c.x <= mid)
	}
	if bit != 0 {
		c.high = mid
	} else {
		c.low = mid + 1
	}
	for (c.low^c.high)>>24 == 0 {
		if c.reading {
			c.take()
		} else {
			c.out = append(c.out, byte(c.high>>24))
		}
		c.low, c.high = c.low<<8, c.high<<8|255
	}
	return bit
}

// raw codes the low n bits of v without prediction. All higher bits of v must be 0.
func (c *coder) raw(v uint64, n uint) uint64 {
	if c.reading {
		return c.get.Get(n)
	}
	c.put.Put(v, n)
	return v
}

// finish appends all that was coded to dst.
//
//	size of the arithmetic code uvarint, arithmetic code, bits without prediction
func (c *coder) finish(dst []byte) []byte {
	// Readers assume zeros past the end. As low and high differ in this byte, one byte between them suffices.
	if c.low > 0 {
		c.out = append(c.out, byte(c.high>>24))
	}
	for len(c.out) > 0 && c.out[len(c.out)-1] == 0 {
		c.out = c.out[:len(c.out)-1]
	}
	dst = binary.AppendUvarint(dst, uint64(len(c.out)))
	return append(append(dst, c.out...), c.put.Finish()...)
}

func appendBlob(dst, data []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(data))), data...)
}

// zigzag maps numbers near 0 of either sign to small numbers without sign, unzigzag reverses it.
func zigzag(v int32) uint32   { return uint32(v)<<1 ^ uint32(v>>31) }
func unzigzag(v uint32) int32 { return int32(v>>1) ^ -int32(v&1) }

// A mixer predicts a bit in several contexts. Each context has a probability; weights that reflect recent success mix
// these into one.
//
// It is a faster variant of the mixer in internal/file/wire: it has few contexts with one input each, and the
// probabilities for one time are adjacent in memory. The last input is a probability that depends on no context: most
// programs make too few calls for all contexts to be learned.
type mixer struct {
	slots []slot
	sets  [16][inputs]int32
	nodes [512]slot // by number of the decision (argument node of code): probability without context
}

// A slot is the probability of a 1 in one context, adapted to the bits seen there.
type slot struct {
	p uint16
	n uint16 // number of bits seen, at most slotLimit
}

const (
	contexts    = 6
	line        = 16 // number of adjacent slots in a hash table that the decisions of one time share
	inputs      = contexts + 1
	slotLimit   = 60
	firstWeight = 15000 // initial weight of each input, in 1/65536
	learning    = 24
)

func newMixer(values int) *mixer {
	bits := 12
	for bits < 18 && 1<<bits < 8*values {
		bits++
	}
	m := &mixer{slots: make([]slot, 1<<bits)}
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

// code codes one bit. hash has the hash of each context, node is the number of the decision, and set selects one of
// the sets of weights.
func (m *mixer) code(c *coder, hash *[contexts]uint32, node uint32, set uint32, bit uint32) uint32 {
	w := &m.sets[set&15]
	var cur [inputs]*slot
	var in [inputs]int32
	far := node / line * 0x9e3779b1
	slots := m.slots
	dot := int64(0)
	for i, h := range hash {
		if far != 0 {
			h = (h ^ far) * 0x85ebca6b
		}
		s := &slots[(h&^(line-1)|node&(line-1))&uint32(len(slots)-1)]
		cur[i] = s
		in[i] = wire.Logit(s.p) * confidence[s.n&63] >> 4
		dot += int64(w[i]) * int64(in[i])
	}
	s := &m.nodes[node%uint32(len(m.nodes))]
	cur[contexts] = s
	in[contexts] = wire.Logit(s.p) * confidence[s.n&63] >> 4
	dot += int64(w[contexts]) * int64(in[contexts])
	p := min(max(wire.Logistic(int32(max(min(dot>>16, wire.LogitLimit), -wire.LogitLimit))), 24), 65536-24)
	bit = c.code(bit, p)
	target := int32(bit<<16) - int32(bit)
	e := (target - p) * learning >> 10
	for k, s := range &cur {
		w[k] += (in[k]*e + 1<<9) >> 10
		n := s.n & 63
		s.p = uint16(int32(s.p) + (target-int32(s.p))*rate[n]>>16)
		if n < slotLimit {
			s.n = n + 1
		}
	}
	return bit
}

var (
	rate       [64]int32 // by number of bits seen: how fast a slot adapts to a bit, and the weight of its probability
	confidence [64]int32
)

func init() {
	for n := range rate {
		rate[n] = int32(65536 * 2 / (2*n + 3))
		confidence[n] = int32(16 * (n + 1) / (n + 3))
	}
}
