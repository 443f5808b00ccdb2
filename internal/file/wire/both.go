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
	R *Reader // nil when writing
	B []byte
}

// A Number is what is written as a varint.
type Number interface {
	~int | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Failed reports whether what is read is damaged.
func (c *Coder) Failed() bool { return c.R != nil && c.R.err != nil }

// Refuse fails if what was read is not as it should be.
func (c *Coder) Refuse(is bool, format string, args ...any) {
	if is && c.R != nil {
		c.R.Fail(format, args...)
	}
}

// Check refuses what an error was found in.
func (c *Coder) Check(err error) {
	if c.R != nil {
		c.R.Check(err)
	}
}

// Int is a number from 0 to most.
func Int[T Number](c *Coder, v *T, most int) { Above(c, v, 0, most) }

// Above is a number from base to most above it.
func Above[T Number](c *Coder, v *T, base T, most int) {
	if c.R != nil {
		*v = base + T(c.R.Int(most))
	} else {
		c.B = AppendUvarint(c.B, uint64(*v-base))
	}
}

// Naturals are numbers that aren't negative.
func Naturals[T Number](c *Coder, list ...*T) {
	for _, v := range list {
		if c.R != nil {
			*v = T(c.R.Uvarint() & math.MaxInt64)
		} else {
			c.B = AppendUvarint(c.B, uint64(*v))
		}
	}
}

// Uints are numbers of 64 bits.
func Uints[T ~uint64](c *Coder, list ...*T) {
	for _, v := range list {
		if c.R != nil {
			*v = T(c.R.Uvarint())
		} else {
			c.B = AppendUvarint(c.B, uint64(*v))
		}
	}
}

// From is a number by how far it is from another one.
func From[T ~int | ~int64](c *Coder, v *T, base T) {
	if c.R != nil {
		*v = base + T(c.R.Varint())
	} else {
		c.B = AppendVarint(c.B, int64(*v-base))
	}
}

// Byte is a byte.
func Byte[T ~uint8](c *Coder, v *T) {
	if c.R != nil {
		*v = T(c.R.Byte())
	} else {
		c.B = append(c.B, byte(*v))
	}
}

// Uint64 is eight bytes.
func (c *Coder) Uint64(v *uint64) {
	if c.R != nil {
		*v = c.R.Uint64()
	} else {
		c.B = AppendUint64(c.B, *v)
	}
}

// Bool is a byte, 1 or 0.
func (c *Coder) Bool(v *bool) {
	n := 0
	if *v {
		n = 1
	}
	Int(c, &n, 1)
	*v = n == 1
}

// String is counted bytes.
func (c *Coder) String(v *string) {
	if c.R != nil {
		*v = c.R.String()
	} else {
		c.B = AppendString(c.B, *v)
	}
}

// Count is how many items follow, each of which takes at least size bytes.
func (c *Coder) Count(n *int, size int) {
	if c.R != nil {
		*n = c.R.Count(size)
	} else {
		c.B = AppendUvarint(c.B, uint64(*n))
	}
}

// List is counted items, each of which takes at least size bytes.
func List[T any](c *Coder, list *[]T, size int, each func(i int, x *T)) {
	n := len(*list)
	if c.Count(&n, size); c.R != nil && n > 0 {
		*list = make([]T, n)
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
		if pair(k, &v); c.R != nil {
			m[*k] = v
		}
		c.Refuse(i > 0 && keys[i-1] >= *k, "keys out of order")
	})
}
