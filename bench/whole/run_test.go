package main

import "testing"

// The parts of a run are those of all ranks together, and add up.
func TestSplit(t *testing.T) {
	const ms = 1_000_000
	text := "10000000 1000000 30000000 5000000 90000000 9000000 99000000 11000000\n" +
		"12000000 1000000 40000000 7000000 80000000 9000000 98000000 15000000\n"
	p, err := split(0, 110*ms, text, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := phases{whole: 110, launch: 10, start: 30, calls: 50, end: 9, after: 11, initCPU: 5, endCPU: 4}
	if *p != want {
		t.Errorf("%+v, want %+v", *p, want)
	}
	for name, text := range map[string]string{"a rank": text[:70], "numbers": "1 2 3\n4 5 6\n", "MPI_Finalize": "1 1 1 1 0 0 2 2\n1 1 1 1 1 1 2 2\n"} {
		if _, err := split(0, 1, text, 2); err == nil {
			t.Errorf("without %s: no error", name)
		}
	}
}
