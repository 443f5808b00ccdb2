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
	Buf    []byte
}

// AppendCoded appends what code writes to b.
func AppendCoded(b []byte, code func(c *Coder)) []byte {
	c := Coder{Buf: b}
	code(&c)
	return c.Buf
}

// DecodeAll has code read all of b; what names the data in errors.
func DecodeAll(b []byte, what string, code func(c *Coder)) error {
	c := Coder{Reader: NewReader(b, what)}
	code(&c)
	return c.Reader.Finish()
}

// DecodeEach has code read all of b, one item after another.
func DecodeEach(b []byte, what string, code func(c *Coder)) error {
	return DecodeAll(b, what, func(c *Coder) {
		for c.Reader.RemainingLen() > 0 && !c.Failed() {
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

// RefuseIf fails if what was read is not as it should be.
func (c *Coder) RefuseIf(is bool, format string, args ...any) {
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

// CodeBounded is a number from 0 to most.
func CodeBounded[T Number](c *Coder, v *T, most int) { CodeAbove(c, v, 0, most) }

// CodeAbove is a number from base to most above it.
func CodeAbove[T Number](c *Coder, v *T, base T, most int) {
	if c.Reader != nil {
		*v = base + T(c.Reader.Int(most))
	} else {
		c.Buf = AppendUvarint(c.Buf, uint64(*v-base))
	}
}

// CodeNaturals are numbers that aren't negative.
func CodeNaturals[T Number](c *Coder, list ...*T) { unsigned(c, math.MaxInt64, list) }

// CodeUints are numbers of 64 bits.
func CodeUints[T ~uint64](c *Coder, list ...*T) { unsigned(c, math.MaxUint64, list) }

// unsigned codes numbers. It reads only the bits in mask.
func unsigned[T Number](c *Coder, mask uint64, list []*T) {
	if c.Reader == nil {
		b := c.Buf
		for _, v := range list {
			b = AppendUvarint(b, uint64(*v))
		}
		c.Buf = b
		return
	}
	for _, v := range list {
		*v = T(c.Reader.Uvarint() & mask)
	}
}

// CodeIndex is a number below n.
func CodeIndex[T Number](c *Coder, v *T, n int) {
	c.RefuseIf(n <= 0, "index into nothing")
	CodeBounded(c, v, n-1)
}

// CodeIntegers are numbers of either sign.
func CodeIntegers[T ~int | ~int32 | ~int64](c *Coder, list ...*T) {
	if c.Reader == nil {
		b := c.Buf
		for _, v := range list {
			b = AppendVarint(b, int64(*v))
		}
		c.Buf = b
		return
	}
	for _, v := range list {
		*v = T(c.Reader.Varint())
	}
}

// CodeRelative is a number by how far it is from another one.
func CodeRelative[T ~int | ~int32 | ~int64](c *Coder, v *T, base T) {
	if c.Reader != nil {
		*v = base + T(c.Reader.Varint())
	} else {
		c.Buf = AppendVarint(c.Buf, int64(*v-base))
	}
}

// CodeByte is a byte.
func CodeByte[T ~uint8](c *Coder, v *T) {
	if c.Reader != nil {
		*v = T(c.Reader.Byte())
	} else {
		c.Buf = append(c.Buf, byte(*v))
	}
}

// Uint64 are eight bytes each.
func (c *Coder) Uint64(list ...*uint64) {
	if c.Reader == nil {
		b := c.Buf
		for _, v := range list {
			b = AppendUint64(b, *v)
		}
		c.Buf = b
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
	CodeBounded(c, &n, 1)
	*v = n == 1
}

// String is counted bytes.
func (c *Coder) String(v *string) {
	if c.Reader != nil {
		*v = c.Reader.String()
	} else {
		c.Buf = AppendString(c.Buf, *v)
	}
}

// Strings are counted texts.
func (c *Coder) Strings(lists ...*[]string) {
	for _, list := range lists {
		CodeList(c, list, 1, func(_ int, s *string) { c.String(s) })
	}
}

// Blob is counted bytes; those read are the input's.
func (c *Coder) Blob(b *[]byte) {
	if c.Reader != nil {
		*b = c.Reader.Blob()
	} else {
		c.Buf = append(AppendUvarint(c.Buf, uint64(len(*b))), *b...)
	}
}

// Bytes is n bytes; those read are the input's.
func (c *Coder) Bytes(b *[]byte, n int) {
	if c.Reader != nil {
		*b = c.Reader.Bytes(n)
	} else {
		c.Buf = append(c.Buf, *b...)
	}
}

// Integers are counted numbers of either sign.
func (c *Coder) Integers(list *[]int64) {
	n := len(*list)
	if c.Count(&n, 1); c.Reader != nil {
		*list = make([]int64, n)
	}
	b := c.Buf
	for i, v := range *list {
		if c.Reader != nil {
			(*list)[i] = c.Reader.Varint()
		} else {
			b = AppendVarint(b, v)
		}
	}
	c.Buf = b
}

// Count codes how many items follow, each of at least size bytes.
func (c *Coder) Count(n *int, size int) {
	if c.Reader != nil {
		*n = c.Reader.Count(size)
	} else {
		c.Buf = AppendUvarint(c.Buf, uint64(*n))
	}
}

// CodeList codes a counted list of items, each of at least size bytes.
func CodeList[T any](c *Coder, list *[]T, size int, each func(i int, x *T)) {
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

// CodeMap is counted pairs, in the order of their keys.
func CodeMap[K cmp.Ordered, V any](c *Coder, m map[K]V, size int, pair func(k *K, v *V)) {
	keys := slices.Sorted(maps.Keys(m))
	CodeList(c, &keys, size, func(i int, k *K) {
		v := m[*k]
		if pair(k, &v); c.Reader != nil {
			m[*k] = v
		}
		c.RefuseIf(i > 0 && keys[i-1] >= *k, "keys out of order")
	})
}
