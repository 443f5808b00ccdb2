package wire

import "spoor/internal/logistic"

// A model predicts data bit by bit: each of several contexts (the last bytes,
// what followed the last time a longer context was the same) has a probability
// for the next bit, and a mixer weighs them by how well they did. Small data,
// of which dictionary coders make little, take a fifth less this way. It costs
// about a microsecond a byte.
//
// Everything is integers, so that all machines predict the same.
type model struct {
	slots  []slot // of all contexts, by hash
	mask   uint32
	at     [contexts]uint32 // hashes of the contexts before this byte
	cur    [contexts]*slot
	inputs [inputs]int32
	sets   [2][]int32 // weights, by partial byte and by length of the match
	chosen [2][]int32
	mixed  [2]int32 // what each set predicts, as a 16-bit probability
	p      int32    // the prediction

	past    []byte
	partial uint32 // the bits of this byte so far, behind a 1

	matches []int32 // by hash: where a context of minMatch bytes ended last
	ptr     int     // position of the predicted byte, 0 for none
	length  int     // how long the match is
	hits    [64]slot
}

// A slot is an adaptive probability of a one.
type slot struct {
	p uint16
	n uint8 // how often it was used, up to a limit
}

const (
	contexts = 7
	inputs   = 2*contexts + 2
	minMatch = 6
	slotBits = 20

	slotLimit = 30
)

func newModel(size int) *model {
	bits := 12
	for bits < slotBits && 1<<bits < 16*contexts*size {
		bits++
	}
	m := &model{
		slots: make([]slot, 1<<bits), mask: 1<<bits - 1, partial: 1,
		matches: make([]int32, 1<<max(bits-6, 8)), past: make([]byte, 0, size),
	}
	for i := range m.slots {
		m.slots[i].p = 1 << 15
	}
	for i := range m.hits {
		m.hits[i].p = 1 << 15
	}
	for i := range m.sets {
		m.sets[i] = make([]int32, 256*inputs)
		for k := range m.sets[i] {
			m.sets[i][k] = firstWeight
		}
	}
	m.predict()
	return m
}

// firstWeight is what a mixer gives each input at first, in 1/65536.
const firstWeight = 8000

// predict sets p from what is known before the next bit.
func (m *model) predict() {
	order := 0 // how many contexts have been seen
	for i := range m.cur {
		s := &m.slots[(m.at[i]+m.partial*0x9e3779b1>>3*uint32(2*i+1))&m.mask]
		m.cur[i] = s
		if s.n > 0 {
			order++
		}
		st := logistic.Stretch(s.p)
		m.inputs[2*i] = st
		// An untried context has nothing to say.
		m.inputs[2*i+1] = (int32(s.p) - 1<<15) >> 5 * int32(confidence[s.n]) >> 4
	}
	m.inputs[inputs-2], m.inputs[inputs-1] = 0, 0
	expected, known := m.expected()
	bucket := 0
	if known {
		bucket = 1 + min(m.length, 31)
		st := logistic.Stretch(m.hits[bucket].p)
		if expected == 0 {
			st = -st
		}
		m.inputs[inputs-2] = st
		m.inputs[inputs-1] = (2*int32(expected) - 1) * int32(min(m.length, 32)) * 16
	}
	m.chosen[0] = m.sets[0][order*inputs : (order+1)*inputs]
	m.chosen[1] = m.sets[1][bucket*inputs : (bucket+1)*inputs]
	sum := int32(0)
	for i, w := range m.chosen {
		dot := int64(0)
		for k, st := range m.inputs {
			dot += int64(w[k]) * int64(st)
		}
		d := int32(max(min(dot>>16, logistic.Limit), -logistic.Limit))
		m.mixed[i] = logistic.Squash(d)
		sum += d
	}
	m.p = min(max(logistic.Squash(sum>>1), 16), 65535-16)
}

// expected is the next bit of the byte that followed the matching context.
func (m *model) expected() (bit uint32, ok bool) {
	if m.ptr == 0 {
		return 0, false
	}
	b := uint32(m.past[m.ptr]) | 256
	have := 0
	for x := m.partial; x > 1; x >>= 1 {
		have++
	}
	if b>>(8-have) != m.partial {
		return 0, false
	}
	return b >> (7 - have) & 1, true
}

// update learns the bit that came.
func (m *model) update(bit uint32) {
	for i, w := range m.chosen {
		e := (int32(bit<<16) - int32(bit) - m.mixed[i]) * learning >> 10
		for k, st := range m.inputs {
			w[k] += (st*e + 1<<9) >> 10
		}
	}
	if expected, ok := m.expected(); ok {
		hit := uint32(0)
		if expected == bit {
			hit = 1
		}
		m.hits[1+min(m.length, 31)].update(hit)
	}
	for _, s := range m.cur {
		s.update(bit)
	}
	m.partial = m.partial<<1 | bit
	if m.partial >= 256 {
		m.next(byte(m.partial))
		m.partial = 1
	}
	m.predict()
}

const learning = 50

func (s *slot) update(bit uint32) {
	target := int32(bit<<16) - int32(bit)
	s.p = uint16(int32(s.p) + (target-int32(s.p))*rate[s.n]>>16)
	if s.n < slotLimit {
		s.n++
	}
}

// next takes a whole byte.
func (m *model) next(b byte) {
	m.past = append(m.past, b)
	n := len(m.past)
	last := uint64(0)
	for i := range min(n, 8) {
		last |= uint64(m.past[n-1-i]) << (8 * i)
	}
	for i := range m.at {
		var c uint64
		switch i {
		case 0: // no context
		case 5: // the byte before the last: records of two
			c = last & 0xff00
		case 6: // high bits: shapes of numbers
			c = last & 0xf0f0f0f0f0
		default:
			c = last & (1<<(8*i) - 1)
		}
		h := (c + uint64(i)<<56 + 1) * 0x9fb21c651e98df25
		m.at[i] = uint32(h >> 32)
	}
	if m.ptr > 0 && m.past[m.ptr] == b {
		m.ptr++
		m.length++
	} else {
		m.ptr, m.length = 0, 0
	}
	if n >= minMatch {
		h := (last & (1<<(8*minMatch) - 1) * 0x9fb21c651e98df25) >> 32 % uint64(len(m.matches))
		if m.ptr == 0 {
			m.ptr = int(m.matches[h])
			for m.ptr > m.length && m.length < 32 && m.past[m.ptr-1-m.length] == m.past[n-1-m.length] {
				m.length++
			}
			if m.length < minMatch {
				m.ptr, m.length = 0, 0
			}
		}
		m.matches[h] = int32(n)
	}
}

var (
	rate       [slotLimit + 1]int32
	confidence [slotLimit + 1]uint8
)

func init() {
	for n := range rate {
		rate[n] = int32(65536 * 4 / (4*n + 5))
		confidence[n] = uint8(min(n, 16))
	}
}
