// Package partners gives up whom ranks send messages to, where that looks random: it makes a trace in which messages that are drawn from
// distributions of distances, sizes and tags stand in place of those of the run.
//
// Invariants:
//
//  1. What is drawn is a formula of the rank, the same for all: the k-th message of each rank goes by one distance, and has one size and
//     one tag. So no rank has to know what others draw, and who receives is as sure as who sends.
//  2. Messages are given up only of whole intervals. An interval is what all ranks do between two collective calls of all; all messages of it MUST
//     begin and end in it, and none of another one may be under way then, by the numbers of messages between each two ranks.
//  3. In place of an interval's messages stand exchanges, behind all else that a rank does in the interval: receives that don't block, then
//     sends that don't, then one call that waits for all. So whoever comes to an exchange posts all that others wait for
//     before waiting itself, and what did not hang before does not then.
//  4. Whatever isn't sure MUST stay as it is, and it is said why.
package partners

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// A Drawer makes traces of a trace in which messages are drawn.
type Drawer struct {
	r         *trace.Reader
	seed      uint64
	progress  func(ranks int)
	intervals []interval
	families  []*family // that can be drawn, those that take most first
	kept      map[string]uint64
	looked    bool
}

// New returns a Drawer for a trace. It calls progress with 1 for each rank that it has looked at.
func New(r *trace.Reader, seed uint64, progress func(ranks int)) *Drawer {
	return &Drawer{r: r, seed: seed, progress: progress, kept: make(map[string]uint64)}
}

// Families is how many families of intervals there are of which messages can be drawn.
func (d *Drawer) Families() (int, error) {
	if !d.looked {
		d.looked = true
		if err := d.survey(); err != nil {
			return 0, err
		}
	}
	return len(d.families), nil
}

// Kept says what of the trace stays though messages were to be drawn, and of how many intervals.
func (d *Drawer) Kept() []reduce.KeptReason { return reduce.KeptOf(d.kept) }

// Draw makes the trace in which the messages of this many families, from the first on, are synthetic.
func (d *Drawer) Draw(families int) (*trace.Reader, error) {
	if _, err := d.Families(); err != nil {
		return nil, err
	}
	w := &writer{d: d, families: d.families[:min(families, len(d.families))], of: make(map[int]*family)}
	for _, f := range w.families {
		for _, l := range f.intervals {
			w.of[l] = f
		}
	}
	ch := &reduce.ValueChange{
		Note:   "partners of messages are synthetic",
		Values: func(*trace.Rank, int, []int64) {},
		Tracks: func(list []*track.Track) error { return w.tracks(list) },
	}
	part, err := reduce.WithChange(d.r, ch, d.progress)
	if err != nil {
		return nil, err
	}
	defer part.Close()
	for _, f := range w.families {
		part.Content.Partners = append(part.Content.Partners, f.told(d.seed))
	}
	delete(part.Content.Meta, trace.MetaNote+".changed")
	part.Content.Meta[trace.MetaNote+".partners"] = "partners, sizes and tags of messages are synthetic: calls are not those of the run"
	x, err := part.Reader(d.r.Name())
	if err != nil {
		return nil, fmt.Errorf("synthetic messages: %w", err)
	}
	return x, nil
}

func mixedAll(list ...uint64) (h uint64) {
	for _, x := range list {
		h = grammar.MixHash(h, x)
	}
	return h
}
