package merge

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// tagged sends in a ring, with the tags that a function says, in its own lane from
// some call on if that is what the recorder did.
func tagged(laps, n, laneFrom int, tag func(rank, lap, i int) int64) func(r *tracktest.Recorder) {
	return func(r *tracktest.Recorder) {
		r.Begin()
		calls := 0
		for lap := range laps {
			for i := range n {
				vals := []int64{0, 1<<8 | 1, int64(8 * i), 4, tracktest.IntType, int64(r.Rank+1) % int64(r.Size), tag(r.Rank, lap, i), tracktest.World}
				if calls >= laneFrom {
					r.LaneOn(0, "MPI_Send", 1, []int{2, 6}, vals...)
				} else {
					r.CallOn(0, "MPI_Send", 1, vals...)
				}
				calls++
			}
			r.Allreduce(2, 1)
		}
		r.End()
	}
}

func merged(t require, tracks []*track.Track) *MergedBlock {
	s, err := MergeAll(tracks, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

type require interface{ Fatal(...any) }

// callsOf is what a rank of the file called, value by value.
func callsOf(t require, s *MergedBlock, ranks int) (file []byte, lanes bool, calls [][][]int64) {
	c, err := s.Content(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Classes {
		lanes = lanes || len(c.Classes[i].Lanes) > 0
	}
	if file, err = sections.EncodeFile(c); err != nil {
		t.Fatal(err)
	}
	r, err := trace.ReadBytes(file, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Check(r); err != nil {
		t.Fatal(err)
	}
	calls = make([][][]int64, ranks)
	for rank := range ranks {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for terminal, vals := range k.Signatures(0) {
			c, err := k.Terminal(terminal)
			if err != nil {
				t.Fatal(err)
			}
			calls[rank] = append(calls[rank], append([]int64{int64(c.Func.ID)}, vals...))
		}
	}
	return file, lanes, calls
}

// The form that is kept is the shortest, whichever way the recorder had the values,
// and says the same as the others.
func TestChosen(t *testing.T) {
	for _, tc := range []struct {
		name          string
		laps, n, lane int
		lanes         bool // what is kept has some
		tag           func(rank, lap, i int) int64
	}{
		{"counter", 1, 40, 1 << 30, false, func(_, _, i int) int64 { return int64(i) }},
		{"counter from another start on each rank", 1, 40, 1 << 30, false, func(rank, _, i int) int64 { return int64(1000*rank*rank + i) }},
		{"laps", 9, 30, 1 << 30, false, func(_, _, i int) int64 { return int64(i) }},
		{"few", 1, 6, 1 << 30, false, func(_, _, i int) int64 { return int64(i) }},
		{"random", 1, 40, 1 << 30, false, func(_, _, i int) int64 { return int64(i * i * i % 1009) }},
		{"random, recorded as a lane", 50, 4, 0, false, func(_, _, i int) int64 { return int64(i * i * i % 1009) }},
		{"wrapping around elsewhere on each rank", 6, 32, 1 << 30, false, func(rank, _, i int) int64 { return int64((i + 5*rank) % 32) }},
		{"recorded as a lane", 1, 300, 0, true, func(_, _, i int) int64 { return int64(i) }},
		{"long", 1, 6000, 0, true, func(_, _, i int) int64 { return int64(i / 3) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const ranks = 8
			s := merged(t, tracktest.RunAll(ranks, tagged(tc.laps, tc.n, tc.lane, tc.tag)))
			_, lanes, calls := callsOf(t, s, ranks)
			if lanes != tc.lanes {
				t.Errorf("lanes %v, want %v", lanes, tc.lanes)
			}
			checkChosen(t, s, calls)
		})
	}
}

// checkChosen holds what is kept against all forms, and the calls against those of the
// form that was recorded.
func checkChosen(t require, s *MergedBlock, calls [][][]int64) {
	sizeOf := func(list []*class) int {
		n, err := s.weight(list)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	kept := sizeOf(s.shortest())
	without := slices.Clone(s.classes)
	for i, c := range s.classes {
		if list := c.withoutLanes(); len(list) == 1 {
			without[i] = list[0]
		}
	}
	all := []int{sizeOf(s.classes), sizeOf(without)}
	if kept != slices.Min(all) {
		t.Fatal("weight", kept, "as recorded, without lanes", all)
	}
	if t, ok := t.(*testing.T); ok {
		for i := range all {
			all[i] /= callsAByte
		}
		t.Logf("%d bytes of %d as recorded, %d without lanes", kept/callsAByte, all[0], all[1])
	}
	s.keepsLanes = true
	_, _, want := callsOf(t, s, len(calls))
	if !slices.EqualFunc(calls, want, func(a, b [][]int64) bool { return slices.EqualFunc(a, b, slices.Equal) }) {
		t.Fatal("calls differ")
	}
}

// Whatever tags a program has, no call is lost and no file longer than as recorded.
func TestChosenAny(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		ranks := rapid.IntRange(1, 6).Draw(r, "ranks")
		seq := rapid.SliceOfN(rapid.IntRange(0, 30), 8, 60).Draw(r, "tags")
		if rapid.Bool().Draw(r, "rising") {
			slices.Sort(seq)
		}
		by := rapid.IntRange(0, 9).Draw(r, "by")
		laps := rapid.IntRange(1, 4).Draw(r, "laps")
		from := rapid.SampledFrom([]int{0, 20, 1 << 30, 1 << 30}).Draw(r, "lane")
		tracks := tracktest.RunAll(ranks, tagged(laps, len(seq), from, func(rank, lap, i int) int64 { return int64(seq[i] + by*rank*lap) }))
		s := merged(r, tracks)
		_, _, calls := callsOf(r, s, ranks)
		checkChosen(r, s, calls)
	})
}

// A message whose lanes or terminals name what is not there is refused when it comes,
// not found out by an index out of range when lanes are written anew.
func TestRefusesShapes(t *testing.T) {
	_, sound, _ := key(tracktest.Run(0, 1, tagged(1, 12, 0, func(_, _, i int) int64 { return int64(i / 3) })))
	lane := sound.lanes[0]
	for name, spoil := range map[string]func(sh *classShape){
		"none":              func(*classShape) {},
		"terminal":          func(sh *classShape) { sh.of = sh.of[:len(sh.of)-1] },
		"lane of nothing":   func(sh *classShape) { sh.lanes[0].terminal = sh.terminals() },
		"lane twice":        func(sh *classShape) { sh.lanes = append(sh.lanes, lane) },
		"value":             func(sh *classShape) { sh.lanes[0].values = []int{sh.skeleton(lane.terminal).width} },
		"values":            func(sh *classShape) { sh.lanes[0].values = []int{2, 2} },
		"kind of steps":     func(sh *classShape) { sh.lanes[0].kinds-- },
		"steps out of turn": func(sh *classShape) { sh.lanes[0].steps = lane.steps.Renumber(func(n uint32) uint32 { return n + 1 }) },
	} {
		sh := *sound
		sh.of, sh.lanes = slices.Clone(sound.of), slices.Clone(sound.lanes)
		spoil(&sh)
		if _, err := decodeKey(string(sh.append(nil))); (err == nil) != (name == "none") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	// Steps that are as many as the calls less one on one rank need not be so on others.
	s := merged(t, tracktest.RunAll(1, tagged(1, 300, 0, func(_, _, i int) int64 { return int64(i) })))
	c := s.classes[0]
	for i := range c.counts {
		if v, _ := c.counts[i].Uniform(); v == 299 {
			c.counts[i] = column.ColumnOf(298)
		}
	}
	if _, _, ok := c.repeatedAlike(); ok {
		t.Error("a lane of 299 steps for 300 calls, repeated less often")
	}
	if c.withoutLanes() != nil {
		t.Error("lanes that don't fit were written anew")
	}
}

// Ranks that repeat their parts unequally often come apart with the values of each.
func TestEvenly(t *testing.T) {
	const ranks = 24
	s := merged(t, tracktest.RunAll(ranks, func(r *tracktest.Recorder) {
		r.Begin()
		for i := range 40 + r.Rank%3 {
			r.LaneOn(0, "MPI_Send", 1, []int{6}, 0, 1<<8|1, 0, int64(5+r.Rank*r.Rank), tracktest.IntType, int64(r.Rank+1)%int64(r.Size), int64(i*(1+r.Rank)), tracktest.World)
		}
		r.End()
	}))
	if len(s.classes) != 1 || s.classes[0].even() {
		t.Fatalf("%d classes, or nothing is repeated unequally often", len(s.classes))
	}
	c := s.classes[0]
	list := c.evenParts()
	if len(list) != 3 {
		t.Fatalf("%d parts", len(list))
	}
	calls := func(c *class) (n uint64) {
		for i := range c.times {
			n += c.times[i].duration.Count
		}
		return n
	}
	sum := uint64(0)
	for k, d := range list {
		sum += calls(d)
		if !d.even() || d.ranks.Len() != ranks/3 {
			t.Fatalf("part %d: %d ranks", k, d.ranks.Len())
		}
		for m := range d.ranks.Len() {
			rank := int(d.ranks.At(m))
			if rank%3 != k {
				t.Fatalf("part %d has rank %d", k, rank)
			}
			for i := range c.values.cols {
				if got, want := d.values.cols[i].At(m), c.values.cols[i].At(rank); got != want {
					t.Fatalf("rank %d: %d, want %d", rank, got, want)
				}
			}
			for i := range c.steps {
				if got, want := d.steps[i].At(m), c.steps[i].At(rank); got != want {
					t.Fatalf("rank %d: step %d, want %d", rank, got, want)
				}
			}
		}
	}
	if sum != calls(c) {
		t.Errorf("times of %d calls, %d were made", sum, calls(c))
	}
}
