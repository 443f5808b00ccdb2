package signature

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/spoor-hpc/spoor/trace/model"
)

// A program without repetition has a million signatures, each called once. Therefore all but the latest are packed
// in blocks. A key is stored as the difference to the first key in its block with the same call, site and length.
// The times of a single call are two numbers.

const (
	blockKeys = 1 << 12
	recent    = 2 * blockKeys // number of the latest signatures that are never packed
	maxBases  = 254
	noBase    = 255
)

// A keyBlock is consecutive signatures, packed.
type keyBlock struct {
	bases []Key
	at    []uint32 // index in keys at which each key begins
	// keys has for each key a byte: the index of a key in bases, or noBase. With a base follow a bit for each word,
	// set if it differs from the base's, and then the differences. Without a base follow the number of words and the
	// words. Numbers after the byte are varints.
	keys []byte

	called bool             // if once is not nil: each signature has exactly one call; false: each has no call
	once   [][2]uint32      // duration and gap of each signature's only call; nil: all times are in times
	some   map[int32]*Times // by index in the block: times, in place of those in once, of signatures called again
	times  []Times
}

// maxSome is the largest number of signatures in keyBlock.some. If there are more, all times go into keyBlock.times.
const maxSome = blockKeys / 16

// archive packs the blockKeys oldest signatures that are not packed yet.
func (t *Table) archive() {
	b := &keyBlock{at: make([]uint32, blockKeys)}
	type kind struct {
		head, site int64
		words      int
	}
	bases := make(map[kind]byte)
	for i := range b.at {
		k := Key(t.keys[t.start[i]:t.start[i+1]])
		b.at[i] = uint32(len(b.keys))
		of := kind{k[0], k[1], len(k)}
		base, ok := bases[of]
		if !ok {
			base = noBase
			if len(b.bases) < maxBases {
				base = byte(len(b.bases))
				b.bases = append(b.bases, append(Key(nil), k...))
			}
			bases[of] = base
		}
		b.append(base, k)
	}
	b.keys = append([]byte(nil), b.keys...)
	b.setTimes(t.times[:blockKeys])
	t.blocks = append(t.blocks, b)
	t.first += blockKeys
	gone := t.start[blockKeys]
	t.keys = t.keys[:copy(t.keys, t.keys[gone:])]
	t.start = t.start[:copy(t.start, t.start[blockKeys:])]
	for i := range t.start {
		t.start[i] -= gone
	}
	t.times = t.times[:copy(t.times, t.times[blockKeys:])]
}

func (b *keyBlock) append(base byte, k Key) {
	b.keys = append(b.keys, base)
	if base == noBase {
		b.keys = binary.AppendUvarint(b.keys, uint64(len(k)))
		for _, v := range k {
			b.keys = binary.AppendVarint(b.keys, v)
		}
		return
	}
	of, mask := b.bases[base], len(b.keys)
	for range (len(k) + 7) / 8 {
		b.keys = append(b.keys, 0)
	}
	for i, v := range k {
		if v != of[i] {
			b.keys[mask+i/8] |= 1 << (i % 8)
			b.keys = binary.AppendVarint(b.keys, int64(uint64(v)-uint64(of[i])))
		}
	}
}

// key appends the i-th key of the block to k.
func (b *keyBlock) key(k Key, i uint32) Key {
	at := b.keys[b.at[i]:]
	base := at[0]
	at = at[1:]
	next := func() int64 {
		v, n := binary.Varint(at)
		at = at[n:]
		return v
	}
	if base == noBase {
		words, n := binary.Uvarint(at)
		at = at[n:]
		for range words {
			k = append(k, next())
		}
		return k
	}
	of := b.bases[base]
	mask := at[:(len(of)+7)/8]
	at = at[len(mask):]
	for i, v := range of {
		if mask[i/8]>>(i%8)&1 != 0 {
			v = int64(uint64(v) + uint64(next()))
		}
		k = append(k, v)
	}
	return k
}

// setTimes takes over the times of the block's signatures. It packs them if each signature has one call, or each has
// none, and the times fit into 32 bits.
func (b *keyBlock) setTimes(list []Times) {
	b.called = list[0].Duration.Count == 1
	count := list[0].Duration.Count
	for i := range list {
		t := &list[i]
		if t.Duration.Count != count || t.Gap.Count != count || count > 1 || t.Duration.Sum > math.MaxUint32 || t.Gap.Sum > math.MaxUint32 {
			b.times = append([]Times(nil), list...)
			return
		}
	}
	b.once = make([][2]uint32, len(list))
	for i := range list {
		b.once[i] = [2]uint32{uint32(list[i].Duration.Sum), uint32(list[i].Gap.Sum)}
	}
}

// timesOf returns the times of the i-th signature.
func (b *keyBlock) timesOf(i uint32) Times {
	if b.times != nil {
		return b.times[i]
	}
	if t := b.some[int32(i)]; t != nil {
		return *t
	}
	var t Times
	if b.called {
		t.Add(uint64(b.once[i][0]), uint64(b.once[i][1]))
	}
	return t
}

// change returns the times of the i-th signature for modification.
func (b *keyBlock) change(i uint32) *Times {
	if b.times != nil {
		return &b.times[i]
	}
	if t := b.some[int32(i)]; t != nil {
		return t
	}
	if len(b.some) == maxSome {
		times := make([]Times, len(b.once))
		for n := range times {
			times[n] = b.timesOf(uint32(n))
		}
		b.times, b.once, b.some = times, nil, nil
		return &b.times[i]
	}
	if b.some == nil {
		b.some = make(map[int32]*Times)
	}
	t := b.timesOf(i)
	b.some[int32(i)] = &t
	return &t
}

func (b *keyBlock) size() int {
	n := 4*len(b.at) + cap(b.keys) + 8*len(b.once) + cap(b.times)*int(unsafe.Sizeof(Times{})) + len(b.some)*200
	for _, k := range b.bases {
		n += 24 + 8*len(k)
	}
	return n
}

// TimesOf returns the summaries of durations and gaps of signature number n. Times returns them for modification.
func (t *Table) TimesOf(n uint32) (duration, gap model.Stat) {
	var x Times
	if n >= t.first {
		x = t.times[n-t.first]
	} else {
		x = t.blocks[n/blockKeys].timesOf(n % blockKeys)
	}
	return x.Duration, x.Gap
}
