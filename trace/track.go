package trace

import (
	"errors"
	"fmt"
	"maps"

	"github.com/spoor-hpc/spoor/internal/lane"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/track"
)

// ErrFormer is what asking for tracks comes to in files of the first formats, whose constants have other numbers.
var ErrFormer = errors.New("a trace in one of the first formats")

// Track returns what the rank called as the track that a merge takes, with nothing of times in it: whoever
// has other times for the calls can make a trace of them. What was attached to calls, and where segments of
// memory begin and end, is left out.
func (k *Rank) Track() (*track.Track, error) {
	t, err := k.r.tables()
	if err != nil {
		return nil, err
	}
	if k.r.former {
		return nil, fmt.Errorf("trace: %s: %w", k.r.name, ErrFormer)
	}
	out := &track.Track{
		Rank: k.number, Sigs: make([]signature.Signature, k.Terminals()), Times: make([]track.Times, k.Terminals()),
		Strings: maps.Clone(t.strings), Sites: make(map[uint64]track.Site), Outer: make(map[uint64]uint64),
	}
	for _, g := range k.streams {
		out.Streams = append(out.Streams, track.Stream{Grammar: g})
	}
	number := make(map[Site]uint64, len(t.siteList))
	for i, s := range t.siteList { // numbers of sites, in place of hashes
		number[s] = uint64(i)
	}
	for i, s := range t.siteList {
		if i == 0 {
			continue // an unknown place
		}
		out.Sites[uint64(i)] = track.Site{Module: s.Module, BuildID: s.BuildID, Offset: s.Offset}
		if s.Outer != nil {
			out.Outer[uint64(i)] = number[*s.Outer]
		}
	}
	for h, s := range t.sites { // that occur as values
		out.Sites[h] = track.Site{Module: s.Module, BuildID: s.BuildID, Offset: s.Offset}
	}
	for i := range out.Sigs {
		g := k.class.Terminals[i].Group
		out.Sigs[i] = signature.Signature{Call: g.Call, Site: uint64(g.Site), Vals: k.Signature(i)}
		if l := k.Lane(i); l != nil {
			out.Lanes = append(out.Lanes, lane.Lane{Terminal: i, Values: l.of.Values, Steps: l.of.Steps, By: l.of.By})
		}
	}
	p, err := k.Process()
	if err != nil {
		return nil, err
	}
	out.Process = track.Process{Host: p.Host, PID: p.PID, End: p.End, Lost: p.Lost, Threads: p.Threads}
	return out, nil
}
