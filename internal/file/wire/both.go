package wire

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// A Coder either writes or reads, so that one function describes both directions. Its methods take pointers:
// writing leaves the values unchanged, reading sets them.
type Coder struct {
	Reader *Reader // nil: the Coder writes
	Buf    []byte
}

// AppendEncoded appends what code writes to b.
func AppendEncoded(b []byte, code func(c *Coder)) []byte {
	c := Coder{Buf: b}
	code(&c)
	return c.Buf
}

// DecodeAll runs code to read all of b; what names the data in errors.
func DecodeAll(b []byte, what string, code func(c *Coder)) error {
	c := Coder{Reader: NewReader(b, what)}
	code(&c)
	return c.Reader.Finish()
}

// DecodeEach runs code repeatedly to read all of b, one item each time.
func DecodeEach(b []byte, what string, code func(c *Coder)) error {
	return DecodeAll(b, what, func(c *Coder) {
		for c.Reader.RemainingLen() > 0 && !c.Failed() {
			code(c)
		}
	})
}

// A Number is an integer that is coded as a varint.
type Number interface {
	~int | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Failed reports whether reading has failed; false when writing.
func (c *Coder) Failed() bool { return c.Reader != nil && c.Reader.err != nil }

// RefuseIf makes reading fail if is is true.
func (c *Coder) RefuseIf(is bool, format string, args ...any) {
	if is && c.Reader != nil {
		c.Reader.Fail(format, args...)
	}
}

// RecordError makes reading fail with err, unless that is nil.
func (c *Coder) RecordError(err error) {
	if c.Reader != nil {
		c.Reader.RecordError(err)
	}
}

// CodeBounded codes a number from 0 to most.
func CodeBounded[T Number](c *Coder, v *T, most int) { CodeAbove(c, v, 0, most) }

// CodeAbove codes a number from base to base + most.
func CodeAbove[T Number](c *Coder, v *T, base T, most int) {
	if c.Reader != nil {
		*v = base + T(c.Reader.Int(most))
	} else {
		c.Buf = AppendUvarint(c.Buf, uint64(*v-base))
	}
}

// CodeNaturals codes non-negative numbers.
func CodeNaturals[T Number](c *Coder, list ...*T) { unsigned(c, math.MaxInt64, list) }

// CodeUints codes numbers of 64 bits.
func CodeUints[T ~uint64](c *Coder, list ...*T) { unsigned(c, math.MaxUint64, list) }

// unsigned codes numbers as uvarints. When reading, it clears the bits of a number that are not in mask.
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

// CodeIndex codes a number from 0 to n-1.
func CodeIndex[T Number](c *Coder, v *T, n int) {
	c.RefuseIf(n <= 0, "index into nothing")
	CodeBounded(c, v, n-1)
}

// CodeIntegers codes signed numbers.
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

// CodeRelative codes a number as its difference from base.
func CodeRelative[T ~int | ~int32 | ~int64](c *Coder, v *T, base T) {
	if c.Reader != nil {
		*v = base + T(c.Reader.Varint())
	} else {
		c.Buf = AppendVarint(c.Buf, int64(*v-base))
	}
}

// CodeByte codes a byte.
func CodeByte[T ~uint8](c *Coder, v *T) {
	if c.Reader != nil {
		*v = T(c.Reader.Byte())
	} else {
		c.Buf = append(c.Buf, byte(*v))
	}
}

// Uint64 codes eight bytes for each number.
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

// Bool codes a byte, 1 or 0.
func (c *Coder) Bool(v *bool) {
	n := 0
	if *v {
		n = 1
	}
	CodeBounded(c, &n, 1)
	*v = n == 1
}

// String codes a length and bytes.
func (c *Coder) String(v *string) {
	if c.Reader != nil {
		*v = c.Reader.String()
	} else {
		c.Buf = AppendString(c.Buf, *v)
	}
}

// Strings codes lists of strings, each with its length.
func (c *Coder) Strings(lists ...*[]string) {
	for _, list := range lists {
		CodeList(c, list, 1, func(_ int, s *string) { c.String(s) })
	}
}

// Blob codes a length and bytes; the result of reading aliases the input.
func (c *Coder) Blob(b *[]byte) {
	if c.Reader != nil {
		*b = c.Reader.Blob()
	} else {
		c.Buf = append(AppendUvarint(c.Buf, uint64(len(*b))), *b...)
	}
}

// Bytes codes n bytes; the result of reading aliases the input.
func (c *Coder) Bytes(b *[]byte, n int) {
	if c.Reader != nil {
		*b = c.Reader.Bytes(n)
	} else {
		c.Buf = append(c.Buf, *b...)
	}
}

// Integers codes the length of a list and its signed numbers.
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

// CodeMap codes the size of a map and its pairs, in the order of their keys.
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
