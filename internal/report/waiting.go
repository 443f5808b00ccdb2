package report

import (
	"errors"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
)

// WaitTable is why ranks waited, by call site.
type WaitTable struct {
	*waits.Report
	SitesOmitted int `json:"more"` // call sites left out
}

// WaitTiles are the ranks' waits in the same tiles as the timeline's functions.
type WaitTiles struct {
	KindNames        []string `json:"names"` // names of the kinds of wait states
	PackedMainKinds  string   `json:"main"`  // a byte for each row and tile: kind with most time, 255: none
	PackedWaitShares string   `json:"share"` // a byte for each row and tile: 250 × share of the time that was waited
}

// Bounds of wait states.
const (
	maxWaitCalls = 1 << 24 // largest number of the run's calls; with more, no wait states are found
	maxWaitSites = 200
	maxWaitRanks = 1024
	maxCauses    = 5
	maxNamedFor  = 8 // largest number of ranks listed for a call site
)

// waitSums adds up waits by row and tile of a timeline.
type waitSums struct {
	t     *Timeline
	row   map[thread]int
	ranks []int       // by row: number of threads in it
	sums  [][]float32 // by kind of wait, then by row × tiles + tile: ns
	each  [][]waits.Wait
	keep  bool
}

// waiting finds wait states where times of calls are known well enough. It returns a function that returns the waits of
// a row, in order of time.
func (t *Timeline) waiting(r *trace.Reader, rows [][]thread, s *sums.Summary, o Options) (func(row int) []waits.Wait, error) {
	if !t.own || s.Calls > maxWaitCalls {
		return nil, nil
	}
	names := waits.Kinds()
	w := &waitSums{t: t, row: make(map[thread]int), each: make([][]waits.Wait, len(rows)), keep: s.Calls <= maxSingle || o.UsesViewer}
	for i, list := range rows {
		for _, x := range list {
			w.row[x] = i
		}
		w.ranks = append(w.ranks, len(list))
	}
	for range names {
		w.sums = append(w.sums, make([]float32, len(rows)*t.Tiles))
	}
	first, _, err := r.TimeExtent()
	if err != nil {
		return nil, err
	}
	t.first = first
	done := 0
	rep, err := waits.Analyse(r, waits.Options{
		WithPath: true, NameSite: o.called, Loops: calltree.NewLoops(r, calltree.Options{Locate: o.SiteNaming.Locate, Code: o.Code}),
		Progress: func(n uint64) { done += int(n); o.Progress("finding wait states", done, int(s.Calls)) },
		EachWait: func(x waits.Wait) { w.add(x, first-t.StartNs) },
	})
	if errors.Is(err, waits.ErrNoSingleTimes) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t.found = rep
	t.WaitTiles = &WaitTiles{KindNames: names}
	t.WaitTiles.PackedMainKinds, t.WaitTiles.PackedWaitShares = w.tiles()
	for _, list := range w.each {
		slices.SortStableFunc(list, func(a, b waits.Wait) int { return int(max(-1, min(1, a.BeginNs-b.BeginNs))) })
	}
	return func(row int) []waits.Wait { return w.each[row] }, nil
}

// waiting sets d.WaitStates: to the wait states that the timeline found or, without these, to those that the ranks
// computed at the end of the run.
func (d *Data) waiting(r *trace.Reader, o Options) (err error) {
	var rep *waits.Report
	if d.Timeline != nil {
		rep = d.Timeline.found
	}
	if rep == nil {
		if d.NoWaitsReason, err = waits.MissingReason(r); d.NoWaitsReason != "" || err != nil {
			return err
		}
		if rep, err = waits.FromTrace(r, o.called); rep == nil || err != nil {
			return err
		}
	}
	rep.MergeSites()
	d.WaitStates = &WaitTable{Report: rep}
	return nil
}

// add adds a wait. offset is added to its times, which then count from the timeline's start.
func (w *waitSums) add(x waits.Wait, offset int64) {
	row, ok := w.row[thread{x.Rank, x.Stream}]
	if !ok {
		return // no row has the thread, as the timeline read only the first rank of each row
	}
	if w.keep && x.Ns > 0 {
		w.each[row] = append(w.each[row], x)
	}
	sums := w.sums[x.Kind][row*w.t.Tiles : (row+1)*w.t.Tiles]
	sign := float32(1)
	if x.Ns < 0 {
		x.Ns, sign = -x.Ns, -1
	}
	eachTile(w.t.width(), w.t.Tiles, float64(x.BeginNs+offset), float64(x.BeginNs+offset+x.Ns), func(tile int, ns float64) { sums[tile] += sign * float32(ns) })
}

func (w *waitSums) tiles() (main, share string) {
	n := len(w.ranks) * w.t.Tiles
	dominant, parts := make([]byte, n), make([]byte, n)
	for i := range n {
		best, most, sum := 255, float32(0), float32(0)
		for kind := range w.sums {
			v := w.sums[kind][i]
			if sum += v; v > most {
				best, most = kind, v
			}
		}
		dominant[i], parts[i] = byte(best), portion(sum, w.t.width()*float64(w.ranks[i/w.t.Tiles]))
	}
	return packed(dominant), packed(parts)
}

func (w *WaitTable) cut() {
	rep := w.Report
	w.SitesOmitted = max(0, len(rep.Sites)-maxWaitSites)
	rep.Sites = rep.Sites[:min(len(rep.Sites), maxWaitSites)]
	for i := range rep.Sites {
		s := &rep.Sites[i]
		s.Causes = s.Causes[:min(len(s.Causes), maxCauses)]
		s.Ranks, s.LateRanks = s.Ranks[:min(len(s.Ranks), maxNamedFor)], s.LateRanks[:min(len(s.LateRanks), maxNamedFor)]
	}
	rep.ByRank = rep.ByRank[:min(len(rep.ByRank), maxWaitRanks)]
	if p := rep.Path; p != nil {
		p.Sites, p.Ranks = p.Sites[:min(len(p.Sites), maxWaitSites)], p.Ranks[:min(len(p.Ranks), maxWaitRanks)]
	}
}

// eachTile calls add for each tile that the time from start to end touches, with how many ns of it are in the tile.
func eachTile(width float64, tiles int, start, end float64, add func(tile int, ns float64)) {
	i, j := int(start/width), int(end/width)
	i, j = max(0, min(i, tiles-1)), max(0, min(j, tiles-1))
	for k := i; k <= j; k++ {
		from, to := start, end
		if k > i {
			from = float64(k) * width
		}
		if k < j {
			to = float64(k+1) * width
		}
		add(k, to-from)
	}
}
