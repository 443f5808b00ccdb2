package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/hang"
	"github.com/spoor-hpc/spoor/internal/show"
)

// printWhere prints a report: the verdict, then the states of ranks and what they wait for. With all, it prints every
// rank.
func printWhere(w io.Writer, name string, r *hang.Report, all bool) {
	fmt.Fprintf(w, "%s: %s, %s: %s\n", name, show.FormatPlural(r.Ranks, "rank"), show.FormatPlural(countCalls(r), "call"), verdictText(r))
	v := whereView{w, whereRoom(all), roundsOf(r)}
	v.cycles(r.Cycles)
	if r.Verdict == hang.VerdictWaiting || r.Verdict == hang.VerdictMissingRecords || r.Verdict == hang.VerdictStuck || r.Verdict == hang.VerdictDeadlock {
		v.awaited(r)
	}
	v.section("where the ranks are", len(r.States), func(i int) { v.state(&r.States[i]) })
	if r.Verdict == hang.VerdictEnded {
		r.Receives = nil // all ranks are in MPI_Finalize, so no rank waits in these receives
	}
	v.section("collective calls that don't match", len(r.Mismatches), func(i int) { v.mismatch(&r.Mismatches[i]) })
	v.section("receives that have no message", len(r.Receives), func(i int) {
		x := &r.Receives[i]
		fmt.Fprintln(w, show.ShortenPlaces(fmt.Sprintf("  rank %d: from %s, %s%s: %s at %s", x.Rank, sourceText(x.SourceWorldRank), tagText(x.Tag), onText(x.Comm), x.Function, x.Place), x.Place))
	})
	v.section("messages that no receive takes", len(r.Messages), func(i int) {
		x := &r.Messages[i]
		fmt.Fprintln(w, show.ShortenPlaces(fmt.Sprintf("  %d from rank %d to rank %d, %s%s: %s at %s", x.Count, x.From, x.To, tagText(x.Tag), onText(x.Comm), x.Function, x.Place), x.Place))
	})
	if len(r.RanksWithUnknownCalls) > 0 {
		fmt.Fprintf(w, "\nnot all is known that %s did: taken as able to go on\n", theseRanks(r.RanksWithUnknownCalls))
	}
	v.section("what the trace does not have", len(r.Losses), func(i int) {
		fmt.Fprintf(w, "  %d %s\n", r.Losses[i].Count, r.Losses[i].Reason)
	})
}

// whereRoom returns how many entries of a list are printed at most; with all, there is no limit.
func whereRoom(all bool) int {
	if all {
		return 1 << 30
	}
	return 8
}

func countCalls(r *hang.Report) (n int64) {
	for i := range r.States {
		for k := range r.States[i].Ranks {
			n += r.States[i].Ranks[k].Calls
		}
	}
	return n
}

// verdictText returns the verdict on a world (e.g. deadlock) as a line of text.
func verdictText(r *hang.Report) string {
	stuck := 0
	for i := range r.States {
		if r.States[i].Stuck {
			stuck += len(r.States[i].Ranks)
		}
	}
	switch r.Verdict {
	case hang.VerdictEnded:
		return "all have come to MPI_Finalize"
	case hang.VerdictDeadlock:
		return fmt.Sprintf("deadlock, %s can't go on", show.FormatPlural(stuck, "rank"))
	case hang.VerdictStuck:
		return show.FormatPlural(stuck, "rank") + " can't go on: nobody is left to do what they wait for"
	case hang.VerdictLivelock:
		return fmt.Sprintf("livelock, %s can't go on unless those that ask do something else", show.FormatPlural(stuck, "rank"))
	case hang.VerdictMissingRecords:
		unknown := 0
		for i := range r.States {
			if r.States[i].Kind == hang.StateUnknown {
				unknown += len(r.States[i].Ranks)
			}
		}
		return fmt.Sprintf("no verdict, as %d of them left no records here", unknown)
	case hang.VerdictWaiting:
		return "no deadlock; " + waitingText(r)
	}
	return "nobody waits for another rank"
}

// waitingText returns a text with the number of waiting ranks, and the ranks for which they wait in the end.
func waitingText(r *hang.Report) string {
	waiting := 0
	for i := range r.States {
		for k := range r.States[i].Ranks {
			if len(r.States[i].Ranks[k].WaitsFor) > 0 {
				waiting++
			}
		}
	}
	var ranks []int
	for i := range r.WaitChainEnds {
		ranks = append(ranks, r.WaitChainEnds[i].Rank)
	}
	slices.Sort(ranks)
	wait := "wait"
	if waiting == 1 {
		wait = "waits"
	}
	if len(ranks) == 0 {
		return fmt.Sprintf("%s %s, for whom isn't known", show.FormatPlural(waiting, "rank"), wait)
	}
	return fmt.Sprintf("%s %s, in the end for %s", show.FormatPlural(waiting, "rank"), wait, theseRanks(ranks))
}

// A whereView writes the states of ranks as lists. With room, it shortens them to that number of entries.
type whereView struct {
	w      io.Writer
	room   int
	rounds map[string]bool // names of communicators on which ranks are in different collective calls
}

func roundsOf(r *hang.Report) map[string]bool {
	first, several := make(map[string]uint64), make(map[string]bool)
	for i := range r.States {
		s := &r.States[i]
		if n, seen := first[s.Comm]; seen && n != s.CollectiveNumber {
			several[s.Comm] = true
		}
		if s.CollectiveNumber > 0 {
			first[s.Comm] = s.CollectiveNumber
		}
	}
	return several
}

// more returns a text with what placeText leaves out: which collective call of the communicator it is, and why the
// ranks' processes can't run.
func (v *whereView) more(s *hang.RankGroupState, ranks []hang.RankState) (text string) {
	if s.CollectiveNumber > 0 && v.rounds[s.Comm] {
		text = fmt.Sprintf(", collective call %s on %s", show.FormatGrouped(s.CollectiveNumber), s.Comm)
	}
	process := "their processes are"
	if len(ranks) == 1 {
		process = fmt.Sprintf("its process %d is", ranks[0].PID)
	}
	switch s.HeldBy {
	case hang.HeldByStopSignal:
		text += "; " + process + " stopped by a signal"
	case hang.HeldByDebugger:
		text += "; " + process + " held by a debugger"
	case hang.HeldByKernelWait:
		text += "; " + process + " waiting for a disk or another device"
	}
	return text
}

func (v *whereView) section(title string, n int, line func(i int)) {
	if n == 0 {
		return
	}
	fmt.Fprintf(v.w, "\n%s\n", title)
	for i := range n {
		if i == v.room {
			fmt.Fprintf(v.w, "  %d more: --all-ranks\n", n-i)
			return
		}
		line(i)
	}
}

func (v *whereView) cycles(list []hang.Cycle) {
	for i := range list {
		if i == v.room {
			fmt.Fprintf(v.w, "\n%d more cycles: --all-ranks\n", len(list)-i)
			return
		}
		c := &list[i]
		fmt.Fprintf(v.w, "\ncycle %s\n", v.ring(c.Ranks))
		for k := range c.Links {
			if k == v.room && len(c.Links) > k+1 {
				fmt.Fprintf(v.w, "  %d more: --all-ranks\n", len(c.Links)-k)
				break
			}
			l := &c.Links[k]
			fmt.Fprintln(v.w, show.ShortenPlaces(fmt.Sprintf("  rank %d waits for %s: %s at %s%s", l.Rank, l.WaitsForText, l.Function, l.Place, forText(l.TimeInCallNs, l.TimeInCallNs)), l.Place))
		}
	}
}

// ring writes a cycle of ranks that wait for each other, e.g. 0 → 2 → 1 → 0.
func (v *whereView) ring(ranks []int) string {
	var b strings.Builder
	for i, r := range ranks {
		if i == 2*v.room {
			fmt.Fprintf(&b, "… (%d more) → ", len(ranks)-i)
			break
		}
		fmt.Fprintf(&b, "%d → ", r)
	}
	fmt.Fprint(&b, ranks[0])
	return b.String()
}

// awaited prints the ranks that wait for no rank themselves, but for which others wait in the end.
func (v *whereView) awaited(r *hang.Report) {
	v.section("whom they wait for in the end", len(r.WaitChainEnds), func(i int) {
		a := &r.WaitChainEnds[i]
		how, place := "", ""
		for k := range r.States {
			for n := range r.States[k].Ranks {
				if r.States[k].Ranks[n].Rank == a.Rank {
					place = r.States[k].Place
					how = placeText(&r.States[k], &r.States[k].Ranks[n]) + v.more(&r.States[k], r.States[k].Ranks[n:n+1])
				}
			}
		}
		verb := "wait"
		if len(a.WaitingRanks) == 1 {
			verb = "waits"
		}
		fmt.Fprintln(v.w, show.ShortenPlaces(fmt.Sprintf("  rank %d: %s; %s %s for it", a.Rank, how, theseRanks(a.WaitingRanks), verb), place))
	})
}

func theseRanks(list []int) string {
	if len(list) == 1 {
		return fmt.Sprintf("rank %d", list[0])
	}
	return fmt.Sprintf("%s (%s)", show.FormatPlural(len(list), "rank"), show.FormatRanges(list))
}

// state prints a group of ranks that are in one state: where they are, since when, and what they wait for.
func (v *whereView) state(s *hang.RankGroupState) {
	var ranks []int
	least, most := s.Ranks[0].TimeInStateNs, s.Ranks[0].TimeInStateNs
	for i := range s.Ranks {
		ranks = append(ranks, s.Ranks[i].Rank)
		least, most = min(least, s.Ranks[i].TimeInStateNs), max(most, s.Ranks[i].TimeInStateNs)
	}
	mean := s.Ranks[0]
	mean.TimeInStateNs = least
	stuck := ""
	if s.Stuck {
		stuck = ", stuck"
	}
	text := placeText(s, &mean)
	if most > least && least > 0 {
		text = strings.Replace(text, forText(least, least), forText(least, most), 1)
	}
	fmt.Fprintln(v.w, show.ShortenPlaces(fmt.Sprintf("  %s%s: %s%s", theseRanks(ranks), stuck, text, v.more(s, s.Ranks)), s.Place))
	switch {
	case s.WaitsForText != "":
		fmt.Fprintf(v.w, "    waiting for %s\n", s.WaitsForText)
	case s.Kind == hang.StateBlocked, s.Kind == hang.StatePolling:
		for i := range s.Ranks {
			if i == v.room && len(s.Ranks) > i+1 {
				fmt.Fprintf(v.w, "    %d more: --all-ranks\n", len(s.Ranks)-i)
				break
			}
			if x := &s.Ranks[i]; x.WaitsForText != "" {
				fmt.Fprintf(v.w, "    rank %d waits for %s\n", x.Rank, x.WaitsForText)
			}
		}
	}
	for i := range s.Ranks {
		for n := range s.Ranks[i].Threads {
			if t := &s.Ranks[i].Threads[n]; i < v.room {
				of := ""
				if t.ThreadFunction != "" {
					of = " (" + t.ThreadFunction + ")"
				}
				fmt.Fprintf(v.w, "    rank %d, thread %d%s: %s\n", s.Ranks[i].Rank, n, of, placeText(t, &hang.RankState{}))
			}
		}
	}
}

// placeText returns a text that says in, or after, which call a rank is, and for how long.
func placeText(s *hang.RankGroupState, r *hang.RankState) string {
	at, long := s.Function+" at "+s.Place, forText(r.TimeInStateNs, r.TimeInStateNs)
	switch {
	case s.Kind == hang.StateUnknown:
		return "no records here"
	case s.Function == "":
		return "before its first call"
	case s.Kind == hang.StateOutsideMPI:
		return "outside of MPI" + long + ", after " + at
	case s.Kind == hang.StatePolling && r.Polls > 0:
		return fmt.Sprintf("asks in vain, %s times: %s", show.FormatGrouped(r.Polls), at)
	case s.Kind == hang.StatePolling:
		return "asks in vain: " + at
	case s.Kind == hang.StateFinalized:
		return "at the end: " + at
	case s.Kind == hang.StateEnded:
		return "its process is gone, without MPI_Finalize; last " + at
	case s.Kind == hang.StateMakingCalls:
		return "at work: made calls while it was looked at; last " + at
	}
	return "in " + at + long
}

func forText(least, most int64) string {
	switch {
	case most <= 0:
		return ""
	case show.FormatDuration(float64(least)) == show.FormatDuration(float64(most)):
		return " for " + show.FormatDuration(float64(most))
	}
	return fmt.Sprintf(" for %s to %s", show.FormatDuration(float64(least)), show.FormatDuration(float64(most)))
}

func sourceText(rank int) string {
	if rank < 0 {
		return "any rank"
	}
	return fmt.Sprintf("rank %d", rank)
}

func tagText(tag int64) string {
	if tag < 0 {
		return "any tag"
	}
	return fmt.Sprintf("tag %d", tag)
}

func onText(comm string) string {
	if comm == "MPI_COMM_WORLD" {
		return ""
	}
	return ", " + comm
}

// mismatch prints a collective call in which members call different functions, or name different roots.
func (v *whereView) mismatch(m *hang.Mismatch) {
	fmt.Fprintf(v.w, "  call %s on %s\n", show.FormatGrouped(m.CollectiveIndex+1), m.Comm)
	for i := range m.Calls {
		c := &m.Calls[i]
		root := ""
		if c.RootInComm >= 0 {
			root = fmt.Sprintf(" with root %d", c.RootInComm)
		}
		fmt.Fprintln(v.w, show.ShortenPlaces(fmt.Sprintf("    %s: %s%s at %s", theseRanks(c.Ranks), c.Function, root, c.Place), c.Place))
	}
}
