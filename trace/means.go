package trace

import (
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing/timeline"
)

// means returns the time line of a stream that is made from means. It is cached: only the first call takes time in
// proportion to the stream's grammar.
func (k *Rank) means(stream int) (*timeline.MeanTimes, error) {
	k.mu.Lock()
	if k.lines == nil {
		k.lines = make([]*timeline.MeanTimes, len(k.streams))
	}
	m := k.lines[stream]
	k.mu.Unlock()
	if m != nil {
		return m, nil
	}
	m, err := k.readMeans(stream)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lines[stream] = m
	return m, nil
}

// readMeans reads the mean times of a stream's calls from the statistics of its class.
func (k *Rank) readMeans(stream int) (*timeline.MeanTimes, error) {
	stats, _, err := k.r.timeLineTimes(k.nclass)
	if err != nil {
		return nil, err
	}
	p, err := k.Process()
	if err != nil {
		return nil, err
	}
	m := &timeline.MeanTimes{Timings: make([]Timing, len(stats)), Scale: 1}
	l, err := k.line()
	if err != nil {
		return nil, err
	}
	m.StartNs = l.ToRunTime(p.InitWallClockNs) // with times of each call, the first of them would be more accurate
	for i := range stats {
		m.Timings[i] = Timing{Duration: meanSample(stats[i].Duration), Gap: meanSample(stats[i].Gap)}
	}
	if err := k.checkMeans(stream, m.Timings); err != nil {
		return nil, err
	}
	if err := k.placeMeans(stream, m); err != nil {
		return nil, err
	}
	own, err := k.ownMeans(m, stats)
	if err != nil {
		return nil, err
	}
	weight := func(t uint32) int64 { return int64(m.Timings[t].Duration.Ns + m.Timings[t].Gap.Ns) }
	if m.Leaves != nil {
		m.Sums = grammar.NewWeightSums(m.Leaves, weight)
	} else {
		m.Sums = k.weighed(stream, weight)
	}
	// The first thread's means are scaled so that they add up to Process.FirstThreadNs, the rank's own time.
	if total := m.Sums.Total(); stream == 0 && p.FirstThreadNs > 0 && total > 0 {
		m.Scale = float64(p.FirstThreadNs) / float64(total)
	}
	clock, err := k.Clock()
	if err != nil {
		return nil, err
	}
	m.ClockDrift = 1 + clock.Drift()
	m.Scale *= m.ClockDrift
	asides, err := k.asidesOf(stream)
	if err != nil {
		return nil, err
	}
	var rounds *LoopIterations
	anchored, err := k.anchored(stream, &p)
	if err != nil {
		return nil, err
	}
	if anchored {
		if rounds, err = k.WhenLoopIterations(); err != nil {
			return nil, err
		}
	}
	if rounds != nil {
		if asides, err = k.spreadAsides(asides, rounds); err != nil {
			return nil, err
		}
	}
	m.PlaceAsides(asides)
	if anchored {
		if err := k.anchor(m, rounds, &p, own); err != nil {
			return nil, err
		}
	}
	if stream == 0 && rounds == nil { // otherwise section when bounds the errors: it has each iteration's time
		m.BoundStartErrors(stats, p.FirstThreadNs, k.r.Ranks(), k.CallCount(0), func(weight func(uint32) int64) *grammar.WeightSums { return k.weighed(0, weight) })
	}
	return m, nil
}

// ownMeans scales the class's means to the rank, so that its calls add up to the rank's time in each call site, as
// Totals has it. known reports whether the means are then the rank's own: not if the trace has no totals of ranks.
func (k *Rank) ownMeans(m *timeline.MeanTimes, stats []Times) (known bool, err error) {
	all, err := k.r.Totals(k.nclass)
	if err != nil || all.known == nil {
		return err == nil && all.ranks == 1, err
	}
	site := sections.NumberGroups(k.class.Groups()) // in the order of Totals
	sites := all.ForMember(k.index).Sites
	// gaps and durations are by site: at first the times if the rank's calls took the class's means, then factors.
	gaps, durations := make([]float64, len(sites)), make([]float64, len(sites))
	for stream := range k.streams {
		for t, n := range k.TerminalCounts(stream) {
			gaps[site[t]] += float64(n) * stats[t].Gap.Mean()
			durations[site[t]] += float64(n) * stats[t].Duration.Mean()
		}
	}
	for i := range sites {
		gaps[i], durations[i] = factor(sites[i].Gap.Ns, gaps[i]), factor(sites[i].Duration.Ns, durations[i])
	}
	m.ScaleByTerminal(func(terminal int) (gap, duration float64) { return gaps[site[terminal]], durations[site[terminal]] })
	return true, nil
}

// factor returns by what a class's mean times are multiplied to become a rank's own; 1 if that is unknown.
func factor(own, mean float64) float64 {
	if mean <= 0 || own < 0 {
		return 1
	}
	return own / mean
}

// placeMeans replaces the means of terminals in m by those of leaves, if the trace has times of leaves. It also does so
// if the trace has histograms, as samples drawn from these depend on the leaf.
func (k *Rank) placeMeans(stream int, m *timeline.MeanTimes) error {
	placed, err := k.r.placed(k.nclass)
	if err != nil {
		return err
	}
	firsts, err := k.r.hasFirsts(k.nclass)
	if err != nil {
		return err
	}
	_, hists, err := k.r.timeLineTimes(k.nclass)
	if err != nil || len(hists) == 0 && (len(placed) == 0 && !firsts || stream > 0) {
		return err
	}
	leaves := k.Leaves(stream)
	times, _, err := leaves.means(k)
	if err != nil {
		return err
	}
	m.UseLeafTimes(leaves.tree.Grammar, leaves.tree.OriginalTerminal, times)
	if len(hists) == 0 {
		m.SplitFirstCalls(leaves.FirstPositions(k))
	}
	return nil
}

func meanSample(s Stat) Sample {
	if s.Count == 0 {
		return Sample{}
	}
	mean := uint64(s.Mean() + 0.5)
	return Sample{Ns: mean, Kind: MeanSample, ErrorBoundNs: max(mean-min(s.Min, mean), s.Max-min(s.Max, mean))}
}
