package trace

import (
	"math/bits"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// At any time the call found is the last of all that began by then.
func TestAt(t *testing.T) {
	for _, exact := range []bool{false, true} {
		c := sample(t)
		if exact {
			c.Series = sampleSeries(t)
		}
		r := reopened(t, c)
		k, err := r.Rank(2)
		if err != nil {
			t.Fatal(err)
		}
		var all []TimedCall
		for c, err := range k.TimedCalls(0) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		kind := MeanSample
		if exact {
			kind = ExactSample
		}
		end := all[len(all)-1].EndNs()
		inside := 0
		for ns := all[0].StartNs - 100; ns < end+100; ns += max(1, (end-all[0].StartNs)/997) {
			m, err := k.MomentAt(0, ns)
			if err != nil {
				t.Fatal(err)
			}
			want := -1
			for i := range all {
				if all[i].StartNs <= ns {
					want = i
				}
			}
			if m.TimeKind != kind || (m.LastBegunCall.Call == nil) != (want < 0) {
				t.Fatalf("exact %v: at %d: %+v, want call %d", exact, ns, m, want)
			}
			if want < 0 {
				continue
			}
			if m.LastBegunCall.Index != uint64(want) || exact && (m.State == StateInCall) != (ns < all[want].EndNs()) {
				t.Fatalf("exact %v: at %d: call %d, inside %v; want %d", exact, ns, m.LastBegunCall.Index, (m.State == StateInCall), want)
			}
			if m.State == StateInCall {
				inside++
			}
		}
		if inside < 100 {
			t.Errorf("exact %v: inside a call only %d times", exact, inside)
		}
	}
}

// A stream of 5·10⁹ calls in loops within loops, each with some calls beside the inner
// one: a search compares in proportion to the depth times the logarithm of what
// stands side by side, wherever it ends.
func TestAtTakesSteps(t *testing.T) {
	c := sample(t)
	c.Classes[0].Lanes = nil
	const depth, wide = 8, 11
	g := &grammar.Grammar{Rules: [][]grammar.Symbol{{{TerminalOrRule: 0, Count: 1}, {TerminalOrRule: 1, Count: 1}, {TerminalOrRule: -1, Count: 7}, {TerminalOrRule: 5, Count: 1}, {TerminalOrRule: 6, Count: 1}, {TerminalOrRule: 7, Count: 1}}}}
	for d := int32(1); d <= depth; d++ {
		var body []grammar.Symbol
		for i := range int32(wide) {
			body = append(body, grammar.Symbol{TerminalOrRule: 2 + i%3, Count: 1})
		}
		if d < depth {
			body[4] = grammar.Symbol{TerminalOrRule: -d - 1, Count: 13}
		}
		g.Rules = append(g.Rules, body)
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	pair := &c.Classes[0]
	pair.Streams[0] = g
	often := grammar.CountOccurrences(pair.Streams, pair.Terminals.Len())
	calls := uint64(0)
	for i := range pair.Terminals.(sections.TerminalList) {
		n := 2 * often[i]
		calls += often[i]
		pair.Terminals.(sections.TerminalList)[i].Times = Times{Duration: stat(n, 100*n, 90, 120), Gap: stat(n, 10*n, 1, 90)}
	}
	r := reopened(t, c)
	k, err := r.Rank(2)
	if err != nil {
		t.Fatal(err)
	}
	start, err := k.StartNs()
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Process()
	if err != nil {
		t.Fatal(err)
	}
	m, err := k.means(0)
	if err != nil {
		t.Fatal(err)
	}
	worst, last := 0, uint64(0)
	for i := range int64(1000) {
		steps := 0
		m.Sums.SearchComparisons = &steps
		at, err := k.MomentAt(0, start+p.FirstThreadNs/1000*i)
		if err != nil || at.LastBegunCall.Call == nil && i > 0 {
			t.Fatalf("at %d of 1000: %+v, error %v", i, at, err)
		}
		if at.LastBegunCall.Call != nil && at.LastBegunCall.Index < last {
			t.Fatalf("call %d after %d", at.LastBegunCall.Index, last)
		} else if at.LastBegunCall.Call != nil {
			last = at.LastBegunCall.Index
		}
		worst = max(worst, steps)
	}
	// Looked for by time, and twice by number: what lies before, for start and for times.
	most := 3 * (depth + 1) * (bits.Len(wide) + 1)
	t.Logf("%d calls: %d comparisons at most, %d allowed", calls, worst, most)
	if calls < 1e9 || worst > most || worst < depth || last < calls/2 {
		t.Errorf("%d calls, the last found %d: %d comparisons, %d allowed", calls, last, worst, most)
	}
}
