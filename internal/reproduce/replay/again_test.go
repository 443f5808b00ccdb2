package replay

import (
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// inVain is a program of one rank that tests a request so often before it waits for it.
func inVain(t *testing.T, tests int) (*trace.Reader, *trace.Rank) {
	t.Helper()
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.Irecv(1, 4, 0, 1)
		for range tests {
			r.Call("MPI_Test", 2, 2, 0, 0)
		}
		r.Call("MPI_Wait", 3, 2, 0)
		r.End()
	})
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	return r, k
}

// Tests that find nothing are made as often as the program made them, with the same
// words, and no sooner than due: by gaps, or on the line, where those that are behind it
// come at once.
func TestTestsInVain(t *testing.T) {
	const tests = 2*repeatsAtOnce + 100
	r, k := inVain(t, tests)
	var starts []int64 // since the end of MPI_Init
	began, gaps := int64(0), int64(0)
	for c, err := range k.TimedCalls(0) {
		if err != nil {
			t.Fatal(err)
		}
		if len(starts) == 0 {
			began = c.EndNs()
		} else {
			gaps += int64(c.Timing.Gap.Ns)
		}
		starts = append(starts, c.StartNs-began)
	}
	replayed := func(o Options, on map[string]func(f *fake, c *Call)) (*fake, Report) {
		t.Helper()
		f := &fake{now: 1e6, on: make(map[string]func(c *Call))}
		made := f.makes(6, 4)
		f.on["MPI_Irecv"] = made
		for name, g := range on {
			f.on[name] = func(c *Call) { g(f, c) }
		}
		if on["MPI_Irecv"] != nil {
			late := f.on["MPI_Irecv"]
			f.on["MPI_Irecv"] = func(c *Call) { made(c); late(c) }
		}
		p, err := run(t, r, 0, f, mpi.FlavourMPICH, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.calls) != tests+4 {
			t.Fatalf("%d calls, expected %d", len(f.calls), tests+4)
		}
		for i, c := range f.calls[2 : tests+2] {
			if f.log[i+2] != "MPI_Test" || c.Words != f.calls[2].Words || c.OutcomeAddress != f.calls[2].OutcomeAddress || c.OutcomeAddress == 0 {
				t.Fatalf("call %d is %s %x, expected %x", i+2, f.log[i+2], c.Words, f.calls[2].Words)
			}
		}
		x := p.Report()
		if x.Calls != tests+4 || x.MPINs != 10*(tests+4) && on == nil {
			t.Errorf("report %+v", x)
		}
		return f, x
	}

	f, x := replayed(Options{}, nil)
	for i, c := range f.calls[1:] {
		if since := c.BeginNs - f.calls[0].EndNs; since < starts[i+1]-10_000 { // means are rounded there, and the line is much longer than their sum
			t.Errorf("call %d comes after %d ns, in the original after %d", i+1, since, starts[i+1])
		}
	}
	onLine := f.now
	if x.RecordedComputeNs != gaps || x.HeldNs <= 0 {
		t.Errorf("wanted %d ns of %d, held %d", x.RecordedComputeNs, gaps, x.HeldNs)
	}

	f, x = replayed(Options{Pace: PaceGaps}, nil)
	for i, c := range f.calls[3 : tests+2] {
		if gap := c.BeginNs - f.calls[i+2].EndNs; gap <= 0 {
			t.Fatalf("call %d comes %d ns after the one before", i+3, gap)
		}
	}
	if x.RecordedComputeNs != gaps || x.HeldNs != 0 || f.now >= onLine {
		t.Errorf("gaps alone: %+v until %d, the gaps are %d, on the line until %d", x, f.now, gaps, onLine)
	}

	late := 2 * starts[len(starts)-1]
	f, _ = replayed(Options{}, map[string]func(f *fake, c *Call){"MPI_Irecv": func(f *fake, c *Call) { f.now += late; c.EndNs += late }})
	for i, c := range f.calls[3 : tests+2] {
		if c.BeginNs != f.calls[i+2].EndNs {
			t.Fatalf("behind the line: call %d waits for %d ns", i+3, c.BeginNs-f.calls[i+2].EndNs)
		}
	}

	n := 0
	_, x = replayed(Options{}, map[string]func(f *fake, c *Call){"MPI_Test": func(_ *fake, c *Call) {
		if n++; n == 300 || n == 302 {
			c.Result = 19 // MPI_ERR_REQUEST in MPICH
		}
	}})
	if x.DifferentResults != 2 || len(x.Examples) != 2 || !strings.Contains(x.Examples[0], "instead of MPI_SUCCESS: MPI_Test(") {
		t.Errorf("two calls failed: %d, %q", x.DifferentResults, x.Examples)
	}
}
