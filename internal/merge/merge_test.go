package merge_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// throughTree merges tracks as virtual ranks with a transport.
func throughTree(t require, tracks []*track.Track) *merge.MergedBlock {
	var wg sync.WaitGroup
	var root *merge.MergedBlock
	for i, tp := range merge.LocalTransports(len(tracks)) {
		wg.Go(func() {
			s, err := merge.Merge(tp, tracks[i])
			if err != nil {
				t.Errorf("rank %d: %v", i, err)
			}
			if (s != nil) != (i == 0) {
				t.Errorf("rank %d: state %v", i, s)
			}
			if i == 0 {
				root = s
			}
		})
	}
	wg.Wait()
	return root
}

type require interface {
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

func file(t require, s *merge.MergedBlock) []byte {
	c, err := s.Content(map[string]string{trace.MetaCommand: "./app"})
	if err != nil {
		t.Fatalf("%v", err)
	}
	b, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return b
}

func readerOf(b []byte) (*trace.Reader, error) {
	return trace.ReadBytes(b, "test")
}

// same checks that a trace gives back what each track has.
func same(t require, b []byte, tracks []*track.Track) {
	r, err := readerOf(b)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := trace.Check(r); err != nil {
		t.Fatalf("%v", err)
	}
	if r.Ranks() != len(tracks) {
		t.Fatalf("%d ranks, want %d", r.Ranks(), len(tracks))
	}
	for rank, tr := range tracks {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if k.Streams() != len(tr.Streams) || k.Terminals() != len(tr.Signatures) {
			t.Fatalf("rank %d: %d streams, %d terminals", rank, k.Streams(), k.Terminals())
		}
		for i, sig := range tr.Signatures {
			if got := k.Signature(i); !slices.Equal(got, sig.Values) {
				t.Fatalf("rank %d: terminal %d: values %v, want %v", rank, i, got, sig.Values)
			}
			c, err := k.Terminal(i)
			if err != nil {
				t.Fatalf("%v", err)
			}
			around, stack := tr.CallerSite[sig.Site]
			if stack != (c.Site.Caller != nil) || stack && !samePlace(*c.Site.Caller, tr.Sites[around]) {
				t.Fatalf("rank %d: terminal %d: called from %v", rank, i, c.Site.Caller)
			}
			if c.Func.ID != sig.FunctionID || !samePlace(c.Site.WithoutCallers(), tr.Sites[sig.Site]) {
				t.Fatalf("rank %d: terminal %d: %s at %v", rank, i, c.Name(), c.Site)
			}
		}
		for s := range tr.Streams {
			next := uint64(0)
			var want []uint32
			var vals [][]int64
			for n, sig := range tracktest.Calls(tr, s) {
				want, vals = append(want, n), append(vals, sig.Values)
			}
			at := 0
			for n, got := range k.Signatures(s) {
				if n != int(want[at]) || !slices.Equal(got, vals[at]) {
					t.Fatalf("rank %d: call %d: terminal %d, values %v, want %d, %v", rank, at, n, got, want[at], vals[at])
				}
				at++
			}
			for c, err := range k.Calls(s) {
				if err != nil {
					t.Fatalf("%v", err)
				}
				if c.Index != next || c.Stream != s || c.Rank != rank || c.Terminal != int(want[next]) {
					t.Fatalf("rank %d: call %d: %+v", rank, next, c)
				}
				next++
			}
			if next != uint64(len(want)) || k.CallCount(s) != next {
				t.Fatalf("rank %d: %d calls, want %d", rank, next, len(want))
			}
		}
		p, err := k.Process()
		away := func(a, b int64) int64 { return max(a-b, b-a) }
		if q := tr.Process; err != nil || away(p.FirstThreadNs, q.SpanNs) > trace.ProcessRoundingErrorNs(p.FirstThreadNs, r.Ranks())+1 ||
			away(p.InitWallClockNs+p.FirstThreadNs, q.StartNs+q.SpanNs) > 5e5 {
			t.Fatalf("rank %d: process %+v, want times %+v, error %v", rank, p, q, err)
		}
		if q := tr.Process; p.Host != q.Host || p.PID != 0 || p.EndState != q.EndState || p.Threads != q.Threads || p.LostCalls != q.LostCalls {
			t.Fatalf("rank %d: process %+v, want %+v, error %v", rank, p, q, err)
		}
	}
}

// Every regular program comes back rank by rank, whatever the number of ranks.
func TestPrograms(t *testing.T) {
	programs := map[string]func(*tracktest.Recorder){
		"stencil": tracktest.Stencil(10), "butterfly": tracktest.Butterfly(3),
		"transpose": tracktest.Transpose(5), "workers": tracktest.Workers(60),
		"uneven": uneven, "idle": func(*tracktest.Recorder) {},
	}
	for name, program := range programs {
		for _, size := range []int{1, 2, 3, 4, 7, 16, 36} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				tracks := tracktest.RunAll(size, program)
				b := file(t, throughTree(t, tracks))
				same(t, b, tracks)
			})
		}
	}
}

// uneven is a program whose loops, one within the other, run unequally often.
func uneven(r *tracktest.Recorder) {
	r.Begin()
	for range 3 + r.Rank*7%5 {
		r.Recv(10, 8, 0, 1)
		for range 2 + r.Rank%3 {
			r.Allreduce(11, 4)
		}
		r.Send(12, int64(r.Rank), 0, 2)
	}
	r.End()
}

// randomTracks draws ranks that partly do the same.
func randomTracks(t *rapid.T) []*track.Track {
	size := rapid.IntRange(1, 12).Draw(t, "size")
	kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
	return tracktest.RunAll(size, func(r *tracktest.Recorder) {
		label := fmt.Sprintf("kind %d", r.Rank%kinds)
		odd := rapid.IntRange(0, 5).Draw(t, "odd rank") == 0
		r.Begin()
		for range 2 + r.Rank%kinds {
			r.Send(10, int64(100*r.Rank), int64((r.Rank+1)%r.Size), 4)
			r.Recv(11, 5, int64(r.Rank^1), 4)
			if odd {
				r.Isend(12, rapid.Int64().Draw(t, "count"), 0, rapid.Int64Range(-2, 9).Draw(t, "tag"))
				r.Waitall(13, 1)
			}
		}
		laps := rapid.IntRange(0, 9).Draw(t, "laps")
		step := rapid.SliceOfN(rapid.Int64Range(-3, 3), 1, 4).Draw(t, "steps")
		for i := range laps {
			tag := int64(1000*r.Rank) + int64(i)*step[i%len(step)]
			r.LaneOn(0, "MPI_Send", 16, []int{2, 5}, 0, 1<<8|1, 8*tag, 1, tracktest.IntType, 1, tag, tracktest.World)
			r.LaneOn(int(step[0])&1, "MPI_Send", 17, []int{5}, 0, 1<<8|1, 0, 1, tracktest.IntType, 1, int64(uint64(i*r.Rank+i)*0x9e3779b97f4a7c15), tracktest.World)
		}
		if r.Rank%kinds == 1 {
			r.CallOn(1, "MPI_Comm_get_name", 14, 0, tracktest.World, r.String(label), int64(len(label)))
			r.CallOn(1, "MPI_Send", 15, 6, 1<<8|1, 0, 1, tracktest.IntType, 99, 0, tracktest.World)
		}
		r.End()
	})
}

// Any tracks survive merge, file and reader; and the file is the same whether
// the ranks were merged over a tree or one after the other.
func TestRandomTracks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tracks := randomTracks(t)
		tree := file(t, throughTree(t, tracks))
		same(t, tree, tracks)
		shuffled := rapid.Permutation(tracks).Draw(t, "order")
		s, err := merge.MergeAll(shuffled, 0)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if row := file(t, s); !bytes.Equal(tree, row) {
			t.Fatalf("files of %d and %d bytes differ", len(tree), len(row))
		}
	})
}

// Classes are as few as behaviours, and but for what was measured a file hardly grows with ranks.
func TestClassesAndSize(t *testing.T) {
	if testing.Short() {
		t.Skip("a long loop of one goroutine")
	}
	for _, tc := range []struct {
		name    string
		program func(*tracktest.Recorder)
		classes int
	}{
		{"stencil", tracktest.Stencil(50), 1},
		{"transpose", tracktest.Transpose(50), 1},
		{"butterfly", tracktest.Butterfly(50), 1},
		{"uneven", uneven, 1},
	} {
		size := func(ranks int) int {
			s, err := merge.MergeAll(tracktest.RunAll(ranks, tc.program), 0)
			if err != nil {
				t.Fatal(err)
			}
			if s.Classes() != tc.classes {
				t.Errorf("%s on %d ranks: %d classes, want %d", tc.name, ranks, s.Classes(), tc.classes)
			}
			b := file(t, s)
			r, err := readerOf(b)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for _, sec := range r.Sections() {
				t.Logf("%s on %d ranks: %-10s %6d of %6d", tc.name, ranks, sec.Name, sec.StoredBytes, sec.RawBytes)
				if sec.Name != "process" && sec.Name != "times" && sec.Name != "totals" {
					sum += int(sec.StoredBytes)
				}
			}
			return sum
		}
		small, large := size(64), size(1024)
		t.Logf("%s: %d bytes on 64 ranks, %d on 1024", tc.name, small, large)
		if large > small+small/2 {
			t.Errorf("%s: %d bytes on 64 ranks, but %d on 1024", tc.name, small, large)
		}
	}
}

func samePlace(s trace.Site, t track.Site) bool {
	return s == trace.Site{Module: t.Module, BuildID: t.BuildID, Offset: t.Offset}
}
