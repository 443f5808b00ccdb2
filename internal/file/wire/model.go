// Logistic and Logit convert between probabilities and the logarithms of odds that
// coders weigh and add when they mix predictions. All is integers from tables, so
// that every machine predicts the same and can decode what another has coded.

package wire

import (
	"math/bits"
	"sync"
)

// A model predicts data bit by bit: each of several contexts (the last bytes, or the continuation of the last longer
// match) has a probability for the next bit, and a mixer weights them by past success. Small data, which dictionary
// coders hardly compress, takes a fifth less this way. It costs about a microsecond a byte.
//
// Everything is integers, so that all machines predict the same.
type model struct {
	slots []slot // slots of all contexts, by hash
	mask  uint32
	at    [contexts]uint32 // hashes of the contexts before the current byte
	cur   [contexts]uint32 // indices of the contexts' slots for the current bit
	seen  [contexts]slot   // contents of the slots in cur

	inputs [inputs]int32
	orders [contexts + 1][inputs]int32 // weights of the inputs, by number of contexts whose slot was used before
	runs   [buckets][inputs]int32      // weights of the inputs, by length of the match, see buckets
	order  int                         // index of the current weights in orders
	bucket int
	mixed  [2]int32 // predictions of the two sets of weights, as 16-bit probabilities
	p      int32    // prediction from both in mixed: probability of a 1 as the next bit, in 1/65536

	past    []byte
	partial uint32 // the bits of the current byte so far, after a leading 1

	matches []int32 // by hash of minMatch bytes: position in past after their last occurrence; 0: none
	ptr     int     // position in past of the byte that the match predicts; 0: no match
	length  int     // length of the match: number of bytes before ptr that equal the last ones
	hits    [buckets]slot
}

// A slot is the statistics of a context. Its low 16 bits are the probability that the next bit is 1, in 1/65536, xor
// half, so that ½ is 0. The other bits are the number of uses, at most slotLimit. An unused slot is 0.
type slot uint32

const half = 1 << 15

func (s slot) p() uint16 { return uint16(s) ^ half }

const (
	contexts = 7
	inputs   = 2*contexts + 2
	buckets  = 33 // groups of matches: 0 for no match, 1 + length for others, the last for all of 31 bytes and more
	minMatch = 6
	slotBits = 20

	slotLimit = 30
)

// spare are unused models. A model's memory is several hundred times as large as the data, and getting it from the
// kernel takes longer than clearing it. Therefore they are kept where the collector does not free them. From the
// start they have as many slots as most data need, as untouched pages cost nothing. Larger models are not kept.
var spare = make(chan *model, 3)

const spareSlots = 1 << 18

func newModel(size int) *model {
	n := bitsFor(size)
	var m *model
	select {
	case m = <-spare:
	default:
		m = &model{slots: make([]slot, max(spareSlots, 1<<n))}
	}
	*m = model{
		slots: zeroed(m.slots, 1<<n), mask: 1<<n - 1, partial: 1,
		matches: zeroed(m.matches, 1<<max(n-6, 8)), past: make([]byte, 0, size),
	}
	for i := range m.orders {
		fill(&m.orders[i])
	}
	for i := range m.runs {
		fill(&m.runs[i])
	}
	m.find()
	m.predict()
	return m
}

// bitsFor returns the binary logarithm of the number of slots for data of a size.
func bitsFor(size int) int {
	n := 12
	for n < slotBits && 1<<n < 16*contexts*size {
		n++
	}
	return n
}

// ahead are models prepared by PreparePrimedMixing, by the address of their known data.
var ahead sync.Map

// PreparePrimedMixing prepares CompressPrimedMixing or DecompressPrimedContextMixing for known data and data of a size. A process
// calls it when it has spare time.
func PreparePrimedMixing(known []byte, size int) { ahead.Store(&known[0], learned(known, size)) }

// learned returns a model trained on known, for data of this size.
func learned(known []byte, size int) *model {
	size += len(known)
	if len(known) > 0 {
		if v, ok := ahead.LoadAndDelete(&known[0]); ok && v.(*model).mask == 1<<bitsFor(size)-1 {
			return v.(*model)
		}
	}
	m := newModel(size)
	m.learn(known)
	return m
}

// done releases the model for reuse.
func (m *model) done() {
	if m.past = nil; cap(m.slots) > spareSlots {
		return
	}
	select {
	case spare <- m:
	default:
	}
}

// zeroed returns n zeros, in old if it is large enough. It writes to new memory, too: a page that is read first
// causes two page faults.
func zeroed[T any](old []T, n int) []T {
	if cap(old) < n {
		old = make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}

func fill(weights *[inputs]int32) {
	for i := range weights {
		weights[i] = firstWeight
	}
}

// firstWeight is the initial weight of each input, in 1/65536.
const firstWeight = 8000

// find looks up the contexts' slots for the next bit. As they are scattered in memory, it is called before other work,
// during which they arrive in the processor's cache.
func (m *model) find() {
	spread := m.partial * 0x9e3779b1 >> 3
	slots, mask := m.slots, m.mask
	for i := range m.cur {
		at := (m.at[i] + spread*uint32(2*i+1)) & mask
		m.cur[i], m.seen[i] = at, slots[at]
	}
}

// predict sets p to the prediction of the next bit.
func (m *model) predict() {
	in := &m.inputs
	order := 0 // number of contexts with statistics
	for i, s := range m.seen {
		p, n := s.p(), s>>16
		order += int(n+31) >> 5 // adds 1 if n > 0: n is at most slotLimit
		in[2*i] = Logit(p)
		// For an unused context this is 0.
		in[2*i+1] = (int32(p) - half) >> 5 * int32(min(n, 16)) >> 4
	}
	in[inputs-2], in[inputs-1] = 0, 0
	bucket := 0
	if expected, known := m.expected(); known {
		bucket = 1 + min(m.length, buckets-2)
		st := Logit(m.hits[bucket].p())
		if expected == 0 {
			st = -st
		}
		in[inputs-2] = st
		in[inputs-1] = (2*int32(expected) - 1) * int32(min(m.length, 32)) * 16
	}
	m.order, m.bucket = order, bucket
	a, b := &m.orders[order], &m.runs[bucket]
	dA := int32(max(min(dot(in, a)>>16, LogitLimit), -LogitLimit))
	dB := int32(max(min(dot(in, b)>>16, LogitLimit), -LogitLimit))
	m.mixed = [2]int32{Logistic(dA), Logistic(dB)}
	m.p = min(max(Logistic((dA+dB)>>1), 16), 65535-16)
}

// dot and train are unrolled: fixed addresses take half the instructions.
func dot(in, w *[inputs]int32) int64 {
	return int64(in[0])*int64(w[0]) + int64(in[1])*int64(w[1]) + int64(in[2])*int64(w[2]) + int64(in[3])*int64(w[3]) +
		int64(in[4])*int64(w[4]) + int64(in[5])*int64(w[5]) + int64(in[6])*int64(w[6]) + int64(in[7])*int64(w[7]) +
		int64(in[8])*int64(w[8]) + int64(in[9])*int64(w[9]) + int64(in[10])*int64(w[10]) + int64(in[11])*int64(w[11]) +
		int64(in[12])*int64(w[12]) + int64(in[13])*int64(w[13]) + int64(in[14])*int64(w[14]) + int64(in[15])*int64(w[15])
}

// train adds in·by/1024 to the weights w.
func train(in, w *[inputs]int32, by int32) {
	w[0], w[1], w[2], w[3] = w[0]+(in[0]*by+1<<9)>>10, w[1]+(in[1]*by+1<<9)>>10, w[2]+(in[2]*by+1<<9)>>10, w[3]+(in[3]*by+1<<9)>>10
	w[4], w[5], w[6], w[7] = w[4]+(in[4]*by+1<<9)>>10, w[5]+(in[5]*by+1<<9)>>10, w[6]+(in[6]*by+1<<9)>>10, w[7]+(in[7]*by+1<<9)>>10
	w[8], w[9], w[10], w[11] = w[8]+(in[8]*by+1<<9)>>10, w[9]+(in[9]*by+1<<9)>>10, w[10]+(in[10]*by+1<<9)>>10, w[11]+(in[11]*by+1<<9)>>10
	w[12], w[13], w[14], w[15] = w[12]+(in[12]*by+1<<9)>>10, w[13]+(in[13]*by+1<<9)>>10, w[14]+(in[14]*by+1<<9)>>10, w[15]+(in[15]*by+1<<9)>>10
}

// expected returns the next bit of the byte that followed the matching context; false if there is no match.
func (m *model) expected() (bit uint32, ok bool) {
	if m.ptr == 0 {
		return 0, false
	}
	b := uint32(m.past[m.ptr]) | 256
	have := bits.Len32(m.partial) - 1
	if b>>(8-have) != m.partial {
		return 0, false
	}
	return b >> (7 - have) & 1, true
}

// update trains the model with the actual bit.
func (m *model) update(bit uint32) {
	target := int32(bit<<16) - int32(bit)
	if m.bucket > 0 {
		hit := int32(0)
		if expected, _ := m.expected(); expected == bit {
			hit = 65535
		}
		m.hits[m.bucket].update(hit)
	}
	for _, at := range m.cur {
		m.slots[at].update(target)
	}
	m.partial = m.partial<<1 | bit
	if m.partial >= 256 {
		m.next(byte(m.partial))
		m.partial = 1
	}
	m.find() // prefetches while the weights are computed
	train(&m.inputs, &m.orders[m.order], (target-m.mixed[0])*learning>>10)
	train(&m.inputs, &m.runs[m.bucket], (target-m.mixed[1])*learning>>10)
	m.predict()
}

// learn trains the model with data that both sides know.
func (m *model) learn(data []byte) {
	for _, b := range data {
		for i := 7; i >= 0; i-- {
			m.update(uint32(b >> i & 1))
		}
	}
}

const learning = 50

// update moves the probability towards the target, 0 or 65535.
func (s *slot) update(target int32) {
	p, n := int32(s.p()), *s>>16
	p += (target - p) * rate[n&31] >> 16
	if n < slotLimit {
		n++
	}
	*s = n<<16 | slot(p^half)
}

// next updates the contexts after a whole byte.
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
		case 0: // the same context for all bytes
		case 5: // the byte before the last, for records of two bytes
			c = last & 0xff00
		case 6: // high bits, for magnitudes of numbers
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

var rate = func() (rate [32]int32) {
	for n := range slotLimit + 1 {
		rate[n] = int32(65536 * 4 / (4*n + 5))
	}
	return rate
}()

// LogitLimit is the limit of logits, which are in units of 1/256: larger values are cut.
const LogitLimit = 2047

// Logistic is 65536/(1+exp(-d/256)).
func Logistic(d int32) int32 {
	d = max(min(d, LogitLimit), -LogitLimit) + 2048
	i, w := d>>7, d&127
	return (table[i]*(128-w) + table[i+1]*w + 64) >> 7
}

// Logit is ln(p/(1-p)) of a probability p in 1/65536: the inverse of Logistic.
func Logit(p uint16) int32 { return int32(stretched[p>>4]) }

// table is 65536/(1+exp(-x)) at -8, -7.5, …, 8.
var table = [33]int32{
	22, 36, 60, 98, 162, 267, 440, 724, 1179, 1923, 3108, 4971, 7812, 11955, 17625, 24743, 32768,
	40793, 47911, 53581, 57724, 60565, 62428, 63613, 64357, 64812, 65096, 65269, 65374, 65438, 65476, 65500, 65514,
}

var stretched [4096]int16

func init() {
	at := 0
	for d := int32(-LogitLimit); d <= LogitLimit; d++ {
		for ; at <= int(Logistic(d)>>4) && at < len(stretched); at++ {
			stretched[at] = int16(d)
		}
	}
	for ; at < len(stretched); at++ {
		stretched[at] = LogitLimit
	}
}
