package timing

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A dumped call is a line of `spoor dump --times --json`, or of --at.
type dumpedCall struct {
	Rank, Index int
	Call        string
	Times       string
	State       string
	Start       float64 `json:"start_ns"`
	Within      float64 `json:"start_within_ns"` // -1: not said
	Duration    float64 `json:"duration_ns"`
	Gap         float64 `json:"gap_ns"`
	Mean        float64 `json:"mean_ns"`
	MeanGap     float64 `json:"mean_gap_ns"`
}

// dump returns what `spoor dump --json` prints with some flags, by rank.
func (c *cell) dump(flags ...string) [][]dumpedCall {
	c.t.Helper()
	list := make([][]dumpedCall, len(c.truth))
	for line := range strings.Lines(c.spoor(append([]string{"dump", "--json", "t.spoor"}, flags...)...)) {
		d := dumpedCall{Within: -1}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			c.t.Fatalf("%q: %v", line, err)
		}
		list[d.Rank] = append(list[d.Rank], d)
	}
	return list
}

// kind is what JSON says of times that the table has this word for.
func (c *cell) kind() string {
	if c.word == drawn {
		return "histogram"
	}
	return c.word
}

// eachCall looks at what dump says of each call. Where these are no times of its own, those of a place come to
// what its calls took on all ranks.
func (c *cell) eachCall() {
	if c.word == refused {
		c.refuses("no times", "dump", "--times", "--json", "t.spoor")
		return
	}
	type sum struct{ gap, duration float64 }
	places := make(map[string]sum)
	for rank, list := range c.dump("--times") {
		if len(list) != len(c.truth[rank]) {
			c.t.Fatalf("rank %d: %d calls, %d measured", rank, len(list), len(c.truth[rank]))
		}
		for i, d := range list {
			known := &c.truth[rank][i]
			if d.Call != known.name || d.Times != c.kind() {
				c.t.Fatalf("rank %d: call %d is %+v, want %s with %s times", rank, i, d, known.name, c.kind())
			}
			s := places[known.place]
			places[known.place] = sum{s.gap + d.Gap, s.duration + d.Duration}
			if c.own() {
				c.same(fmt.Sprintf("rank %d: call %d, duration", rank, i), d.Duration, known.lasted(), 1)
				c.same(fmt.Sprintf("rank %d: call %d, gap", rank, i), d.Gap, known.gap, 1)
			}
		}
	}
	for _, place := range knownPlaces {
		want := c.truth.at(-1, place)
		c.same("gaps of "+place, places[place].gap, want.gap, want.calls)
		c.same("durations of "+place, places[place].duration, want.duration, want.calls)
	}
}

// eachCallText does the same with text, which has three digits.
func (c *cell) eachCallText() {
	if c.word == refused {
		c.refuses("no times", "dump", "--times", "t.spoor")
		return
	}
	sums := make(map[string][2]float64)
	at := make([]int, len(c.truth))
	for line := range strings.Lines(c.spoor("dump", "--times", "t.spoor")) {
		rank, err := strconv.Atoi(line[:strings.Index(line, ":")])
		if err != nil {
			c.t.Fatalf("%q: %v", line, err)
		}
		known := &c.truth[rank][at[rank]]
		at[rank]++
		sep := " | "
		if !c.own() {
			sep = " ~ mean "
		}
		_, times, ok := strings.Cut(line, sep)
		list := printed(c.t, times)
		if !ok || len(list) < 2 || strings.Contains(times, ", at about ") != (c.word != exact) || !strings.Contains(times, ", at ") {
			c.t.Fatalf("%q says nothing of times that are %s", line, c.word)
		}
		s := sums[known.name]
		sums[known.name] = [2]float64{s[0] + list[0], s[1] + list[1]}
		if c.own() {
			r := c.text(1)
			if !r.holds(list[0], known.lasted()) || !r.holds(list[1], known.gap) {
				c.t.Errorf("%q: want %v after %v", line, known.lasted(), known.gap)
			}
		}
	}
	for name, s := range sums {
		want := c.truth.in(-1, name)
		c.rounded("in "+name, s[0], want.duration, want.calls)
		c.rounded("before "+name, s[1], want.gap, want.calls)
	}
}

// origin bounds where the trace's time line begins on the program's clock: with the starts of all calls
// where they were, or as the first call has it, where those of others have the errors of all before.
func (c *cell) origin(list [][]dumpedCall) bound {
	first := &c.truth[0][0]
	line := bound{first.from, first.in}
	if c.word != exact {
		return line
	}
	for rank := range list {
		for i, d := range list[rank] {
			known := &c.truth[rank][i]
			line.low, line.high = max(line.low, known.from-d.Start), min(line.high, known.in-d.Start)
		}
	}
	if line.low > line.high+5000 {
		c.t.Fatalf("no line has all calls where they were: it is %.0f ns short", line.low-line.high)
	}
	return line
}

// reach holds starts against how far they are said to be from the truth, as seen from the rank's first call.
func (c *cell) reach(list [][]dumpedCall) {
	c.t.Helper()
	for rank := range list {
		first, known := &list[rank][0], &c.truth[rank][0]
		for i, d := range list[rank] {
			if d.Within < 0 || (d.Within == 0) != (c.word == exact) {
				c.t.Fatalf("rank %d: call %d is said to be within %.0f ns of its start", rank, i, d.Within)
			}
			x := &c.truth[rank][i]
			r := room{1e-3, d.Within + first.Within + 1e4}
			if got := d.Start - first.Start; !r.holds(got, bound{x.from - known.in, x.in - known.from}) {
				c.t.Errorf("rank %d: call %d begins %.0f ns behind the first one, want %.0f to %.0f within %.0f", rank, i, got, x.from-known.in, x.in-known.from, d.Within)
			}
		}
	}
}

// starts looks at when calls began. Means can't say it of a rank and a round of a loop, but where places begin,
// of all ranks together.
func (c *cell) starts() {
	if c.word == refused {
		return // with the durations
	}
	list := c.dump("--times")
	c.reach(list)
	if line := c.origin(list); c.own() {
		for rank := range list {
			for i, d := range list[rank] {
				known := &c.truth[rank][i]
				want := bound{known.from - line.high, known.in - line.low}
				r := c.room(2 * uint64(i+1))
				if c.word == bounded { // the share is a time's: what lies behind a few may be off by more
					r = room{1e-3, d.Within + 1e4}
				}
				if !r.holds(d.Start, want) {
					c.t.Errorf("rank %d: start of call %d: %.0f ns, want %.0f to %.0f, which is to be %s, within %.0f", rank, i, d.Start, want.low, want.high, c.word, d.Within)
				}
			}
		}
		return
	}
	n := float64(len(list))
	var began float64
	var since bound // of the first call behind MPI_Init
	for i := 1; i < len(list[0]); i++ {
		var got float64
		var at bound
		for rank := range list {
			got += list[rank][i].Start / n
			at.plus(bound{c.truth[rank][i].from / n, c.truth[rank][i].in / n})
		}
		if i == 1 {
			began, since = got, at
		} else if place := c.truth[0][i].place; place == "fence" {
			c.same(fmt.Sprintf("start of call %d", i), got-began, bound{at.low - since.high, at.high - since.low}, 1)
		}
	}
}

// moments asks what a rank did in the middle of some of its calls, and before them. What is not the calls' own has
// to agree with what verbs say of their starts.
func (c *cell) moments() {
	if c.word == refused {
		c.refuses("no times", "dump", "--at", "1ms", "t.spoor")
		return
	}
	list := c.dump("--times")
	line, rank := c.origin(list), len(list)-1
	seen := make(map[string]bool)
	for i := range list[rank] {
		known, d := &c.truth[rank][i], &list[rank][i]
		if seen[known.place] || known.place == "start" || known.lasted().low < 1e5 || known.gap.low < 1e5 {
			continue
		}
		seen[known.place] = true
		inside, before := d.Start+1e3, d.Start-1e3
		if c.word == exact {
			zero := (line.low + line.high) / 2
			inside, before = (known.in+known.out)/2-zero, known.from-known.gap.low/2-zero
		}
		c.moment(inside, rank, i, "inside")
		c.moment(before, rank, i-1, "outside")
	}
	if len(seen) < 5 {
		c.t.Errorf("only calls of %v are long", seen)
	}
}

func (c *cell) moment(ns float64, rank, index int, state string) {
	c.t.Helper()
	flags := []string{"--at", seconds(int64(ns)), "--rank", strconv.Itoa(rank)}
	got := c.dump(flags...)[rank][0]
	if got.Index != index || got.State != state || got.Times != c.kind() {
		c.t.Errorf("%v: %+v, want %s call %d, %s", flags, got, state, index, c.word)
	}
	text := c.spoor(append([]string{"dump", "t.spoor"}, flags...)...)
	if strings.Contains(text, " for about ") == (c.word == exact) || strings.Contains(text, "; it began at about ") == (c.word == exact) {
		c.t.Errorf("%v: times are %s: %s", flags, c.word, text)
	}
}
