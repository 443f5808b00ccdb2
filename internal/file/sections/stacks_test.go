package sections

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// stacksOf makes a table of places 1 to n and of stacks, each a place and the number of the site around it.
func stacksOf(n int, stacks []stacked) *siteTable {
	t := &siteTable{places: []model.Site{{}}, number: map[uint64]int{}, named: map[uint64]bool{}, stacks: stacks}
	for i := range n {
		t.places = append(t.places, model.Site{Module: "/bin/a", Offset: uint64(i + 1)})
	}
	return t
}

func checkStacks(t interface{ Fatalf(string, ...any) }, table *siteTable) (bytes int) {
	b := table.append(nil)
	r := wire.NewReader(b, "sites")
	got := DecodeSites(r)
	if err := r.Finish(); err != nil {
		t.Fatalf("%v", err)
	}
	if len(got.List) != len(table.places)+len(table.stacks) {
		t.Fatalf("%d sites", len(got.List))
	}
	for i, s := range table.stacks {
		if n := len(table.places) + i; got.InnermostFrameOf[n] != s.place || got.CallerOf[n] != s.outer {
			t.Fatalf("site %d is %d in %d, want %v", n, got.InnermostFrameOf[n], got.CallerOf[n], s)
		}
	}
	return len(b)
}

// More lists of one place than are remembered, an empty one behind them, come back.
func TestManyListsOfAPlace(t *testing.T) {
	const callers, inner = 3 * recent, 200
	var stacks []stacked
	for i := range callers {
		stacks = append(stacks, stacked{place: inner, outer: 1 + i}) // the place that all of them call through
	}
	first := inner + 2 // number of the first stack: the unknown place is one more
	for i := range callers - 1 {
		stacks = append(stacks, stacked{place: 1 + i, outer: first + i})
		if i%2 == 0 {
			stacks = append(stacks, stacked{place: 3 + i, outer: first + i})
		}
	}
	checkStacks(t, stacksOf(inner+1, stacks))
}

// A function that is called from many places is there once.
func TestStacksOfAFunctionCalledOften(t *testing.T) {
	table := func(callers int) *siteTable {
		var stacks []stacked
		for i := range callers {
			for k := range 9 {
				stacks = append(stacks, stacked{place: 1000 + k, outer: 1 + i})
			}
		}
		return stacksOf(1100, stacks)
	}
	few, many := checkStacks(t, table(10)), checkStacks(t, table(500))
	// Sites say which list they have in a byte, new ones which body it is and that it is whole in two more.
	if more := many - few; more > 490*(9+2+1) {
		t.Errorf("490 more callers take %d bytes", more)
	}
}

func TestStacksOfAnyShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "places")
		var stacks []stacked
		// In order of what is around them, then of places, each once.
		outer, place := 1, 0
		for range rapid.IntRange(0, 60).Draw(t, "stacks") {
			place += rapid.IntRange(1, 3).Draw(t, "place")
			for place > n {
				outer, place = outer+rapid.IntRange(1, 4).Draw(t, "outer"), rapid.IntRange(0, n).Draw(t, "first")
			}
			if outer > n+len(stacks) {
				break
			}
			stacks = append(stacks, stacked{place, outer})
		}
		checkStacks(t, stacksOf(n, stacks))
	})
}
