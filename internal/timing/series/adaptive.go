package series

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"spoor/internal/wire"
)

// adaptive is lossless. The number of bits of a value and the few behind the first
// one are predicted, from the kind of the call and from the value of the kind
// before; the other bits of a time are noise, and stand as they are. An arithmetic
// coder turns predictions into bytes.
//
//	values = size of predicted uvarint, predicted, noise: bits, least significant first
//
// Measured against zstd in docs/time.md.
type adaptive struct{}

const (
	lengths   = 65  // of a number in bits: 0 to 64
	treeSize  = 128 // nodes of a tree over lengths
	leading   = 3   // bits behind the first that are predicted
	kindLimit = 512 // kinds with a model of their own; others share it
)

// A prob is the probability of a 1, of 1<<16.
type prob = uint16

// A model predicts values.
type model struct {
	kinds  []kindModel
	before []([treeSize]prob) // by length of the value before
	last   []uint8            // by kind: length of the value before
}

type kindModel struct {
	tree [treeSize]prob
	bits [lengths][1 << leading]prob
	used bool
}

func newModel(kinds Kinds) *model {
	n := uint32(0)
	for _, k := range kinds.Of {
		n = max(n, k%kindLimit+1)
	}
	m := &model{kinds: make([]kindModel, n), before: make([]([treeSize]prob), lengths), last: make([]uint8, n)}
	for i := range m.before {
		for k := range m.before[i] {
			m.before[i][k] = 1 << 15
		}
	}
	return m
}

func (m *model) of(kind uint32) (*kindModel, *[treeSize]prob, *uint8) {
	k := &m.kinds[kind%kindLimit]
	if !k.used {
		k.used = true
		for i := range k.tree {
			k.tree[i] = 1 << 15
		}
		for i := range k.bits {
			for j := range k.bits[i] {
				k.bits[i][j] = 1 << 15
			}
		}
	}
	last := &m.last[kind%kindLimit]
	return k, &m.before[*last], last
}

// learn moves a prediction towards what came.
func learn(p *prob, bit, rate int) {
	if bit == 1 {
		*p += (65535 - *p) >> rate
	} else {
		*p -= *p >> rate
	}
}

const (
	slow = 5
	fast = 4
)

func (adaptive) encode(dst []byte, values []uint64, kinds Kinds) []byte {
	m := newModel(kinds)
	e := encoder{high: 1<<32 - 1}
	var noise bitWriter
	for i, v := range values {
		k, before, last := m.of(kinds.Of[i])
		n := bits.Len64(v)
		node := 1
		for s := 6; s >= 0; s-- {
			bit := n >> s & 1
			e.bit(bit, int(k.tree[node])+int(before[node]))
			learn(&k.tree[node], bit, slow)
			learn(&before[node], bit, fast)
			node = node*2 + bit
		}
		*last = uint8(n)
		rest := n - 1
		node = 1
		for s := 0; s < leading && rest > 0; s++ {
			rest--
			bit := int(v >> rest & 1)
			e.bit(bit, 2*int(k.bits[n][node]))
			learn(&k.bits[n][node], bit, slow)
			node = node*2 + bit
		}
		if rest > 0 {
			noise.add(v&(1<<rest-1), rest)
		}
	}
	return append(wire.AppendBlob(dst, e.end()), noise.end()...)
}

var errShort = errors.New("data end too early")

func (adaptive) decode(data []byte, kinds Kinds) ([]uint64, error) {
	m := newModel(kinds)
	r := wire.NewReader(data, "values")
	d := newDecoder(r.Bytes(r.Int(r.Rest())))
	noise := bitReader{data: r.Remaining()}
	if r.Err() != nil {
		return nil, r.Err()
	}
	values := make([]uint64, len(kinds.Of))
	for i := range values {
		if d.over > 8 {
			return nil, errShort
		}
		k, before, last := m.of(kinds.Of[i])
		node := 1
		for range 7 {
			bit := d.bit(int(k.tree[node]) + int(before[node]))
			learn(&k.tree[node], bit, slow)
			learn(&before[node], bit, fast)
			node = node*2 + bit
		}
		n := node - treeSize
		if n >= lengths {
			return nil, errors.New("number of more than 64 bits")
		}
		*last = uint8(n)
		if n == 0 {
			continue
		}
		v, rest := uint64(1), n-1
		node = 1
		for s := 0; s < leading && rest > 0; s++ {
			rest--
			bit := d.bit(2 * int(k.bits[n][node]))
			learn(&k.bits[n][node], bit, slow)
			node = node*2 + bit
			v = v<<1 | uint64(bit)
		}
		values[i] = v<<rest | noise.take(rest)
	}
	if noise.short {
		return nil, errShort
	}
	return values, nil
}

// An encoder narrows an interval: the first bytes that both ends have are out.
type encoder struct {
	low, high uint32
	out       []byte
}

// middle divides the interval; p is the probability of a 1, of 1<<17.
func middle(low, high uint32, p int) uint32 {
	q := uint64(min(max(p>>1, 32), 65536-32))
	return low + uint32(uint64(high-low)*q>>16)
}

func (e *encoder) bit(bit, p int) {
	mid := middle(e.low, e.high, p)
	if bit == 1 {
		e.high = mid
	} else {
		e.low = mid + 1
	}
	for (e.low^e.high)>>24 == 0 {
		e.out = append(e.out, byte(e.high>>24))
		e.low, e.high = e.low<<8, e.high<<8|255
	}
}

// end writes what tells the interval from others.
func (e *encoder) end() []byte {
	for range 4 {
		e.out = append(e.out, byte(e.low>>24))
		e.low <<= 8
	}
	return e.out
}

type decoder struct {
	low, high, x uint32
	data         []byte
	over         int // bytes asked for behind the end
}

func newDecoder(data []byte) *decoder {
	d := &decoder{high: 1<<32 - 1, data: data}
	for range 4 {
		d.take()
	}
	return d
}

func (d *decoder) take() {
	b := byte(0)
	if len(d.data) > 0 {
		b, d.data = d.data[0], d.data[1:]
	} else {
		d.over++
	}
	d.x = d.x<<8 | uint32(b)
}

func (d *decoder) bit(p int) int {
	mid := middle(d.low, d.high, p)
	bit := 0
	if d.x <= mid {
		d.high, bit = mid, 1
	} else {
		d.low = mid + 1
	}
	for (d.low^d.high)>>24 == 0 {
		d.low, d.high = d.low<<8, d.high<<8|255
		d.take()
	}
	return bit
}

// A bitWriter packs numbers of up to 64 bits.
type bitWriter struct {
	out  []byte
	word uint64
	used int
}

func (w *bitWriter) add(v uint64, n int) {
	w.word |= v << w.used
	if w.used += n; w.used >= 64 {
		w.out = wire.AppendUint64(w.out, w.word)
		w.used -= 64
		w.word = v >> (n - w.used) // 0 if n == w.used == 64
	}
}

func (w *bitWriter) end() []byte {
	for ; w.used > 0; w.used -= 8 {
		w.out = append(w.out, byte(w.word))
		w.word >>= 8
	}
	return w.out
}

type bitReader struct {
	data  []byte
	word  uint64
	have  int
	short bool
}

func (r *bitReader) take(n int) uint64 {
	v, got := uint64(0), 0
	for got < n {
		if r.have == 0 {
			r.load()
		}
		k := min(n-got, r.have)
		v |= r.word & (1<<k - 1) << got
		r.word >>= k
		r.have -= k
		got += k
	}
	return v
}

func (r *bitReader) load() {
	if len(r.data) >= 8 {
		r.word, r.have, r.data = binary.LittleEndian.Uint64(r.data), 64, r.data[8:]
		return
	}
	r.word, r.have = 0, 8
	if len(r.data) == 0 {
		r.short = true
		return
	}
	r.word, r.data = uint64(r.data[0]), r.data[1:]
}
