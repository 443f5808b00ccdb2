package report

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestArrange(t *testing.T) {
	for name, c := range map[string]struct {
		streams   []int
		rows, bin int
	}{
		"one":              {[]int{1}, 1, 1},
		"threads":          {[]int{3, 1, 2}, 6, 1},
		"missing":          {[]int{0, 1, 0, 2}, 3, 1},
		"many ranks":       {slices.Repeat([]int{1}, 16384), 256, 64},
		"ranks of threads": {slices.Repeat([]int{4}, 128), 256, 2},
		"many threads":     {[]int{300, 1}, 256, 2},
	} {
		tl := Timeline{}
		rows := tl.arrange(c.streams)
		if len(rows) != c.rows || len(tl.Rows) != c.rows || tl.Bin != c.bin {
			t.Errorf("%s: %d rows in bins of %d, want %d of %d", name, len(rows), tl.Bin, c.rows, c.bin)
		}
	}
}

// However many ranks and threads: rows are bounded, and each thread is in one.
func TestArrangeAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		streams := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 600).Draw(t, "streams")
		tl := Timeline{}
		rows := tl.arrange(streams)
		if len(rows) > maxRows {
			t.Fatalf("%d rows", len(rows))
		}
		seen := make([]int, len(streams))
		for i, list := range rows {
			r := tl.Rows[i]
			if len(list) == 0 || r.First != list[0].rank || r.Last != list[len(list)-1].rank {
				t.Fatalf("row %+v of %v", r, list)
			}
			for _, x := range list {
				if seen[x.rank]++; x.rank/tl.Bin != r.First/tl.Bin || x.stream < r.Thread || x.stream > r.Thread && !r.More {
					t.Fatalf("row %+v has %+v", r, x)
				}
			}
		}
		if !slices.Equal(seen, streams) {
			t.Fatalf("threads by rank %v, want %v", seen, streams)
		}
	})
}
