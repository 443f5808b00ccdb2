package merge

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A garbler is a transport on which one rank's message arrives damaged.
type garbler struct {
	Transport
	change func(msg []byte) []byte
}

func (g garbler) Send(to int, msg []byte) error { return g.Transport.Send(to, g.change(msg)) }

func run(t *testing.T, tracks []*track.Track, wrap func(rank int, tp Transport) Transport) *MergedBlock {
	t.Helper()
	var wg sync.WaitGroup
	var root *MergedBlock
	for i, tp := range LocalTransports(len(tracks)) {
		wg.Go(func() {
			s, err := Merge(wrap(i, tp), tracks[i])
			if err != nil {
				t.Errorf("rank %d: %v", i, err)
			}
			if i == 0 {
				root = s
			}
		})
	}
	wg.Wait()
	return root
}

// Rank 6's message holds ranks 6 and 7. If it is damaged these two are missing,
// the others are there, and the trace says what happened.
func TestDamagedMessage(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"empty":      func([]byte) []byte { return nil },
		"short":      func(msg []byte) []byte { return msg[:len(msg)/2] },
		"long":       func(msg []byte) []byte { return append(msg, 0) },
		"other rank": func(msg []byte) []byte { return append([]byte{plainMessage}, lost(5, 2, errOrder).appendBody(nil)...) },
	} {
		t.Run(name, func(t *testing.T) {
			tracks := tracktest.RunAll(8, tracktest.Stencil(3))
			s := run(t, tracks, func(rank int, tp Transport) Transport {
				if rank == 6 {
					return garbler{tp, change}
				}
				return tp
			})
			if len(s.Problems) != 1 || s.Problems[0].FirstRank != 6 || s.Problems[0].Ranks != 2 {
				t.Fatalf("problems %v", s.Problems)
			}
			missing(t, s, 8, 6, 7)
		})
	}
}

// A rank with a track that contradicts itself is left out, and nobody waits
// for it.
func TestBadTrack(t *testing.T) {
	for name, spoil := range map[string]func(tr *track.Track){
		"order": func(tr *track.Track) {
			tr.Streams[0].Grammar = tr.Streams[0].Grammar.Renumber(func(n uint32) uint32 { return n ^ 1 })
		},
		"times": func(tr *track.Track) { tr.Times = tr.Times[1:] },
		"rank":  func(tr *track.Track) { tr.Rank = 7 },
		"same string hash": func(tr *track.Track) {
			tr.Strings[77] = "other"
		},
	} {
		t.Run(name, func(t *testing.T) {
			tracks := tracktest.RunAll(4, tracktest.Stencil(3))
			tracks[0].Strings[77] = "one"
			spoil(tracks[3])
			s := run(t, tracks, func(_ int, tp Transport) Transport { return tp })
			if len(s.Problems) != 1 {
				t.Fatalf("problems %v", s.Problems)
			}
			if name == "same string hash" {
				missing(t, s, 4, 2, 3) // found where ranks 2 and 3 arrive together
			} else {
				missing(t, s, 4, 3)
			}
		})
	}
}

// missing checks that a trace of a state lacks just the given ranks.
func missing(t *testing.T, s *MergedBlock, size int, want ...int) {
	t.Helper()
	c, err := s.Content(nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sections.EncodeFile(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := trace.ReadBytes(b, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Check(r); err != nil {
		t.Error(err)
	}
	if r.Ranks() != size || !strings.Contains(r.Meta()["problem.0"], "rank") {
		t.Errorf("%d ranks, meta %v", r.Ranks(), r.Meta())
	}
	for rank := range size {
		_, err := r.Rank(rank)
		gone := false
		for _, w := range want {
			gone = gone || w == rank
		}
		if gone != errors.Is(err, trace.ErrNoTrack) || !gone && err != nil {
			t.Errorf("rank %d: error %v", rank, err)
		}
	}
}

func TestMergeAllRefuses(t *testing.T) {
	tr := tracktest.Run(0, 1, tracktest.Stencil(1))
	if _, err := MergeAll([]*track.Track{tr, tr}, 0); err == nil {
		t.Error("two tracks of one rank")
	}
	if _, err := MergeAll([]*track.Track{{Rank: -1}}, 0); err == nil {
		t.Error("a rank below 0")
	}
	s, err := MergeAll([]*track.Track{tr}, 5)
	if err != nil || s.Ranks() != 5 {
		t.Fatalf("state %v, error %v", s, err)
	}
	if _, err := s.Content(nil); err != nil {
		t.Error(err)
	}
}

// Large messages travel compressed and arrive the same.
func TestLargeMessage(t *testing.T) {
	tr := tracktest.Run(0, 1, func(r *tracktest.Recorder) {
		for i := range 9000 {
			r.Send(i%50, int64(i), 0, 1)
		}
	})
	tr.Strings = make(map[uint64]string)
	for i := range 500 {
		tr.Strings[uint64(i)] = fmt.Sprintf("communicator of row %d", i)
	}
	s, err := leaf(tr, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	msg := s.encode()
	if msg[0] != compressedMessage {
		t.Fatalf("message of %d bytes is not compressed", len(msg))
	}
	back, err := decode(msg, &MergedBlock{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.appendBody(nil), s.appendBody(nil)) {
		t.Error("not what was sent")
	}
}

func FuzzMessage(f *testing.F) {
	for _, size := range []int{1, 4} {
		s, err := MergeAll(tracktest.RunAll(size, tracktest.Stencil(2)), 0)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.encode())
	}
	for _, program := range []func(*tracktest.Recorder){tracktest.Counting(20), tagged(2, 12, 0, func(rank, _, i int) int64 { return int64(i * rank) })} {
		s, err := MergeAll(tracktest.RunAll(3, program), 0)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.encode())
	}
	f.Add(lost(3, 2, errOrder).encode())
	f.Fuzz(func(t *testing.T, msg []byte) {
		s, err := decode(msg, &MergedBlock{})
		if err != nil {
			return
		}
		again, err := decode(s.encode(), &MergedBlock{})
		if err != nil {
			t.Fatalf("what was decoded can't be sent on: %v", err)
		}
		if !bytes.Equal(again.appendBody(nil), s.appendBody(nil)) {
			t.Fatal("changes when sent on")
		}
		if s.first > 0 && s.ranks < 1000 {
			if err := lost(s.first-1, 1, errOrder).join(s); err != nil {
				t.Fatalf("can't join: %v", err)
			}
		}
		if s.ranks < 100 { // whatever it says, that is no reason to end the program
			if c, err := s.Content(nil); err == nil {
				sections.EncodeFile(c)
			}
			for _, c := range s.classes {
				long := func(p subclass) bool {
					return slices.ContainsFunc(p.repeated(), func(g *grammar.Grammar) bool { return g.Check() != nil || g.Len() > 1000 })
				}
				if c.sequence() == 0 || slices.ContainsFunc(c.parts(), long) {
					continue // slow, that is all
				}
				if u := unite([]*class{c}); u != nil && u.class.ranks.Len() != c.ranks.Len() {
					t.Fatalf("%d ranks of %d", u.class.ranks.Len(), c.ranks.Len())
				}
			}
		}
	})
}
