package trace

import (
	"maps"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
)

// A Track is a rank's recording without its methods: spoor's packages that write traces unseal it, other importers
// can only pass it on.
type Track track.Sealed

// Track returns the rank's calls as a track for a merge, without times: a caller that has new times for the calls can
// make a trace of both. Attached values and allocation events are left out.
func (k *Rank) Track() (Track, error) {
	tr, err := k.track()
	return Track(track.Seal(tr)), err
}

func (k *Rank) track() (*track.Track, error) {
	t := k.tables
	out := &track.Track{
		Rank: k.number, Signatures: make([]signature.Signature, k.Terminals()), Times: make([]track.Times, k.Terminals()),
		Strings: maps.Clone(t.strings), Sites: make(map[uint64]track.Site), CallerSite: make(map[uint64]uint64), SiteWithoutStack: make(map[uint64]uint64),
	}
	for _, g := range k.streams {
		out.Streams = append(out.Streams, track.Stream{Grammar: g})
	}
	alone := make(map[Site]uint64, len(t.sites.List))
	for i, s := range t.sites.List { // in this track, the number of a site serves as its hash
		if _, known := alone[s]; !known {
			alone[s] = uint64(i)
		}
	}
	for i, s := range t.sites.List {
		if i == 0 {
			continue // number 0 means that the site is unknown
		}
		out.Sites[uint64(i)] = track.Site{Module: s.Module, BuildID: s.BuildID, Offset: s.Offset}
		if o := t.sites.CallerOf[i]; o != 0 {
			out.CallerSite[uint64(i)], out.SiteWithoutStack[uint64(i)] = uint64(o), alone[s.WithoutCallers()]
		}
	}
	for h, s := range t.sites.ByHash { // function pointers, which occur as values of parameters
		out.Sites[h] = track.Site{Module: s.Module, BuildID: s.BuildID, Offset: s.Offset}
	}
	for i := range out.Signatures {
		x := &k.class.Terminals[i]
		out.Signatures[i] = signature.Signature{FunctionID: x.Group.FunctionID, Site: uint64(x.Site), Values: k.Signature(i)}
		if l := k.Lane(i); l != nil {
			out.Lanes = append(out.Lanes, signature.Lane{Terminal: i, ValueIndices: l.of.ValueIndices, Steps: l.of.Steps, StepValues: l.of.StepValues})
		}
	}
	handovers := make([][]Handover, k.Streams())
	for stream := range handovers {
		var err error
		if handovers[stream], err = k.Handovers(stream); err != nil {
			return nil, err
		}
	}
	out.Handovers = track.HandoverEvents(handovers)
	p, err := k.Process()
	if err != nil {
		return nil, err
	}
	out.Process = track.Process{Host: p.Host, PID: p.PID, EndState: p.EndState, LostCalls: p.LostCalls, Threads: p.Threads}
	return out, nil
}
