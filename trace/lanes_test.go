package trace

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoor-hpc/spoor/internal/file/sections"
)

// Each call has the values that its lane has for it, walked to or sought; bounds and
// texts are those of all of them.
func TestLanes(t *testing.T) {
	r, err := open(encoded(t))
	if err != nil {
		t.Fatal(err)
	}
	for rank, want := range map[int]struct {
		step  int64
		texts []string
	}{
		0: {1, []string{"buf from -32 to 40", "tag from 7 to 72"}},
		2: {-1, []string{"buf from -32 to 40", "tag from -18 to 7"}},
	} {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		l := k.Lane(3)
		if l == nil || k.Lane(2) != nil || l.CallCount() != 50 {
			t.Fatalf("lanes %v and %v", l, k.Lane(2))
		}
		var tags, bufs []int64
		tag, buf := int64(7), int64(-32)
		for i := range 50 {
			tags, bufs = append(tags, tag), append(bufs, buf)
			if i%10 == 9 {
				tag, buf = tag+5, buf-72
			} else {
				tag, buf = tag+want.step, buf+8
			}
		}
		var got, sought, raw []int64
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Terminal != 3 {
				continue
			}
			got = append(got, c.Param("tag").In.Num, c.Param("buf").In.Addr.Offset)
			again, err := k.Call(0, c.Index)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c, again); d != "" {
				t.Fatalf("call %d: -walked +sought:\n%s", c.Index, d)
			}
			sought = append(sought, again.Param("tag").In.Num)
		}
		for terminal, vals := range k.Signatures(0) {
			if terminal == 3 {
				raw = append(raw, vals[6])
			}
		}
		for i := range tags {
			if got[2*i] != tags[i] || got[2*i+1] != bufs[i] || sought[i] != tags[i] || raw[i] != tags[i] {
				t.Fatalf("rank %d: send %d has tag %d (sought: %d, raw: %d) and offset %d, want %d and %d",
					rank, i, got[2*i], sought[i], raw[i], got[2*i+1], tags[i], bufs[i])
			}
			if d := cmp.Diff([]int64{bufs[i], tags[i]}, l.At(uint64(i))); d != "" {
				t.Fatal(d)
			}
		}
		for k, list := range [][]int64{bufs, tags} {
			if least, most := l.Bounds(k); least != slices.Min(list) || most != slices.Max(list) {
				t.Errorf("rank %d: value %d from %d to %d, want %d to %d", rank, k, least, most, slices.Min(list), slices.Max(list))
			}
		}
		if d := cmp.Diff(want.texts, k.LaneTexts(3)); d != "" {
			t.Errorf("rank %d: -want +got:\n%s", rank, d)
		}
		least, most, err := k.BoundingCalls(3)
		if err != nil {
			t.Fatal(err)
		}
		if least.Param("tag").In.Num != slices.Min(tags) || most.Param("buf").In.Addr.Offset != slices.Max(bufs) {
			t.Errorf("rank %d: extremes %s and %s", rank, least.Text(), most.Text())
		}
	}
}

// What does not fit a lane's terminal is no trace.
func TestBadLanes(t *testing.T) {
	for name, change := range map[string]func(c *sections.Class){
		"terminal":  func(c *sections.Class) { c.Lanes[0].Terminal = 8 },
		"value":     func(c *sections.Class) { c.Lanes[0].ValueIndices[1] = 8 + 1 },
		"order":     func(c *sections.Class) { c.Lanes[0].ValueIndices = []int{6, 2} },
		"steps":     func(c *sections.Class) { c.Lanes[0].StepColumns = c.Lanes[0].StepColumns[:1] },
		"no values": func(c *sections.Class) { c.Lanes[0].ValueIndices = nil },
		"twice":     func(c *sections.Class) { c.Lanes = append(c.Lanes, c.Lanes[0]) },
	} {
		c := sample(t)
		change(&c.Classes[0])
		if _, err := sections.EncodeFile(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c := sample(t)
	c.Classes[0].Lanes[0].Terminal = 2 + 2 // as many calls
	b, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(b); err != nil {
		t.Fatal(err)
	}
	c = sample(t)
	c.Classes[0].Lanes[0].Terminal, c.Classes[0].Lanes[0].ValueIndices = 5, []int{2, 3} // one call
	if b, err = sections.EncodeFile(c); err != nil {
		t.Fatal(err)
	}
	r, err := open(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rank(0); err == nil {
		t.Error("a lane of 50 values and a terminal of one call, and no error")
	}
	if Check(r) == nil {
		t.Error("and the check finds nothing")
	}
}
