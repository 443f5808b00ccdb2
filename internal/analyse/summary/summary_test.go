package summary

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
		brief, err := Brief(r)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		full, err := Of(r)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		r.Close()
		want := *brief
		want.FirstNs, want.EndNs, want.MergeNs = full.FirstNs, full.EndNs, full.MergeNs
		want.Calls, want.MPINs, want.ThreadNs = full.Calls, full.MPINs, full.ThreadNs // from the calls
		full.Clocks, full.Functions, full.Sites, full.Signatures = nil, want.Functions, 0, 0
		full.Classes, full.Sections, full.Costs = want.Classes, nil, want.Costs
		if !reflect.DeepEqual(full, &want) {
			t.Errorf("%s:\n%+v, want\n%+v", path, &want, full)
		}
		// What ranks have at least and at most holds their mean, whatever the number of their threads.
		if n := int64(full.Ranks - full.Ends[Missing]); full.MPINs > n*full.MostMPI+full.FilesNs || full.MPINs < n*full.LeastMPI {
			t.Errorf("%s: %d threads a rank, %d ns in MPI on %d ranks, %d to %d a rank", path, full.Threads, full.MPINs, n, full.LeastMPI, full.MostMPI)
		}
		if brief.Calls != full.Calls {
			t.Errorf("%s: %d calls, want %d", path, brief.Calls, full.Calls)
		}
	}
}
