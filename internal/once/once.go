// Package once finds what a map has under a key, which is made when the key first comes.
package once

// GetOrMake returns what a map has under a key; what it lacks is made.
func GetOrMake[K comparable, V any](m map[K]V, key K, made func() V) V {
	v, ok := m[key]
	if !ok {
		v = made()
		m[key] = v
	}
	return v
}

// NumberOf returns the number of a key, from 0 on in the order in which keys first come, and whether this is the first time.
func NumberOf[K comparable, N ~int | ~int32 | ~uint32 | ~int64 | ~uint64](m map[K]N, key K) (n N, first bool) {
	n, known := m[key]
	if !known {
		n = N(len(m))
		m[key] = n
	}
	return n, !known
}

// GetOrAppend is as Of, and appends to a list what it makes.
func GetOrAppend[K comparable, V any](m map[K]V, key K, list *[]V, made func() V) V {
	return GetOrMake(m, key, func() V {
		v := made()
		*list = append(*list, v)
		return v
	})
}
