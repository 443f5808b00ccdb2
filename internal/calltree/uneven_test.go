package calltree

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Steps that differ in how often they poll are rounds of one loop, those included that poll once or not at all.
func TestFoldUneven(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		steps := 5 + rng.IntN(40)
		list := sequence("g")
		var polls, inner []int
		for range steps {
			polls, inner = append(polls, max(0, rng.IntN(10)-2)), append(inner, 1+rng.IntN(3))
		}
		for i := range steps {
			list = slices.Concat(list, sequence("a"), slices.Repeat(sequence("bc"), polls[i]), sequence("d"), slices.Repeat(sequence("ef"), inner[i]))
		}
		list = append(list, sequence("h")...)
		times := func(list []int) string {
			if a, z := slices.Min(list), slices.Max(list); a != z {
				return fmt.Sprintf("%d-%d", a, z)
			}
			return fmt.Sprint(list[0])
		}
		want := fmt.Sprintf("g (a (b c)%s d (e f)%s)%d h", times(polls), times(inner), steps)
		if got := shapeOfCalls(t, 1, list); got != want {
			t.Errorf("%v polls, %v inner rounds: %s, not %s", polls, inner, got, want)
		}
	}
}
