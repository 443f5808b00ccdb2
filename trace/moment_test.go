package trace

import "testing"

// At any time the call found is the last of all that began by then.
func TestAt(t *testing.T) {
	for _, exact := range []bool{false, true} {
		c := sample(t)
		if exact {
			c.Series = sampleSeries(t)
		}
		b, err := Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := open(b)
		if err != nil {
			t.Fatal(err)
		}
		k, err := r.Rank(2)
		if err != nil {
			t.Fatal(err)
		}
		var all []TimedCall
		for c, err := range k.Timed(0) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		kind := MeanSample
		if exact {
			kind = ExactSample
		}
		end := all[len(all)-1].End()
		inside := 0
		for ns := all[0].Start - 100; ns < end+100; ns += max(1, (end-all[0].Start)/997) {
			m, err := k.At(0, ns)
			if err != nil {
				t.Fatal(err)
			}
			want := -1
			for i := range all {
				if all[i].Start <= ns {
					want = i
				}
			}
			if m.Kind != kind || (m.Call.Call == nil) != (want < 0) {
				t.Fatalf("exact %v: at %d: %+v, want call %d", exact, ns, m, want)
			}
			if want < 0 {
				continue
			}
			if m.Call.Index != uint64(want) || exact && m.Inside != (ns < all[want].End()) {
				t.Fatalf("exact %v: at %d: call %d, inside %v; want %d", exact, ns, m.Call.Index, m.Inside, want)
			}
			if m.Inside {
				inside++
			}
		}
		if inside < 100 {
			t.Errorf("exact %v: inside a call only %d times", exact, inside)
		}
	}
}
