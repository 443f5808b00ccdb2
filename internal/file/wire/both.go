package wire

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// A Coder writes something or reads it, so that one description does for both. Its functions take pointers to what
// there is: writing leaves it alone, reading sets it.
type Coder struct {
	Reader *Reader // nil when writing
	B      []byte
}

// Append appends what code writes to b.
func Append(b []byte, code func(c *Coder)) []byte {
	c := Coder{B: b}
	code(&c)
	return c.B
}

// Read has code read all of b; what names the data in errors.
func Read(b []byte, what string, code func(c *Coder)) error {
	c := Coder{Reader: NewReader(b, what)}
	code(&c)
	return c.Reader.Done()
}

// ReadEach has code read all of b, one item after another.
func ReadEach(b []byte, what string, code func(c *Coder)) error {
	return Read(b, what, func(c *Coder) {
		for c.Reader.Rest() > 0 && !c.Failed() {
			code(c)
		}
	})
}

// A Number is what is written as a varint.
type Number interface {
	~int | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Failed reports whether what is read is damaged.
func (c *Coder) Failed() bool { return c.Reader != nil && c.Reader.err != nil }

// Refuse fails if what was read is not as it should be.
func (c *Coder) Refuse(is bool, format string, args ...any) {
	if is && c.Reader != nil {
		c.Reader.Fail(format, args...)
	}
}

// Check refuses what an error was found in.
func (c *Coder) Check(err error) {
	if c.Reader != nil {
		c.Reader.Check(err)
	}
}

// Bounded is a number from 0 to most.
func Bounded[T Number](c *Coder, v *T, most int) { Above(c, v, 0, most) }

// Above is a number from base to most above it.
func Above[T Number](c *Coder, v *T, base T, most int) {
	if c.Reader != nil {
		*v = base + T(c.Reader.Int(most))
	} else {
		c.B = AppendUvarint(c.B, uint64(*v-base))
	}
}

// Naturals are numbers that aren't negative.
func Naturals[T Number](c *Coder, list ...*T) { unsigned(c, math.MaxInt64, list) }

// Uints are numbers of 64 bits.
func Uints[T ~uint64](c *Coder, list ...*T) { unsigned(c, math.MaxUint64, list) }

// unsigned codes numbers. It reads only the bits in mask.
func unsigned[T Number](c *Coder, mask uint64, list []*T) {
	if c.Reader == nil {
		b := c.B
		for _, v := range list {
			b = AppendUvarint(b, uint64(*v))
		}
		c.B = b
		return
	}
	for _, v := range list {
		*v = T(c.Reader.Uvarint() & mask)
	}
}

// Index is a number below n.
func Index[T Number](c *Coder, v *T, n int) {
	c.Refuse(n <= 0, "index into nothing")
	Bounded(c, v, n-1)
}

// Integers are numbers of either sign.
func Integers[T ~int | ~int32 | ~int64](c *Coder, list ...*T) {
	if c.Reader == nil {
		b := c.B
		for _, v := range list {
			b = AppendVarint(b, int64(*v))
		}
		c.B = b
		return
	}
	for _, v := range list {
		*v = T(c.Reader.Varint())
	}
}

// Relative is a number by how far it is from another one.
func Relative[T ~int | ~int32 | ~int64](c *Coder, v *T, base T) {
	if c.Reader != nil {
		*v = base + T(c.Reader.Varint())
	} else {
		c.B = AppendVarint(c.B, int64(*v-base))
	}
}

// Byte is a byte.
func Byte[T ~uint8](c *Coder, v *T) {
	if c.Reader != nil {
		*v = T(c.Reader.Byte())
	} else {
		c.B = append(c.B, byte(*v))
	}
}

// Uint64 are eight bytes each.
func (c *Coder) Uint64(list ...*uint64) {
	if c.Reader == nil {
		b := c.B
		for _, v := range list {
			b = AppendUint64(b, *v)
		}
		c.B = b
		return
	}
	for _, v := range list {
		*v = c.Reader.Uint64()
	}
}

// Bool is a byte, 1 or 0.
func (c *Coder) Bool(v *bool) {
	n := 0
	if *v {
		n = 1
	}
	Bounded(c, &n, 1)
	*v = n == 1
}

// String is counted bytes.
func (c *Coder) String(v *string) {
	if c.Reader != nil {
		*v = c.Reader.String()
	} else {
		c.B = AppendString(c.B, *v)
	}
}

// Strings are counted texts.
func (c *Coder) Strings(lists ...*[]string) {
	for _, list := range lists {
		List(c, list, 1, func(_ int, s *string) { c.String(s) })
	}
}

// Blob is counted bytes; those read are the input's.
func (c *Coder) Blob(b *[]byte) {
	if c.Reader != nil {
		*b = c.Reader.Blob()
	} else {
		c.B = append(AppendUvarint(c.B, uint64(len(*b))), *b...)
	}
}

// Bytes is n bytes; those read are the input's.
func (c *Coder) Bytes(b *[]byte, n int) {
	if c.Reader != nil {
		*b = c.Reader.Bytes(n)
	} else {
		c.B = append(c.B, *b...)
	}
}

// Integers are counted numbers of either sign.
func (c *Coder) Integers(list *[]int64) {
	n := len(*list)
	if c.Count(&n, 1); c.Reader != nil {
		*list = make([]int64, n)
	}
	b := c.B
	for i, v := range *list {
		if c.Reader != nil {
			(*list)[i] = c.Reader.Varint()
		} else {
			b = AppendVarint(b, v)
		}
	}
	c.B = b
}

// Count codes how many items follow, each of at least size bytes.
func (c *Coder) Count(n *int, size int) {
	if c.Reader != nil {
		*n = c.Reader.Count(size)
	} else {
		c.B = AppendUvarint(c.B, uint64(*n))
	}
}

// List codes a counted list of items, each of at least size bytes.
func List[T any](c *Coder, list *[]T, size int, each func(i int, x *T)) {
	n := len(*list)
	if c.Count(&n, size); c.Reader != nil {
		if *list = nil; n > 0 {
			*list = make([]T, n)
		}
	}
	for i := range *list {
		if c.Failed() {
			return
		}
		each(i, &(*list)[i])
	}
}

// Map is counted pairs, in the order of their keys.
func Map[K cmp.Ordered, V any](c *Coder, m map[K]V, size int, pair func(k *K, v *V)) {
	keys := slices.Sorted(maps.Keys(m))
	List(c, &keys, size, func(i int, k *K) {
		v := m[*k]
		if pair(k, &v); c.Reader != nil {
			m[*k] = v
		}
		c.Refuse(i > 0 && keys[i-1] >= *k, "keys out of order")
	})
}
