package traced

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/trace"
)

// A prediction written as a trace has the same calls at the times of the prediction: each rank
// ends when it was predicted to, and simulated again the trace gives the same but for what is less than a ns.
func TestRetimed(t *testing.T) {
	m, err := machine.ParseMachine("plain", []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		_, r := draw(t, true)
		for _, single := range []bool{false, true} {
			times, err := trackwriter.NewRetimedTrace(r)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Predict(r, Options{Machine: m, OnEachCall: times.AddCallTimes, single: single})
			if err != nil {
				t.Fatal(err)
			}
			there := traceOf(t, times)
			for rank := range p.Ranks {
				sameCalls(t, r, there, rank)
				k, err := there.Rank(rank)
				if err != nil {
					t.Fatal(err)
				}
				sum := uint64(0)
				for x, err := range k.TimedTerminals(0) {
					if err != nil {
						t.Fatal(err)
					}
					sum += x.Timing.Gap.Ns + x.Timing.Duration.Ns
				}
				if want := p.Ranks[rank].EndPs / 1000; int64(sum) != want {
					t.Fatalf("rank %d: gaps and calls take %d ns, %d are predicted", rank, sum, want)
				}
			}
			again, err := Predict(there, Options{Machine: m})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := again.Ranks[0].ComputePs, p.Ranks[0].ComputePs; got > want+int64(again.Calls)*2000 || got < want-int64(again.Calls)*2000 {
				t.Fatalf("rank 0 computes for %d ps in the second prediction, %d in the first", got, want)
			}
			times.Close()
		}
	})
}

// traceOf is the trace of times that were taken down.
func traceOf(t interface {
	Helper()
	Fatal(args ...any)
}, times *trackwriter.RetimedTrace,
) *trace.Reader {
	t.Helper()
	c, err := times.Content(map[string]string{trace.MetaProducer: "test"})
	if err != nil {
		t.Fatal(err)
	}
	data, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	there, err := trace.ReadBytes(data, "there")
	if err != nil {
		t.Fatal(err)
	}
	return there
}

// sameCalls compares the calls of a rank in two traces.
func sameCalls(t *rapid.T, a, b *trace.Reader, rank int) {
	x, err := a.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	y, err := b.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	if x.CallCount(0) != y.CallCount(0) {
		t.Fatalf("rank %d: %d calls, %d", rank, x.CallCount(0), y.CallCount(0))
	}
	var texts [2][]string
	for i, k := range []*trace.Rank{x, y} {
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			texts[i] = append(texts[i], c.Text()+" "+c.Site.Module)
		}
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		t.Fatal(diff)
	}
}
