// Package partners makes random-looking messages synthetic. It makes a trace in which the messages of some intervals
// are replaced by messages drawn from the same distributions of distances, sizes and tags.
//
// Invariants:
//
//  1. What is drawn MUST be a formula of the rank, the same for all: the k-th message of each rank has the same distance,
//     size and tag. So no rank has to know what others draw, and receivers are as certain as senders.
//  2. Only the messages of whole intervals are replaced. An interval is what all ranks do between two collective calls
//     of all ranks. All its messages MUST begin and end in it, and no message of another interval may be under way in it.
//     The numbers of messages between each two ranks show this.
//  3. An interval's messages are replaced by exchanges after all else that a rank does in the interval: non-blocking
//     receives, then non-blocking sends, then one call that waits for all. So a rank in an exchange posts all that others
//     wait for before it waits itself: if the run did not hang before, it does not then.
//  4. Whatever isn't certain MUST stay unchanged, and the reason is printed.
package partners

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// A PartnerDrawer makes copies of a trace in which synthetic messages replace some of the recorded ones.
type PartnerDrawer struct {
	r         *trace.Reader
	seed      uint64
	progress  func(ranks int)
	intervals []interval
	families  []*family // families that can be drawn, the most expensive first
	kept      map[string]uint64
	looked    bool
}

// New returns a PartnerDrawer for a trace. It calls progress with 1 after each rank.
func New(r *trace.Reader, seed uint64, progress func(ranks int)) *PartnerDrawer {
	return &PartnerDrawer{r: r, seed: seed, progress: progress, kept: make(map[string]uint64)}
}

// Families returns the number of families of intervals whose messages can be replaced by synthetic ones. Intervals of a
// family have messages from the same call sites.
func (d *PartnerDrawer) Families() (int, error) {
	if !d.looked {
		d.looked = true
		if err := d.survey(); err != nil {
			return 0, err
		}
	}
	return len(d.families), nil
}

// KeptReasons lists the reasons why intervals keep their recorded messages, each with the number of its intervals.
func (d *PartnerDrawer) KeptReasons() []reduce.KeptReason { return reduce.KeptReasons(d.kept) }

// Draw makes a trace with synthetic messages in that many families, the most expensive ones first.
func (d *PartnerDrawer) Draw(families int) (*trace.Reader, error) {
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
		Note:       "partners of messages are synthetic",
		EditValues: func(*trace.Rank, int, []int64) {},
		EditTracks: func(list []*track.Track) error { return w.tracks(list) },
	}
	part, err := reduce.ChangeValues(d.r, ch, d.progress)
	if err != nil {
		return nil, err
	}
	defer part.Close()
	for _, f := range w.families {
		part.Content.SyntheticMessages = append(part.Content.SyntheticMessages, f.told(d.seed))
	}
	delete(part.Content.Meta, trace.MetaNotePrefix+".changed")
	part.Content.Meta[trace.MetaNotePrefix+".partners"] = "partners, sizes and tags of messages are synthetic: calls are not those of the run"
	x, err := part.Reader(d.r.Name())
	if err != nil {
		return nil, fmt.Errorf("synthetic messages: %w", err)
	}
	return x, nil
}

func mixedAll(list ...uint64) (h uint64) {
	for _, x := range list {
		h = grammar.DrawHash(h, x)
	}
	return h
}
