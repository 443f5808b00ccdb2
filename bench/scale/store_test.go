package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/bench/scale/real"
	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
)

// Runs put into a file one by one are there when it is opened again: the text in
// front, rows in order, a baseline of an earlier run, and what is still missing.
func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.txt")
	if err := os.WriteFile(path, []byte("By hand.\n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p, _ := skeleton.ByName("ft")
	run := func(ranks int, baseline bool) {
		s, err := openStore(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := measure(p, ranks, false, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.add(r); err != nil {
			t.Fatal(err)
		}
		if baseline {
			if err := s.addBaseline(place{p.Name, ranks}, compare(p, ranks)); err != nil {
				t.Fatal(err)
			}
		}
	}
	run(16, true)
	run(4, false)
	run(16, false)
	s, err := openStore(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.addReal(&real.Result{Program: "heat2d", MPI: "openmpi", Ranks: 4, Content: 300, Args: "-n 64"}); err != nil {
		t.Fatal(err)
	}
	// As many fields as a row of the table, and the name of a skeleton.
	if err := s.addReal(&real.Result{Program: "lu", MPI: "mpich", Ranks: 4, Args: "-n 6 -i 5"}); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(file)
	for _, want := range []string{
		"By hand.\n\nprogram", "\nheat2d      openmpi      4 ",
		"every rank read back and compared: 4, 16 ranks",
		"no larger than Pilgrim's scheme with zstd, without names and with: 16 ranks", "not compared with Pilgrim's scheme: 4 ranks",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if a, b := strings.Index(text, "\nft           4"), strings.Index(text, "\nft          16"); a < 0 || b < a {
		t.Errorf("rows are out of order:\n%s", text)
	}
	if s, err = openStore(path); err != nil {
		t.Fatal(err)
	}
	if s.real[real.Key{Program: "heat2d", MPI: "openmpi", Ranks: 4}] == "" {
		t.Error("the real run is gone")
	}
	if err := s.write(); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(path); err != nil || string(again) != text {
		t.Errorf("written again (%v):\n%s", err, again)
	}
	list := []skeleton.Program{p}
	if got := s.missing(list, []int{4, 16, 64}, false); len(got) != 1 || got[0].ranks != 64 {
		t.Errorf("missing: %v", got)
	}
	if got := s.missing(list, []int{4, 16, 64}, true); len(got) != 2 {
		t.Errorf("missing with baseline: %v", got)
	}
}

// A file that takes more room than the baseline, or was not read back, is told.
func TestVerdicts(t *testing.T) {
	p, _ := skeleton.ByName("ft")
	r := &Result{Program: p, Ranks: 16, Calls: 300, Content: 200}
	large := &Result{Program: p, Ranks: 16384, Merge: 3 * time.Second, Path: time.Second}
	r.Pilgrim.Known, r.Pilgrim.Packed, r.Pilgrim.Named = true, 250, 290
	var b strings.Builder
	printSummary(&b, []*Result{r, large})
	for _, want := range []string{"16384 ranks are merged in at most 2.0s on two cores", "NOT READ BACK: 16", "LARGER than Pilgrim's scheme with zstd, without names or with: 16"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
