package main

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// contentOf is how many bytes a trace has that say which calls were made.
func contentOf(r *trace.Reader) (content, classes int64) {
	for _, s := range r.Sections() {
		switch s.Name {
		case "ranks":
			classes = s.Stored
			content += s.Stored
		case "signatures", "classes", "columns", "lanes":
			content += s.Stored
		}
	}
	return content, classes
}

// nowWithout is how many it would have, as files are now but without lanes, if values that follow from requests weren't told. Such a
// trace can't be read.
func nowWithout(r *trace.Reader, on bool) (int64, error) {
	var tracks []*track.Track
	for k, err := range r.Tracks() {
		if err != nil {
			return 0, err
		}
		for len(tracks) < k.Number() {
			tracks = append(tracks, nil)
		}
		t, err := trackOf(k, on)
		if err != nil {
			return 0, err
		}
		tracks = append(tracks, t)
	}
	for len(tracks) < r.Ranks() {
		tracks = append(tracks, nil)
	}
	s, err := merge.MergeAll(tracks, len(tracks))
	if err != nil {
		return 0, err
	}
	c, err := s.Content(nil)
	if err != nil {
		return 0, err
	}
	c.Timeless = true
	file, err := sections.Encode(c)
	if err != nil {
		return 0, err
	}
	again, err := trace.NewReader(bytes.NewReader(file), int64(len(file)), r.Name())
	if err != nil {
		return 0, err
	}
	n, _ := contentOf(again)
	return n, nil
}

// trackOf makes the track of a rank.
func trackOf(k *trace.Rank, on bool) (*track.Track, error) {
	t := &track.Track{Rank: k.Number(), Timeless: true, Strings: map[uint64]string{}, Sites: make(map[uint64]track.Site), Process: track.Process{End: track.Finished, Threads: k.Streams()}}
	number := make(map[string]uint32)
	var all []signature.Signature
	for stream := range k.Streams() {
		b, q := grammar.NewBuilder(), newRequests(on)
		var key []byte
		for n, vals := range k.Signatures(stream) {
			c, err := k.Called(n)
			if err != nil {
				return nil, err
			}
			place, err := k.Place(n)
			if err != nil {
				return nil, err
			}
			out, err := left(c.Func, vals)
			if err != nil {
				return nil, err
			}
			if err := q.step(place, c.Func, out, false); err != nil {
				return nil, err
			}
			key = binary.AppendUvarint(binary.AppendUvarint(key[:0], uint64(c.Func.ID)), uint64(place+1))
			for _, v := range out {
				key = binary.AppendVarint(key, v)
			}
			x, ok := number[string(key)]
			if !ok {
				x = uint32(len(all))
				number[string(key)] = x
				site := uint64(place + 2)
				t.Sites[site] = track.Site{Module: "app", Offset: 64 * site}
				all = append(all, signature.Signature{Call: c.Func.ID, Site: site, Vals: slices.Clone(out)})
			}
			b.Append(x)
		}
		t.Streams = append(t.Streams, track.Stream{Grammar: b.Grammar()})
	}
	first := make(map[uint32]uint32)
	for i := range t.Streams {
		for _, x := range t.Streams[i].Grammar.Terminals() {
			if _, ok := first[x]; !ok {
				first[x] = uint32(len(first))
				t.Sigs = append(t.Sigs, all[x])
			}
		}
		t.Streams[i].Grammar = t.Streams[i].Grammar.Renumber(func(x uint32) uint32 { return first[x] })
	}
	t.Times = make([]track.Times, len(t.Sigs))
	return t, nil
}
