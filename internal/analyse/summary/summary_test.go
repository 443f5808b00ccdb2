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
		if brief.Calls != full.Calls {
			t.Errorf("%s: %d calls, want %d", path, brief.Calls, full.Calls)
		}
	}
}

// The least and the most time of a rank in MPI is that of all its threads, whatever each of them did.
func TestTimeOfThreads(t *testing.T) {
	r, err := trace.Open("../../../test/powers/testdata/threads.spoor")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s, err := Of(r)
	if err != nil {
		t.Fatal(err)
	}
	procs, err := r.Processes()
	if err != nil {
		t.Fatal(err)
	}
	least, most, threads := int64(1<<62), int64(0), 0
	for _, p := range procs.All() {
		least, most, threads = min(least, p.MPINs), max(most, p.MPINs), max(threads, p.Threads)
	}
	if threads < 2 || s.LeastMPI != least || s.MostMPI != most {
		t.Errorf("%d threads, %d to %d ns in MPI, want %d to %d", threads, s.LeastMPI, s.MostMPI, least, most)
	}
}
