package stats

import "testing"

func TestMedian(t *testing.T) {
	for _, x := range []struct {
		list []uint64
		want float64
	}{{nil, 0}, {[]uint64{7}, 7}, {[]uint64{9, 1}, 5}, {[]uint64{3, 1, 2}, 2}, {[]uint64{4, 1, 3, 2}, 2.5}} {
		if got := Median(x.list); got != x.want {
			t.Errorf("%v: %v, want %v", x.list, got, x.want)
		}
	}
}
