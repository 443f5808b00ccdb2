// Package once returns the value of a map's key, and makes it if the key is new.
package once

// GetOrMake returns the value of a key. For a new key it calls made and stores the result.
func GetOrMake[K comparable, V any](m map[K]V, key K, made func() V) V {
	v, ok := m[key]
	if !ok {
		v = made()
		m[key] = v
	}
	return v
}

// NumberOf returns the number of a key, and whether the key is new. Numbers are from 0 in order of first occurrence.
func NumberOf[K comparable, N ~int | ~int32 | ~uint32 | ~int64 | ~uint64](m map[K]N, key K) (n N, first bool) {
	n, known := m[key]
	if !known {
		n = N(len(m))
		m[key] = n
	}
	return n, !known
}

// GetOrAppend is GetOrMake that also appends new values to a list.
func GetOrAppend[K comparable, V any](m map[K]V, key K, list *[]V, made func() V) V {
	return GetOrMake(m, key, func() V {
		v := made()
		*list = append(*list, v)
		return v
	})
}
