package trace

import "testing"

// Raw times are those that were recorded, each with the kind of its call.
func TestRawTimes(t *testing.T) {
	c := sample(t)
	c.Series = sampleSeries(t)
	r := reopened(t, c)
	k, err := r.Rank(2)
	if err != nil {
		t.Fatal(err)
	}
	for stream := range k.Streams() {
		want, at := sampleTimes(int(k.CallCount(stream))), 0
		for raw, err := range k.RawTimes(stream) {
			if err != nil {
				t.Fatal(err)
			}
			for i, kind := range raw.CallKinds {
				call, err := k.Call(stream, uint64(at))
				if err != nil {
					t.Fatal(err)
				}
				if raw.GapTicks[i] != want[at].Gap || raw.DurationTicks[i] != want[at].Duration || raw.KindFunctions[kind] != call.Name() {
					t.Errorf("stream %d, call %d: gap %d, duration %d of %s, want %+v of %s", stream, at,
						raw.GapTicks[i], raw.DurationTicks[i], raw.KindFunctions[kind], want[at], call.Name())
				}
				at++
			}
		}
		if at != len(want) {
			t.Errorf("stream %d: times of %d calls, want %d", stream, at, len(want))
		}
	}
	// Rank 1 has none.
	if k, err = r.Rank(1); err != nil {
		t.Fatal(err)
	}
	for _, err := range k.RawTimes(0) {
		if err == nil {
			t.Error("rank 1 has times")
		}
	}
}
