package deliver_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A world is virtual ranks that run a program and bring their trace home.
type world struct {
	ranks   int
	program func(r *tracktest.Recorder)
	timed   func(rank int) bool
	change  func(rank int, k *deliver.RankPart) // what is odd about a rank, before it merges
	places  []string
}

// ends is how the ranks of a world ended.
type ends struct {
	deliver.Delivery
	whole []bool
}

func (w *world) run(t *testing.T) *ends {
	t.Helper()
	tracks := tracktest.RunAll(w.ranks, w.program)
	e := &ends{whole: make([]bool, w.ranks)}
	var wg sync.WaitGroup
	for i, tp := range merge.LocalTransports(w.ranks) {
		k := &deliver.RankPart{Transport: tp, Host: 1}
		tr := tracks[i]
		if w.timed != nil && w.timed(i) {
			tracktest.Timed(tr, timing.ModeLossless, func(n int) (gap, duration uint64) { return uint64(n), uint64(100 + i) })
			var b bytes.Buffer
			n, err := merge.WriteCallTimes(tr, &b)
			if err != nil {
				t.Fatal(err)
			}
			k.Times = &deliver.SeriesPiece{Size: n, Checksum: crc32.Checksum(b.Bytes(), wire.Castagnoli), Write: func(w io.Writer) error {
				_, err := w.Write(b.Bytes())
				return err
			}}
		}
		if w.change != nil {
			w.change(i, k)
		}
		wg.Go(func() {
			s, g, err := merge.MergeAndPlanGathering(k.Transport, tr, nil)
			if err != nil {
				g = &merge.SeriesGathering{}
			}
			k.SeriesGathering = g
			if i > 0 {
				e.whole[i], _ = deliver.DeliverOnRank(k)
				return
			}
			var places []deliver.Destination
			for _, p := range w.places {
				places = append(places, deliver.Destination{Name: p})
			}
			e.Delivery = deliver.DeliverOnRoot(k, func(times *sections.Series) (*sections.Content, bool, error) {
				c, err := s.Content(nil)
				c.Series = times
				return c, len(s.Problems) == 0, err
			}, places)
			e.whole[0] = e.Complete
		})
	}
	wg.Wait()
	return e
}

// told fails unless all ranks but those have been told the same.
func (e *ends) told(t *testing.T, whole bool, but ...int) {
	t.Helper()
	odd := make(map[int]bool)
	for _, rank := range but {
		odd[rank] = true
	}
	for rank, w := range e.whole {
		if w != whole && !odd[rank] {
			t.Errorf("rank %d believes that the trace is whole: %v, want %v; %+v", rank, w, whole, e.Delivery)
		}
	}
}

// check opens the trace and compares the times of all calls with what logOf made up.
func (w *world) check(t *testing.T, path string) {
	t.Helper()
	r, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := trace.Check(r); err != nil {
		t.Fatal(err)
	}
	if r.Ranks() != w.ranks {
		t.Fatalf("%d ranks of %d", r.Ranks(), w.ranks)
	}
	for rank := range w.ranks {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range k.TimedCalls(0) {
			if err != nil {
				t.Fatal(err)
			}
			want := trace.Sample{Ns: uint64(100 + rank), Kind: trace.ExactSample}
			if w.timed == nil || !w.timed(rank) {
				if c.Timing.Duration.Kind != trace.MeanSample {
					t.Fatalf("rank %d, call %d: %+v", rank, c.Index, c.Timing)
				}
			} else if c.Timing.Duration != want || c.Timing.Gap.Ns != c.Index {
				t.Fatalf("rank %d of %d, call %d: %+v, want %+v", rank, w.ranks, c.Index, c.Timing, want)
			}
		}
	}
}

// files lists what is in a folder.
func files(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func elsewhere(string, []byte, bool) (io.WriterAt, func() error, error) {
	return nil, nil, errors.New("not here")
}

// Ranks write their times into the file side by side, or send them where they can't reach it.
func TestTimes(t *testing.T) {
	for _, ranks := range []int{1, 2, 5, 16, 23} {
		for name, apart := range map[string]func(rank int) bool{
			"shared": func(int) bool { return false }, "apart": func(int) bool { return true }, "some": func(rank int) bool { return rank%3 > 0 },
		} {
			for times, timed := range map[string]func(rank int) bool{
				"all": func(int) bool { return true }, "two thirds": func(rank int) bool { return rank%3 != 1 }, "none": func(int) bool { return false },
			} {
				t.Run(fmt.Sprintf("%d %s, %s", ranks, name, times), func(t *testing.T) {
					dir := t.TempDir()
					w := &world{ranks: ranks, program: tracktest.Transpose(6), timed: timed, places: []string{filepath.Join(dir, "app")}}
					w.change = func(rank int, k *deliver.RankPart) {
						if apart(rank) {
							k.Open = elsewhere
						}
					}
					e := w.run(t)
					e.told(t, true)
					if len(e.DestinationErrors) > 0 || e.MissingTimesReason != nil {
						t.Errorf("%+v", e.Delivery)
					}
					w.check(t, e.Path)
					if got := files(t, dir); got != "app" {
						t.Errorf("files: %s", got)
					}
				})
			}
		}
	}
}

// A full disk, as any rank may find it.
type full struct{ left int }

func (f *full) WriteAt(p []byte, _ int64) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

// Where a file can't be made or filled, the next place is tried, and its trace has everything.
func TestNextPlace(t *testing.T) {
	for _, ranks := range []int{1, 2, 7, 16} {
		dir := t.TempDir()
		missing := filepath.Join(dir, "gone", "app")
		w := &world{ranks: ranks, program: tracktest.Transpose(6), timed: func(int) bool { return true }, places: []string{missing, filepath.Join(dir, "app")}}
		e := w.run(t)
		e.told(t, true)
		if e.DestinationIndex != 1 || len(e.DestinationErrors) != 1 || !errors.Is(e.DestinationErrors[0], os.ErrNotExist) {
			t.Errorf("%d ranks: %+v", ranks, e.Delivery)
		}
		w.check(t, e.Path)
		for odd := 1; odd < ranks; odd += 3 {
			dir := t.TempDir()
			w.places = []string{filepath.Join(dir, "full"), filepath.Join(dir, "app")}
			w.change = func(rank int, k *deliver.RankPart) {
				if rank == odd {
					k.Open = func(name string, token []byte, same bool) (io.WriterAt, func() error, error) {
						if strings.Contains(name, "full") {
							return &full{50}, func() error { return nil }, nil
						}
						return deliver.OpenShared(name, token, same)
					}
				}
			}
			e := w.run(t)
			e.told(t, true)
			if e.DestinationIndex != 1 || len(e.DestinationErrors) != 1 || !strings.Contains(e.DestinationErrors[0].Error(), fmt.Sprintf("rank %d: no space left", odd)) {
				t.Errorf("%d ranks, rank %d: %+v", ranks, odd, e.Delivery)
			}
			w.check(t, e.Path)
			if got := files(t, dir); got != "app" {
				t.Errorf("files: %s", got)
			}
		}
	}
}

// Where no place takes the trace, all ranks keep what they have.
func TestNowhere(t *testing.T) {
	for _, timed := range []bool{false, true} {
		for _, ranks := range []int{1, 2, 7} {
			w := &world{ranks: ranks, program: tracktest.Stencil(3), timed: func(int) bool { return timed }, places: []string{"/nonexistent/a", "/nonexistent/b"}}
			e := w.run(t)
			e.told(t, false)
			if e.Path != "" || len(e.DestinationErrors) != 2 {
				t.Errorf("%+v", e.Delivery)
			}
		}
	}
}

// A name that another file has is not taken.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	for n := 1; n <= 3; n++ {
		w := &world{ranks: 3, program: tracktest.Stencil(3), timed: func(int) bool { return true }, places: []string{filepath.Join(dir, "app")}}
		if e := w.run(t); e.Path != filepath.Join(dir, filepath.Base(deliver.NumberedName("app", n))) {
			t.Errorf("%+v", e.Delivery)
		}
	}
}

// A mortal is a rank whose messages end after so many; who waits for it then learns
// that it is gone.
type mortal struct {
	*cemetery
	rank, left int
}

type cemetery struct {
	boxes map[[2]int]chan []byte
	dead  []chan struct{}
}

func mortals(n int) []*mortal {
	c := &cemetery{boxes: make(map[[2]int]chan []byte)}
	list := make([]*mortal, n)
	for i := range list {
		list[i] = &mortal{c, i, 1 << 30}
		c.dead = append(c.dead, make(chan struct{}))
		for k := range n {
			c.boxes[[2]int{i, k}] = make(chan []byte, 1)
		}
	}
	return list
}

var errDead = errors.New("dead")

func (m *mortal) Rank() int { return m.rank }
func (m *mortal) Size() int { return len(m.dead) }

func (m *mortal) lives() bool {
	if m.left--; m.left == -1 {
		close(m.dead[m.rank])
	}
	return m.left >= 0
}

func (m *mortal) Send(to int, msg []byte) error {
	if !m.lives() {
		return errDead
	}
	select {
	case m.boxes[[2]int{m.rank, to}] <- msg:
		return nil
	case <-m.dead[to]:
		return errDead
	}
}

func (m *mortal) Recv(from int) ([]byte, error) {
	if !m.lives() {
		return nil, errDead
	}
	box := m.boxes[[2]int{from, m.rank}]
	select {
	case msg := <-box:
		return msg, nil
	case <-m.dead[from]:
		select {
		case msg := <-box:
			return msg, nil
		default:
			return nil, errDead
		}
	}
}

// Whenever a rank dies, all others come to an end, and who believes that the trace is
// whole finds all there is in it.
func TestDeath(t *testing.T) {
	sizes := []int{2, 5, 8}
	if testing.Short() {
		sizes = sizes[:2]
	}
	for _, ranks := range sizes {
		for _, timed := range []bool{false, true} {
			for victim := range ranks {
				for lives := 0; ; lives++ {
					dir := t.TempDir()
					w := &world{ranks: ranks, program: tracktest.Stencil(2), timed: func(int) bool { return timed }, places: []string{filepath.Join(dir, "app")}}
					list := mortals(ranks)
					list[victim].left = lives
					w.change = func(rank int, k *deliver.RankPart) {
						k.Transport = list[rank]
						if rank%2 == 1 {
							k.Open = elsewhere
						}
					}
					e := w.run(t)
					for rank, whole := range e.whole {
						if whole {
							if rank != 0 && !e.whole[0] {
								t.Fatalf("rank %d believes in a trace that rank 0 has not made", rank)
							}
							w.check(t, e.Path)
							break
						}
					}
					if list[victim].left > 0 {
						e.told(t, true)
						break
					}
				}
			}
		}
	}
}

// A gauge counts what a rank sends.
type gauge struct {
	merge.Transport
	bytes, most int
}

func (g *gauge) Send(to int, msg []byte) error {
	g.bytes, g.most = g.bytes+len(msg), max(g.most, len(msg))
	return g.Transport.Send(to, msg)
}

// Times that can be written where they belong are sent to nobody, others a piece at a time.
func TestTimesAreNotCollected(t *testing.T) {
	ranks, size := 8, 5<<20
	if testing.Short() {
		ranks, size = 3, 1100<<10 // more than is sent at once
	}
	for _, apart := range []bool{false, true} {
		gauges := make([]*gauge, ranks)
		pieces := make([][]byte, ranks)
		dir := t.TempDir()
		w := &world{ranks: ranks, program: tracktest.Stencil(2), timed: func(int) bool { return true }, places: []string{filepath.Join(dir, "app")}}
		w.change = func(rank int, k *deliver.RankPart) {
			gauges[rank] = &gauge{Transport: k.Transport}
			k.Transport = gauges[rank]
			b := make([]byte, size)
			for i := range b {
				b[i] = byte(i*(2*rank+1)>>3 ^ i>>11)
			}
			pieces[rank] = b
			k.Times = &deliver.SeriesPiece{Size: int64(size), Checksum: crc32.Checksum(b, wire.Castagnoli), Write: func(w io.Writer) error {
				for part := b; len(part) > 0; part = part[min(len(part), 100_000):] {
					if _, err := w.Write(part[:min(len(part), 100_000)]); err != nil {
						return err
					}
				}
				return nil
			}}
			if apart {
				k.Open = elsewhere
			}
		}
		e := w.run(t)
		e.told(t, true)
		file, err := os.ReadFile(e.Path)
		if err != nil {
			t.Fatal(err)
		}
		for rank, g := range gauges {
			if !bytes.Contains(file, pieces[rank]) {
				t.Errorf("the times of rank %d are not in the file", rank)
			}
			if limit := 8 << 10; !apart && g.bytes > limit {
				t.Errorf("rank %d sent %d bytes", rank, g.bytes)
			}
			if limit := 1<<20 + 100; g.most > limit {
				t.Errorf("rank %d sent %d bytes at once", rank, g.most)
			}
		}
	}
}
