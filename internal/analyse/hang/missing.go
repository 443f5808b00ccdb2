package hang

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// ErrMissingCalls is returned if a trace lacks calls that its ranks made: tracing was off, or spoor can't record the
// calls.
var ErrMissingCalls = errors.New("calls are missing from this trace")

// CheckMissingCalls returns an ErrMissingCalls if calls are missing from a trace, else nil. The error lists the evidence:
// messages received but never sent, collective calls that some members made less often than others, and ranks without a
// track. Ranks with calls that spoor can't interpret are no evidence. With afterDeadlock, messages that were sent but
// never received are evidence, too: it is set after a replay or simulation hangs although the program didn't.
func CheckMissingCalls(r *trace.Reader, afterDeadlock bool, progress func(calls uint64)) error {
	f, err := follow(r, progress)
	if err != nil {
		return err
	}
	procs, err := r.Processes()
	if err != nil {
		return err
	}
	m := missing{follower: f, ended: make([]bool, r.Ranks())}
	for rank, p := range procs.All() {
		m.ended[rank] = p.EndState == track.EndFinished
		if f.ranks[rank] != nil && p.LostCalls > 0 {
			f.ranks[rank].unsure = true
		}
	}
	list := m.tracks()
	list = append(list, m.messages(afterDeadlock)...)
	list = append(list, m.collectives()...)
	if len(list) == 0 {
		return nil
	}
	const most = 3
	if n := len(list) - most; n > 1 {
		list = append(list[:most], fmt.Sprintf("%d more of that kind", n))
	}
	return fmt.Errorf("%w: %s", ErrMissingCalls, strings.Join(list, "; "))
}

// missing looks for missing calls in what the follower knows after all calls of all ranks.
type missing struct {
	*follower
	ended []bool // by rank: whether it has reached MPI_Finalize
}

func (m *missing) sure(rank int) bool {
	return rank >= 0 && rank < len(m.ranks) && m.ranks[rank] != nil && !m.ranks[rank].unsure && !m.ranks[rank].vague
}

func (m *missing) tracks() []string {
	var without []int
	for rank, x := range m.ranks {
		if x == nil {
			without = append(without, rank)
		}
	}
	if without == nil {
		return nil
	}
	if len(without) == 1 {
		return []string{fmt.Sprintf("rank %d left no track", without[0])}
	}
	return []string{"ranks " + show.FormatRanges(without) + " left no track"}
}

// messages describes the channels on which more messages were received than sent, as texts. With unreceived, it also
// describes those on which more were sent.
func (m *missing) messages(unreceived bool) (list []string) {
	type count struct {
		Channel
		MessageCount
	}
	var odd []count
	for ch, n := range m.snap.Messages {
		if (n.Received > n.Sent || unreceived && n.Sent > n.Received && m.ended[ch.To]) && m.sure(ch.From) && m.sure(ch.To) {
			odd = append(odd, count{ch, n})
		}
	}
	slices.SortFunc(odd, func(a, b count) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.GroupIndex, b.GroupIndex))
	})
	for _, x := range odd {
		list = append(list, fmt.Sprintf("rank %d sent %s with tag %d to rank %d on %s, which received %d",
			x.From, show.FormatPlural(x.Sent, "message"), x.Tag, x.To, m.names[x.GroupIndex], x.Received))
	}
	return list
}

// collectives describes, as texts, the communicators on which members made different numbers of collective calls
// although all have reached MPI_Finalize.
func (m *missing) collectives() (list []string) {
	for n := range m.snap.Groups {
		g := &m.snap.Groups[n]
		by := make(map[uint64][]int)
		whole := len(g.CollectiveProgress) == len(g.Members)
		for i, rank := range g.Members {
			whole = whole && m.sure(rank) && m.ended[rank]
			if whole {
				by[g.CollectiveProgress[i].Count] = append(by[g.CollectiveProgress[i].Count], rank)
			}
		}
		if !whole || len(by) < 2 {
			continue
		}
		var parts []string
		for _, count := range slices.Backward(slices.Sorted(maps.Keys(by))) {
			who := "ranks " + show.FormatRanges(by[count])
			if len(by[count]) == 1 {
				who = fmt.Sprintf("rank %d", by[count][0])
			}
			parts = append(parts, fmt.Sprintf("%s by %s", show.FormatGrouped(count), who))
		}
		list = append(list, fmt.Sprintf("collective calls on %s: %s", m.names[n], strings.Join(parts, ", ")))
	}
	return list
}
