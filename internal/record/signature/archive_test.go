package signature

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A signature that is packed is found again, with its times, however often it is called
// later; and so it is from a checkpoint.
func TestArchive(t *testing.T) {
	const signatures = 12 * blockKeys
	r := rand.New(rand.NewPCG(1, 2))
	keys, want := make([]Key, signatures), make([]Times, signatures)
	var table Table
	call := func(n int, duration, gap uint64) {
		if got := table.LookUpOrInsert(NoTerminal, keys[n]); got != uint32(n) {
			t.Fatalf("signature %d is number %d", n, got)
		}
		table.Times(uint32(n)).Add(duration, gap)
		want[n].Add(duration, gap)
	}
	for n := range keys {
		k := make(Key, KeyHeaderWords+1+r.IntN(30))
		k.SetHeader(uint16(n%500), uint64(r.IntN(3))<<60)
		k[KeyHeaderWords] = int64(n)
		for i := KeyHeaderWords + 1; i < len(k); i++ {
			if r.IntN(3) == 0 {
				k[i] = int64(r.Uint64())
			}
		}
		keys[n] = k
		long := uint64(0)
		if n == 2*blockKeys+7 {
			long = 1 << 40 // no number of 32 bits
		}
		call(n, uint64(n)+long, 3)
	}
	for range 40 {
		call(r.IntN(signatures), 1, 2)
	}
	for n := range 2 * maxSome { // too many of one block to be kept apart
		call(3*blockKeys+n, 5, 6)
	}
	check := func(table *Table) {
		t.Helper()
		for n, k := range keys {
			if got := table.Key(uint32(n)); !slices.Equal(got, k) {
				t.Fatalf("signature %d is %v, want %v", n, got, k)
			}
			if d, g := table.TimesOf(uint32(n)); d != want[n].Duration || g != want[n].Gap {
				t.Fatalf("signature %d took %v after %v, want %v", n, d, g, want[n])
			}
		}
	}
	check(&table)
	if size := table.HeldBytes() / signatures; size > 180 {
		t.Errorf("%d bytes a signature", size)
	}
	saved := wire.AppendEncoded(nil, func(c *wire.Coder) {
		table.CodeKeys(c, 0, nil)
		table.CodeTimes(c)
	})
	var again Table
	err := wire.DecodeAll(saved, "table", func(c *wire.Coder) {
		again.CodeKeys(c, 0, func(k Key) error {
			again.Insert(k)
			return nil
		})
		again.CodeTimes(c)
	})
	if err != nil || again.Len() != signatures {
		t.Fatalf("%d signatures were loaded: %v", again.Len(), err)
	}
	check(&again)
}
