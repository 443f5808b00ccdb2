package signature

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// array is a list behind its length.
func array(list ...int64) []int64 { return append([]int64{int64(len(list))}, list...) }

// sums are the displacements of pieces that lie side by side, the first one at from.
func sums(from int64, counts []int64) []int64 {
	list := array(make([]int64, len(counts))...)
	for i, c := range counts {
		list[i+1] = from
		from += c
	}
	return list
}

// What is left out comes back, whatever the numbers are; one displacement that is no
// sum keeps all.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		counts := make([]int64, 2+r.IntN(40))
		for i := range counts {
			switch r.IntN(8) {
			case 0:
				counts[i] = int64(r.Uint64())
			case 1:
				counts[i] = 0
			default:
				counts[i] = r.Int64N(1000) - 3
			}
		}
		all, plain := array(counts...), sums(int64(r.Uint64())>>r.IntN(64), counts)
		got := slices.Clone(plain)
		if !OmitSummedDispls(all, got) {
			t.Fatalf("%v are the sums of %v", plain, counts)
		}
		if n, summed := ArrayLength(got[0]); !summed || n != int64(len(counts)) || got[1] != plain[1] {
			t.Fatalf("%v of %v: length %d, %v", got, plain, n, summed)
		}
		for i, v := range got[2:] {
			if v != 0 {
				t.Fatalf("displacement %d is still %d", i+1, v)
			}
		}
		if !RestoreSummedDispls(all, got) || !slices.Equal(got, plain) {
			t.Fatalf("%v became %v", plain, got)
		}
		one := 2 + r.IntN(len(counts)-1)
		got[one] += 1 + r.Int64N(100)
		almost := slices.Clone(got)
		if OmitSummedDispls(all, got) || !slices.Equal(got, almost) {
			t.Fatalf("displacement %d of %v is no sum of %v", one, almost, counts)
		}
	}
}

// Arrays that can't be left out stay, those that nobody left out are not filled in.
func TestNoSums(t *testing.T) {
	for _, x := range []struct {
		what           string
		counts, displs []int64
	}{
		{"empty", array(), array()},
		{"one", array(3), array(0)},
		{"not there", []int64{-4}, []int64{-4}},
		{"no counts", []int64{-4}, array(0, 0)},
		{"fewer counts", array(1), array(0, 1)},
		{"more counts", array(1, 2, 3), array(0, 1)},
		{"nothing at all", nil, nil},
	} {
		counts, displs := slices.Clone(x.counts), slices.Clone(x.displs)
		if OmitSummedDispls(counts, displs) || !slices.Equal(displs, x.displs) || !slices.Equal(counts, x.counts) {
			t.Errorf("%s: left out", x.what)
		}
		if RestoreSummedDispls(counts, displs) || !slices.Equal(displs, x.displs) {
			t.Errorf("%s: filled in", x.what)
		}
	}
	for _, displs := range [][]int64{
		{-8}, {-8, 0}, {-8, 0, 1}, {-9, 0, 0}, {-7, 0, 0}, {-6, 0, 0}, {-5, 0, 0}, {math.MinInt64, 0, 0}, {math.MaxInt64, 0, 0},
	} {
		got := slices.Clone(displs)
		if RestoreSummedDispls(array(1, 2), got) || !slices.Equal(got, displs) {
			t.Errorf("%v was filled in", displs)
		}
	}
	for _, v := range []int64{-7, -6, -5, -1, 0, 1, math.MaxInt64} {
		if n, summed := ArrayLength(v); summed || n != v {
			t.Errorf("length %d stands for %d, summed %v", v, n, summed)
		}
	}
	if n, summed := ArrayLength(math.MinInt64); !summed || n < 0 {
		t.Errorf("least length stands for %d", n)
	}
}
