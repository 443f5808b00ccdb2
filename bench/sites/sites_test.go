package main

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/internal/merge/mergetest"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace"
)

// traced returns the trace of a program of bench/scale.
func traced(t *testing.T, name string, ranks int) (*trace.Reader, uint64) {
	p, ok := skeleton.ByName(name)
	if !ok {
		t.Fatalf("no program %s", name)
	}
	var tracks []*track.Track
	calls := uint64(0)
	for rank := range ranks {
		v := vmpi.Run(p.Name, rank, ranks, p.Run)
		calls += v.Calls()
		tracks = append(tracks, v.Track())
	}
	return mergetest.Open(t, tracks, nil), calls
}

// Every program comes back call by call, in each way; measure compares all ranks.
func TestRoundTrip(t *testing.T) {
	for _, p := range skeleton.All {
		square := 9
		if p.Fits != nil && !p.Fits(square) {
			square = 8
		}
		for _, ranks := range []int{1, square} {
			if p.Fits != nil && !p.Fits(ranks) {
				continue
			}
			r, calls := traced(t, p.Name, ranks)
			m, err := measure(r)
			if err != nil {
				t.Errorf("%s on %d ranks: %v", p.Name, ranks, err)
				continue
			}
			if m.calls != calls || len(m.sizes) != len(ways) || slices.Min(m.sizes) < 10 {
				t.Errorf("%s on %d ranks: %+v, %d calls expected", p.Name, ranks, m, calls)
			}
		}
	}
}

// A trace that is made of the calls again has as many bytes, if there are no lanes; without what follows from requests it has fewer.
func TestNow(t *testing.T) {
	for _, name := range []string{"amr", "wany", "tsome"} {
		r, _ := traced(t, name, 8)
		m, err := measure(r)
		if err != nil {
			t.Fatal(err)
		}
		if m.now[0] != m.content || m.now[1] >= m.content {
			t.Errorf("%s: %d bytes, %d again, %d without what follows", name, m.content, m.now[0], m.now[1])
		}
	}
}

// What differs in one number is found.
func TestVerify(t *testing.T) {
	r, _ := traced(t, "amr", 4)
	for _, w := range ways {
		trees, err := treesOf(r, w.give.requests)
		if err != nil {
			t.Fatal(err)
		}
		for n := range trees[0].nodes {
			if trees[0].nodes[n].kind != value || len(trees[0].nodes[n].cols[2]) == 0 {
				continue
			}
			got, err := decode(encode(trees, w.give), r.Ranks(), r.Schema())
			if err != nil {
				t.Fatal(err)
			}
			got[0].nodes[n].cols[2][0] += 1000
			if _, err := verify(got, r, w.give.requests); err == nil || !strings.Contains(err.Error(), "rank 2") {
				t.Errorf("%s: column %d: %v", w.name, n, err)
			}
		}
	}
}

// In amr, who the neighbours are and how much they get is the same in all eight rounds, for sends what it is for receives, and in what
// Waitall returns: so of all columns only few keep numbers, and those of one round.
func TestKept(t *testing.T) {
	r, _ := traced(t, "amr", 16)
	trees, err := treesOf(r, true)
	if err != nil {
		t.Fatal(err)
	}
	f := newFitter(trees[0], ways[len(ways)-1].give)
	receives, numbers := 0, 0
	var columns []string
	for n := range trees[0].nodes {
		x := &trees[0].nodes[n]
		if x.kind.column() {
			if m := f.fit(n); m.way == kept {
				for _, list := range f.lists(n, &m) {
					numbers += len(list)
				}
				columns = append(columns, map[kind]string{loop: "loop", value: "value", status: "status"}[x.kind])
			}
		}
		f.known(n)
	}
	for i := range trees[0].sites {
		if s := &trees[0].sites[i]; s.function.Name == "MPI_Irecv" {
			for rank := range r.Ranks() {
				for _, n := range trees[0].nodes[s.call].cols[rank] {
					receives += int(n)
				}
			}
		}
	}
	// Neighbours, sizes and forms of statuses, in one round of eight; how many there are, in six phases.
	if want := receives/8*4 + 6*16; numbers != want || !slices.Equal(columns, []string{"loop", "value", "value", "status"}) {
		t.Errorf("%d numbers are kept in %v, %d expected", numbers, columns, want)
	}
}

// Lists come back in each coding.
func TestKeep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 3))
		lists := rapid.SliceOfN(rapid.SliceOfN(number, 0, 5), 1, 9).Draw(t, "lists")
		var sizes []int
		for _, l := range lists {
			sizes = append(sizes, len(l))
		}
		for _, b := range append([][]byte{keep(lists)}, inAll(lists)...) {
			r := wire.NewReader(b, "lists")
			got := readKept(r, sizes)
			if err := r.Done(); err != nil {
				t.Fatal(err)
			}
			for rank := range lists {
				if !slices.Equal(got[rank], lists[rank]) {
					t.Fatalf("coding %d: %v, %v expected", b[0], got, lists)
				}
			}
		}
	})
}

func inAll(lists [][]int64) (out [][]byte) {
	for coding := range codings {
		out = append(out, keepAs(lists, coding, false))
		if coding != formed {
			out = append(out, keepAs(lists, coding, true))
		}
	}
	return out
}
