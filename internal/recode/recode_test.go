package recode

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/merge/mergetest"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/track/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// A move is what a rank does in a round of a random program.
type move func(r *tracktest.Recorder, stream int, round int64)

func heap(id int64) int64 { return id<<8 | 1 }

// moves are of all kinds: one value, lists, statuses, requests, what is made, what is left out of lists, what fails, phases, stacks, lanes.
func moves(size int64) []move {
	return []move{
		func(r *tracktest.Recorder, s int, k int64) {
			r.CallOn(s, "MPI_Send", 10, 0, heap(0), 8*k, k%3, tracktest.IntType, (int64(r.Rank)+1)%size, 7, tracktest.World)
		},
		func(r *tracktest.Recorder, s int, k int64) {
			r.CallOn(s, "MPI_Irecv", 11, 0, heap(1), 0, 4, tracktest.IntType, (int64(r.Rank)+k)%size, 7, tracktest.World, 2)
			r.CallOn(s, "MPI_Isend", 12, 0, heap(1), 0, k, tracktest.IntType, k%size, 7, tracktest.World, 2)
			r.CallOn(s, "MPI_Waitall", 13, 0, 2, 2, 4, 2, 2, 1, (int64(r.Rank)+k)%size, 7, 16, 0, 4, 0)
		},
		func(r *tracktest.Recorder, s int, k int64) {
			r.CallOn(s, "MPI_Irecv", 11, 0, heap(1), 0, 4, tracktest.IntType, -1, 7, tracktest.World, 2)
			r.CallOn(s, "MPI_Waitany", 14, 0, 3, 3, 0, 2, 0, 1, 1, k%size, 7, 16, 0)
		},
		func(r *tracktest.Recorder, s int, k int64) {
			list := []int64{0, heap(2), 0, 4, k, 1, 2, 3, 4, 0, k + 1, k + 2, k + 4, tracktest.IntType, heap(3), 0, 2, 1, 1, 2, 5, 9, tracktest.IntType, tracktest.World}
			if r.Rank%2 == 1 {
				list[8], list[10] = -10, 0 // displacements that follow
				list[11], list[12], list[9] = 0, 0, 0
			}
			r.CallOn(s, "MPI_Alltoallv", 15, list...)
		},
		func(r *tracktest.Recorder, s int, k int64) {
			r.CallOn(s, "MPI_Comm_split", 16, 0, tracktest.World, int64(r.Rank)%2, k, 1024, k, 0, int64(r.Rank)/2, 3, 0, 0, 77)
		},
		func(r *tracktest.Recorder, s int, k int64) { r.CallOn(s, "MPI_Barrier", 17, 5, 1030) }, // it failed
		func(r *tracktest.Recorder, s int, k int64) {
			r.From(20 + int(k%2))
			r.CallOn(s, "MPI_Barrier", 18, 0, tracktest.World)
			r.From(0)
		},
		func(r *tracktest.Recorder, s int, k int64) {
			r.Phase([]string{"solve", "write"}[k%2])
			r.CallOn(s, "MPI_Barrier", 19, 0, tracktest.World)
		},
		func(r *tracktest.Recorder, s int, k int64) {
			if s == 0 {
				r.LaneOn(s, "MPI_Send", 30, []int{6}, 0, heap(0), 0, 1, tracktest.IntType, 0, k*k, tracktest.World)
			}
		},
	}
}

// program draws one: loops of moves with numbers of rounds that are the same, of the rank, or random.
func program(t *rapid.T, size int) []*track.Track {
	list := moves(int64(size))
	type part struct {
		moves          []int
		stream, rounds int
		each           []int
	}
	parts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) part {
		return part{
			rapid.SliceOfN(rapid.IntRange(0, len(list)-1), 1, 4).Draw(t, "moves"), rapid.IntRange(0, 1).Draw(t, "stream"), rapid.IntRange(0, 6).Draw(t, "rounds"),
			rapid.SliceOfN(rapid.IntRange(0, 3), size, size).Draw(t, "of each rank"),
		}
	}), 0, 5).Draw(t, "parts")
	seed := rapid.IntRange(0, 5).Draw(t, "seed")
	return tracktest.RunAll(size, func(r *tracktest.Recorder) {
		r.Begin()
		for _, p := range parts {
			for k := range p.rounds + p.each[r.Rank] {
				for _, m := range p.moves {
					list[m](r, p.stream, int64(k*seed+r.Rank*p.each[0]))
				}
			}
		}
		r.End()
	})
}

// The sections that are made again of the calls of random programs are those that there were, but where distinct calls of a rank have lanes
// with equal first values; and all calls read the same.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 5).Draw(t, "ranks")
		file := mergetest.File(t, program(t, size), nil)
		r := open(t, file)
		coded, err := Coded(r)
		if err != nil {
			t.Fatal(err)
		}
		section, _, err := r.WithCallsBySite(coded)
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		err = container.Exchange(&again, bytes.NewReader(file), int64(len(file)), container.BySite, section, container.Signatures, container.Classes, container.Columns)
		if err != nil {
			t.Fatal(err)
		}
		other := open(t, again.Bytes())
		if err := trace.Check(other); err != nil {
			t.Fatal(err)
		}
		if a, b := text(t, r), text(t, other); a != b {
			t.Fatalf("%s\nbecame\n%s", a, b)
		}
	})
}

type fataler interface{ Fatal(...any) }

func open(t fataler, file []byte) *trace.Reader {
	r, err := trace.NewReader(bytes.NewReader(file), int64(len(file)), "x.spoor")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// text is all calls, with their times on the time line.
func text(t fataler, r *trace.Reader) string {
	var b strings.Builder
	for k, err := range r.Tracks() {
		if err != nil {
			t.Fatal(err)
		}
		for s := range k.Streams() {
			n := uint64(0)
			for c, err := range k.Calls(s) {
				if err != nil {
					t.Fatal(err)
				}
				times, err := k.Times()
				fmt.Fprintln(&b, k.Number(), s, n, c.Terminal, c.Phase, c.Site, c.Text(), times[c.Terminal], err)
				n++
			}
		}
	}
	return b.String()
}

// written is a trace of a program as a file, and the same laid out by sites.
func written(t *testing.T, file []byte) (before, after string) {
	t.Helper()
	before, after = filepath.Join(t.TempDir(), "before.spoor"), filepath.Join(t.TempDir(), "after.spoor")
	for _, path := range []string{before, after} {
		if err := os.WriteFile(path, file, 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return before, after
}

// exchange is a program in which data decide who talks to whom.
func exchange(r *tracktest.Recorder) {
	r.Begin()
	x := uint32(r.Rank + 1)
	for range 200 {
		x = x*1664525 + 1013904223
		r.Send(10, int64(x>>8%1000), int64(x>>20)%int64(r.Size), 7)
	}
	r.End()
}

// A file that gets smaller is replaced, what it says is the same, and it isn't tried twice.
func TestFile(t *testing.T) {
	tracks := tracktest.RunAll(8, exchange)
	before, after := written(t, mergetest.File(t, tracks, map[string]string{trace.MetaCommand: "./app"}))
	done, err := File(after, Auto)
	if err != nil || !done {
		t.Fatal(done, err)
	}
	a, err := trace.Open(before)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := trace.Open(after)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := trace.Check(b); err != nil {
		t.Error(err)
	}
	by, sections, err := b.BySite()
	want := int64(0)
	for _, x := range a.Sections() {
		switch x.Name {
		case "signatures", "classes", "columns":
			want += x.Stored
		}
	}
	if err != nil || !by || sections != want || want < leastBytes {
		t.Errorf("by site: %v, in place of %d bytes; %v. There were %d", by, sections, err, want)
	}
	if text(t, a) != text(t, b) {
		t.Error("other calls, or times")
	}
	one, _ := os.Stat(before)
	two, _ := os.Stat(after)
	if one.Size() <= two.Size() || two.Mode() != one.Mode() {
		t.Errorf("%d bytes became %d, %v became %v", one.Size(), two.Size(), one.Mode(), two.Mode())
	}
	if done, err := File(after, Auto); err != nil || done {
		t.Error("it was laid out again", err)
	}
}

// What is small, or wouldn't get smaller by enough, stays as it is.
func TestStays(t *testing.T) {
	for name, program := range map[string]func(*tracktest.Recorder){"stencil": tracktest.Stencil(20), "workers": tracktest.Workers(30)} {
		_, path := written(t, mergetest.File(t, tracktest.RunAll(16, program), nil))
		if done, err := File(path, Auto); err != nil || done {
			t.Errorf("%s: %v, %v", name, done, err)
		}
	}
	_, path := written(t, mergetest.File(t, tracktest.RunAll(8, exchange), nil))
	if done, err := File(path, Classes); err != nil || done {
		t.Error(done, err)
	}
	_, path = written(t, mergetest.File(t, tracktest.RunAll(16, tracktest.Stencil(20)), nil))
	if done, err := File(path, Sites); err != nil || !done {
		t.Error(done, err)
	}
}

// A file whose section doesn't say how its calls were made is refused, with its name and the section's.
func TestDamage(t *testing.T) {
	_, path := written(t, mergetest.File(t, tracktest.RunAll(8, exchange), nil))
	if done, err := File(path, Auto); err != nil || !done {
		t.Fatal(done, err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := container.Exchange(&out, bytes.NewReader(file), int64(len(file)), container.BySite, []byte{1, 0, 0, 1, 3}); err != nil {
		t.Fatal(err)
	}
	r := open(t, out.Bytes())
	const want = `trace: x.spoor: section "by-site": `
	if _, err := r.Rank(0); !errors.Is(err, trace.ErrFormat) || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
		t.Error(err)
	}
}
