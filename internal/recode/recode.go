// Package recode lays the calls of a trace file out by call sites where that takes less room, with nothing lost.
//
// Invariants:
//
//  1. A file MUST be replaced only by one whose sections were made again of the calls, as a reader does, and are the same.
//  2. What is tried MUST be bounded: by the calls of all ranks, as they are gone through, and by the room that could be won.
package recode

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"

	"github.com/spoor-hpc/spoor/internal/bysite"
	"github.com/spoor-hpc/spoor/internal/nests"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// A Layout is how the calls of a file are laid out.
type Layout string

// The layouts that can be chosen.
const (
	Auto    Layout = "auto"    // by sites where that is worth it
	Sites   Layout = "sites"   // by sites where that is smaller at all
	Classes Layout = "classes" // by distinct calls
)

// Layouts are those that can be chosen.
var Layouts = []Layout{Auto, Sites, Classes}

// What is worth it: who opens the file has all calls gone through, for which less than this is no reason.
const (
	leastBytes = 2 << 10 // of the sections on calls
	leastShare = 10      // percent of the file
	// mostBytes is up to how large a file is written anew.
	mostBytes = 1 << 30
)

// Coded codes the calls of a trace by sites.
func Coded(r *trace.Reader) ([]byte, error) {
	if r.Ranks() > bysite.MostRanks {
		return nil, fmt.Errorf("%w: on %d ranks", bysite.ErrNotCoded, r.Ranks())
	}
	threads, ranks := 0, []int{}
	calls := uint64(0)
	for k, err := range r.Tracks() {
		if err != nil {
			return nil, err
		}
		ranks = append(ranks, k.Number())
		threads = max(threads, k.Streams())
		for s := range k.Streams() {
			if calls += min(k.Len(s), bysite.MostCalls+1); calls > bysite.MostCalls {
				return nil, fmt.Errorf("%w: they are more than %d", bysite.ErrNotCoded, bysite.MostCalls)
			}
		}
	}
	tracks, err := tracksOf(r)
	if err != nil {
		return nil, err
	}
	list := make([]bysite.Thread, threads)
	for thread := range list {
		if list[thread], err = threadOf(r, tracks, ranks, thread); err != nil {
			return nil, err
		}
	}
	outer, place, err := r.Frames()
	if err != nil {
		return nil, err
	}
	return bysite.Encode(list, r.Ranks(), sections.InOrder(outer, place))
}

// tracksOf are those of all ranks, values without displacements that follow; nil where a rank has none.
func tracksOf(r *trace.Reader) ([]*track.Track, error) {
	functions := make(map[uint16]*trace.Function)
	for _, f := range r.Schema() {
		functions[f.ID] = f
	}
	tracks := make([]*track.Track, r.Ranks())
	for k, err := range r.Tracks() {
		if err != nil {
			return nil, err
		}
		handed, err := k.Track()
		if err != nil {
			return nil, err
		}
		t := track.Handed(handed).Track()
		for i := range t.Sigs {
			s := &t.Sigs[i]
			if s.Vals, err = bysite.LeftOut(functions[s.Call], s.Vals); err != nil {
				return nil, err
			}
		}
		t.Sites, t.Outer, t.Inner = nil, nil, nil
		tracks[k.Number()] = t
	}
	return tracks, nil
}

// threadOf finds the sites of a thread and their order.
func threadOf(r *trace.Reader, tracks []*track.Track, ranks []int, thread int) (t bysite.Thread, err error) {
	n, err := nests.SitesOf(r, ranks, thread)
	if err != nil {
		return t, err
	}
	functions := r.Schema()
	places := make([][]int, len(tracks)) // by rank, by terminal
	for _, rank := range ranks {
		k, err := r.Rank(rank)
		if err != nil {
			return t, err
		}
		if thread >= k.Streams() {
			continue
		}
		if places[rank], err = n.Places(k); err != nil {
			return t, err
		}
		for terminal, count := range k.Counts(thread) {
			if count == 0 {
				continue
			}
			sig, place := &tracks[rank].Sigs[terminal], places[rank][terminal]
			for place >= len(t.Sites) {
				t.Sites = append(t.Sites, bysite.Site{})
			}
			s := &t.Sites[place]
			if s.Function == nil {
				i := slices.IndexFunc(functions, func(f *trace.Function) bool { return f.ID == sig.Call })
				s.Function = functions[i]
			}
			if !slices.Contains(s.Numbers, int(sig.Site)) {
				s.Numbers = append(s.Numbers, int(sig.Site))
			}
		}
	}
	if slices.ContainsFunc(t.Sites, func(s bysite.Site) bool { return s.Function == nil }) {
		return t, fmt.Errorf("%w: a place without calls", bysite.ErrNotCoded)
	}
	for l := range n.Loops() {
		span := bysite.Span{First: -1}
		for place := range t.Sites {
			if n.Has(l, place) {
				if span.First < 0 {
					span.First = place
				}
				span.Last = place
			}
		}
		t.Loops = append(t.Loops, span)
	}
	t.Calls = func(rank int) iter.Seq2[int, *signature.Signature] {
		if places[rank] == nil {
			return nil
		}
		return func(yield func(int, *signature.Signature) bool) {
			for n := range tracks[rank].Streams[thread].Grammar.All() {
				if !yield(places[rank][n], &tracks[rank].Sigs[n]) {
					return
				}
			}
		}
	}
	return t, nil
}

// File lays a file out, and reports whether it is by sites now. Where it can't be, it stays as it is.
func File(path string, layout Layout) (bool, error) {
	if layout == Classes {
		return false, nil
	}
	r, err := trace.Open(path)
	if err != nil {
		return false, err
	}
	defer r.Close()
	bytes := int64(0)
	for _, s := range r.Sections() {
		switch s.Name {
		case "signatures", "classes", "columns":
			bytes += s.Stored
		case "thinned", "drawn", "partners":
			return false, nil
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > mostBytes {
		return false, err
	}
	least := int64(1)
	if layout == Auto {
		least = info.Size() * leastShare / 100
	}
	if bytes < least || layout == Auto && bytes < leastBytes {
		return false, nil
	}
	coded, err := Coded(r)
	if errors.Is(err, bysite.ErrNotCoded) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	section, saved, err := r.WithCallsBySite(coded)
	if errors.Is(err, trace.ErrOtherwise) || err == nil && saved < least {
		return false, nil
	}
	if err == nil {
		err = trace.PutCallsBySite(path, section)
	}
	if errors.Is(err, fs.ErrPermission) {
		return false, nil
	}
	return err == nil, err
}
