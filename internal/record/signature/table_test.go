package signature

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"pgregory.net/rapid"
)

func key(call uint16, site uint64, vals ...int64) Key {
	k := make(Key, KeyHeaderWords)
	k.SetHeader(call, site)
	return append(k, vals...)
}

// Equal keys have equal numbers, in order of first appearance, whatever the
// table guesses.
func TestNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table Table
		var seen []Key
		prev := NoTerminal
		for range rapid.IntRange(0, 300).Draw(t, "calls") {
			vals := rapid.SliceOfN(rapid.Int64Range(0, 3), 0, 3).Draw(t, "values")
			k := key(uint16(rapid.IntRange(1, 3).Draw(t, "call")), uint64(rapid.IntRange(0, 1).Draw(t, "site")), vals...)
			want := len(seen)
			for i, s := range seen {
				if EqualKeys(s, k) {
					want = i
				}
			}
			if want == len(seen) {
				seen = append(seen, append(Key(nil), k...))
			}
			if prev = table.LookUpOrInsert(prev, k); int(prev) != want {
				t.Fatalf("number %d, want %d", prev, want)
			}
			if !EqualKeys(table.Key(prev), k) {
				t.Fatalf("key %v, want %v", table.Key(prev), k)
			}
		}
		if table.Len() != len(seen) {
			t.Fatalf("%d signatures, want %d", table.Len(), len(seen))
		}
	})
}

// In a loop the guess is right from the second lap on.
func TestGuess(t *testing.T) {
	var table Table
	prev := NoTerminal
	for lap := range 3 {
		for i := range int64(5) {
			k := key(1, 2, i)
			if g := table.GuessNext(prev); lap == 2 && (g == NoTerminal || !EqualKeys(table.Key(g), k)) {
				t.Errorf("lap %d: guess %d before %d", lap, g, i)
			}
			prev = table.LookUpOrInsert(prev, k)
		}
	}
}

// A table that is saved whole, or in two parts, is the same when it is loaded.
func TestSave(t *testing.T) {
	var table, whole, parts Table
	var first, second, all wire.Coder
	for i := range int64(40) {
		if i == 25 {
			table.CodeKeys(&first, 0, nil)
		}
		table.Times(table.LookUpOrInsert(NoTerminal, key(3, uint64(i%4), i))).Add(uint64(i), uint64(2*i))
	}
	table.CodeKeys(&second, 25, nil)
	table.CodeKeys(&all, 0, nil)
	table.CodeTimes(&all)
	insert := func(t *Table) func(Key) error {
		return func(k Key) error {
			t.Insert(k)
			return nil
		}
	}
	err := wire.DecodeAll(all.Buf, "table", func(c *wire.Coder) {
		whole.CodeKeys(c, 0, insert(&whole))
		whole.CodeTimes(c)
	})
	if err != nil {
		t.Fatal(err)
	}
	twoParts := func(c *wire.Coder) {
		parts.CodeKeys(c, 0, insert(&parts))
		parts.CodeKeys(c, 25, insert(&parts))
	}
	if err := wire.DecodeAll(append(first.Buf, second.Buf...), "table", twoParts); err != nil {
		t.Fatal(err)
	}
	for n := range uint32(40) {
		if !EqualKeys(whole.Key(n), table.Key(n)) || !EqualKeys(parts.Key(n), table.Key(n)) {
			t.Errorf("signature %d: %v and %v, want %v", n, whole.Key(n), parts.Key(n), table.Key(n))
		}
		if *whole.Times(n) != *table.Times(n) {
			t.Errorf("times %d: %v, want %v", n, *whole.Times(n), *table.Times(n))
		}
	}
	parts = Table{}
	if wire.DecodeAll(append(first.Buf, first.Buf...), "table", twoParts) == nil {
		t.Error("a signature came twice and there was no error")
	}
}
