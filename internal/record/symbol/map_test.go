package symbol

import (
	"testing"

	"pgregory.net/rapid"
)

// A Map does what Go's does.
func TestMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Map
		want := make(map[uint64]int64)
		// Few keys with equal low and high parts, so that they collide.
		key := rapid.Map(rapid.IntRange(0, 40), func(i int) uint64 { return uint64(i%8)<<60 | uint64(i/8) })
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k, v := key.Draw(t, "key"), rapid.Int64Range(1, 100).Draw(t, "value")
				m.Set(k, v)
				want[k] = v
			},
			"delete": func(t *rapid.T) {
				k := key.Draw(t, "key")
				if got := m.Delete(k); got != want[k] {
					t.Fatalf("deleted %d, want %d", got, want[k])
				}
				delete(want, k)
			},
			"": func(t *rapid.T) {
				if m.Len() != len(want) {
					t.Fatalf("%d keys, want %d", m.Len(), len(want))
				}
				for i := range 41 {
					k := uint64(i%8)<<60 | uint64(i/8)
					if got := m.Get(k); got != want[k] {
						t.Fatalf("key %#x has %d, want %d", k, got, want[k])
					}
				}
				n := 0
				m.Each(func(k uint64, v int64) {
					n++
					if want[k] != v {
						t.Fatalf("key %#x has %d, want %d", k, v, want[k])
					}
				})
				if n != len(want) {
					t.Fatalf("Each gave %d keys, want %d", n, len(want))
				}
			},
		})
	})
}

// A Pool hands out the lowest number that is free.
func TestPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p NumberPool
		taken := make(map[uint32]bool)
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				want := uint32(0)
				for taken[want] {
					want++
				}
				if got := p.Take(); got != want {
					t.Fatalf("took %d, want %d", got, want)
				}
				taken[want] = true
			},
			"give": func(t *rapid.T) {
				if len(taken) == 0 {
					t.Skip("nothing taken")
				}
				var list []uint32
				for v := range uint32(1000) {
					if taken[v] {
						list = append(list, v)
					}
				}
				v := rapid.SampledFrom(list).Draw(t, "number")
				p.Return(v)
				delete(taken, v)
			},
		})
	})
}
