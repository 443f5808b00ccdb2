package sections

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// drawFollowed draws calls from a few sites.
func drawFollowed(t *rapid.T) (*followed, int) {
	n := rapid.IntRange(1, 40).Draw(t, "calls")
	if rapid.Bool().Draw(t, "stacks") {
		return &followed{}, n
	}
	f := &followed{calls: make([][]int32, rapid.IntRange(1, 9).Draw(t, "sites"))}
	for n := range n {
		s := rapid.IntRange(0, len(f.calls)-1).Draw(t, "site")
		f.site, f.at = append(f.site, int32(s)), append(f.at, int32(len(f.calls[s])))
		f.calls[s] = append(f.calls[s], int32(n))
	}
	return f, n
}

// Lists of calls come back, those with calls that are there several times, too.
func TestFollowing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, calls := drawFollowed(t)
		list := rapid.SliceOfN(rapid.IntRange(0, calls-1), 0, 60).Draw(t, "list")
		b := f.append(nil, list)
		r := wire.NewReader(b, "list")
		if b := r.Byte(); b != following {
			t.Fatalf("begins with %d", b)
		}
		got := f.decode(r, len(list), calls)
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, list) {
			t.Fatalf("%v, want %v", got, list)
		}
	})
}

// Damaged lists are errors.
func TestFollowingDamaged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, calls := drawFollowed(t)
		n := rapid.IntRange(0, 20).Draw(t, "length")
		r := wire.NewReader(rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, "bytes"), "list")
		list := f.decode(r, n, calls)
		if r.Err() != nil {
			return
		}
		if len(list) != n {
			t.Fatalf("%d calls of %d", len(list), n)
		}
		for _, c := range list {
			if c < 0 || c >= calls {
				t.Fatalf("call %d of %d", c, calls)
			}
		}
	})
	r := wire.NewReader(nil, "list")
	if (*followed)(nil).decode(r, 1, 1); r.Err() == nil {
		t.Error("a list that follows no table was read")
	}
}

// A program that goes through its code, now and then past a call, takes few bits for each, where their numbers take several.
func TestFollowingIsShort(t *testing.T) {
	f := &followed{calls: make([][]int32, 50)}
	for n := range 4000 {
		s := int32(n / 80)
		f.site, f.at = append(f.site, s), append(f.at, int32(len(f.calls[s])))
		f.calls[s] = append(f.calls[s], int32(n))
	}
	chance := rand.New(rand.NewPCG(1, 2))
	var list []int
	next := make([]int, len(f.calls))
	for range 80 {
		for s := range f.calls {
			if chance.IntN(10) < 6 {
				list = append(list, int(f.calls[s][next[s]]))
				next[s]++
			}
		}
	}
	mixed := func(b []byte) int {
		out, _ := wire.CompressContextMixing(b)
		return len(out)
	}
	if a, b := mixed(f.append(nil, list)), mixed(appendList(nil, list, false, nil, nil)); 2*a > b {
		t.Errorf("%d bytes, as numbers %d", a, b)
	}
}
