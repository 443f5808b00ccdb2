package sums

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/spoor-hpc/spoor/trace"
)

// What is said of the whole is the same without reading the calls.
func TestBrief(t *testing.T) {
	files, err := filepath.Glob("../../../trace/testdata/*.spoor")
	if err != nil || len(files) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, path := range files {
		r, err := trace.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		brief, err := SummariseBriefly(r)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		full, err := Summarise(r)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		r.Close()
		want := *brief
		want.FirstCallNs, want.EndNs, want.FinalizeToTraceNs = full.FirstCallNs, full.EndNs, full.FinalizeToTraceNs
		want.Calls, want.MPINs, want.TotalThreadNs = full.Calls, full.MPINs, full.TotalThreadNs // from the calls
		full.Clocks, full.Functions, full.Sites, full.Signatures = nil, want.Functions, 0, 0
		full.Classes, full.Sections, full.Costs = want.Classes, nil, want.Costs
		if !reflect.DeepEqual(full, &want) {
			t.Errorf("%s:\n%+v, want\n%+v", path, &want, full)
		}
		if brief.Calls != full.Calls {
			t.Errorf("%s: %d calls, want %d", path, brief.Calls, full.Calls)
		}
	}
}

// The least and the most that ranks were in MPI hold their mean, whatever the number of their threads.
func TestTimeInMPI(t *testing.T) {
	r, err := trace.Open("../../../test/powers/testdata/threads.spoor")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := Summarise(r)
	if err != nil {
		t.Fatal(err)
	}
	if mean := s.MPINs / int64(s.Ranks); s.MaxThreads < 2 || mean > s.MaxRankMPINs*101/100 || mean < s.MinRankMPINs*99/100 {
		t.Errorf("%d threads a rank, %d ns in MPI on the mean of ranks, %d to %d a rank", s.MaxThreads, mean, s.MinRankMPINs, s.MaxRankMPINs)
	}
}
