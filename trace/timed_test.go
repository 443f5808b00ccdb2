package trace

import "testing"

// Every call gets the mean of calls like it, and calls follow each other on the
// time line within the rank's span.
func TestTimedMeans(t *testing.T) {
	r, err := open(encoded(t))
	if err != nil {
		t.Fatal(err)
	}
	k, err := r.Rank(2)
	if err != nil {
		t.Fatal(err)
	}
	p, err := k.Process()
	if err != nil {
		t.Fatal(err)
	}
	start, err := k.StartNs()
	if err != nil || start != 0 {
		t.Fatalf("start %d, error %v", start, err)
	}
	var all []TimedCall
	end := start
	for c, err := range k.TimedCalls(0) {
		if err != nil {
			t.Fatal(err)
		}
		d, g := c.Timing.Duration, c.Timing.Gap
		if d.Ns != 100 || g.Ns != 10 || d.Kind != MeanSample || g.Kind != MeanSample {
			t.Fatalf("call %d: took %v after %v", c.Index, d, g)
		}
		if c.StartNs < end {
			t.Fatalf("call %d starts at %d, the one before ended at %d", c.Index, c.StartNs, end)
		}
		end = c.EndNs()
		all = append(all, c)
	}
	if n := k.CallCount(0); uint64(len(all)) != n {
		t.Fatalf("%d calls of %d", len(all), n)
	}
	if end > p.FirstThreadNs {
		t.Errorf("last call ends at %d, the rank at %d", end, p.FirstThreadNs)
	}
	i := 100
	for c, err := range k.TimedCallsFrom(0, 100) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Index != all[i].Index || c.StartNs != all[i].StartNs || c.Timing != all[i].Timing {
			t.Fatalf("call %d sought: %+v, walked: %+v", i, c, all[i])
		}
		i++
	}
	i = 0
	for c, err := range k.TimedTerminals(0) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Index != all[i].Index || c.Terminal != all[i].Terminal || c.StartNs != all[i].StartNs || c.Timing != all[i].Timing {
			t.Fatalf("call %d alone: %+v, with parameters: %+v", i, c, all[i])
		}
		i++
	}
}
