package main

import (
	"os"
	"testing"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
)

// A peer that changes with every iteration costs what the formula does, and so does
// a counter as tag. SPOOR_TEST_LOOPS=all goes on to a million iterations, minutes.
func TestLoops(t *testing.T) {
	type loop struct {
		name         string
		run          skeleton.Program
		ranks, limit int
	}
	counting := func(iterations, ranks int) loop {
		return loop{"counter", skeleton.Program{Name: "counter", Run: counter(iterations)}, ranks, 180}
	}
	loops := []loop{
		{"rotate", skeleton.Program{Name: "rotate", Run: rotate(20_000)}, 4, 150},
		{"rotate", skeleton.Program{Name: "rotate", Run: rotate(1000)}, 64, 150},
		counting(10, 64), counting(100, 64), counting(250, 64), counting(1000, 64), counting(10_000, 2),
	}
	if os.Getenv("SPOOR_TEST_LOOPS") == "all" {
		loops = append(loops, counting(10_000, 64), counting(100_000, 64), counting(1_000_000, 64))
	}
	for _, tc := range loops {
		r, err := measure(tc.run, tc.ranks, false, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s on %d ranks, %d calls: %d bytes of %d, %d classes", tc.name, tc.ranks, r.Events, r.Content, r.File, r.Classes)
		if r.Content > tc.limit || r.Classes != 1 {
			t.Errorf("%s on %d ranks, %d calls: %d bytes, limit %d, %d classes", tc.name, tc.ranks, r.Events, r.Content, tc.limit, r.Classes)
		}
	}
}

// Partners in communicators whose members have no rule cost what the own rank does:
// six of them, with as many statuses, no more than who is in which.
func TestTeams(t *testing.T) {
	for ranks, limit := range map[int]int{64: 270, 1024: 1500} {
		r, err := measure(skeleton.Program{Name: "teams", Run: teams}, ranks, false, "")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("teams on %d ranks: %d bytes, %d classes", ranks, r.Content, r.Classes)
		if r.Content > limit || r.Classes != 1 {
			t.Errorf("teams on %d ranks: %d bytes, limit %d, %d classes", ranks, r.Content, limit, r.Classes)
		}
	}
}
