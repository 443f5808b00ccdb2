package efficiency

import (
	"math"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// An estimate is a time in ns (mid) with a lower and an upper bound.
type estimate struct{ low, mid, high float64 }

func (s estimate) within(low, high float64) estimate {
	// Bounds that contradict those of s are ignored.
	if high < s.low || low > s.high {
		return s
	}
	return estimate{max(s.low, low), 0, min(s.high, high)}
}

// around narrows an estimate to the bounds of t, which is the same time known from elsewhere.
func (s estimate) around(t trace.BoundedTime) estimate {
	return s.within(max(0, t.Ns-t.ErrorBoundNs), t.Ns+t.ErrorBoundNs)
}

func (s estimate) plus(o estimate) estimate {
	return estimate{s.low + o.low, s.mid + o.mid, s.high + o.high}
}

func (s estimate) less(o estimate) estimate {
	return estimate{max(0, s.low-o.high), max(0, s.mid-o.mid), max(0, s.high-o.low)}
}

func (s estimate) width() float64 { return s.high - s.low }

func (s *estimate) addTotal(t trace.BoundedTime) {
	*s = s.plus(estimate{max(0, t.Ns-t.ErrorBoundNs), t.Ns, t.Ns + t.ErrorBoundNs})
}

// sharper returns the one of two estimates whose bounds are closer.
func (s estimate) sharper(o estimate) estimate {
	if o.width() < s.width() {
		return o
	}
	return s
}

// spent is a rank's time inside and outside of MPI, over all its threads.
type spent struct{ useful, mpi estimate }

func known(v float64) estimate { return estimate{v, v, v} }

// classSpent estimates the times of each rank of a class, by member. The sums over the class are known. A rank's times
// are bounded by its totals, by the extremes over ranks of each distinct call, and by the rounded times in the table of
// processes.
func classSpent(times []trace.Times, members []int, own []*trace.Totals, procs *trace.Processes) []spent {
	list := make([]spent, len(members))
	at := make(map[int32]int, len(members))
	for i, rank := range members {
		at[int32(rank)] = i
	}
	ranks := procs.Len()
	useful := classSpans(times, len(members), at, func(t *trace.Times) (trace.Stat, trace.Spread) { return t.Gap, t.SiteGapTotals })
	mpi := classSpans(times, len(members), at, func(t *trace.Times) (trace.Stat, trace.Spread) { return t.Duration, t.SiteDurationTotals })
	var sumUseful, sumMPI float64
	for i := range times {
		sumUseful += float64(times[i].Gap.Sum)
		sumMPI += float64(times[i].Duration.Sum)
	}
	for i, rank := range members {
		p := procs.At(rank)
		if len(members) == 1 {
			break
		}
		useful[i] = useful[i].around(own[i].Gap)
		mpi[i] = mpi[i].around(own[i].Duration)
		e := float64(trace.ProcessRoundingErrorNs(p.AllThreadsMPINs, ranks))
		mpi[i] = mpi[i].within(float64(p.AllThreadsMPINs)-e, float64(p.AllThreadsMPINs)+e)
		if p.Threads <= 1 {
			// With one thread, the time outside of MPI is the run time without the time in MPI.
			d, e := float64(p.FirstThreadNs-p.AllThreadsMPINs), float64(trace.ProcessRoundingErrorNs(p.FirstThreadNs, ranks))+e
			useful[i] = useful[i].within(d-e, d+e)
		}
	}
	settle(useful, sumUseful)
	settle(mpi, sumMPI)
	for i := range list {
		list[i] = spent{useful[i], mpi[i]}
	}
	return list
}

// classSpans bounds the time of each rank of a class, by member, from the least and the greatest rank's time of each
// distinct call. n is the number of ranks, at the member by rank, and of selects durations or gaps.
func classSpans(times []trace.Times, n int, at map[int32]int, of func(*trace.Times) (trace.Stat, trace.Spread)) []estimate {
	list := make([]estimate, n)
	for t := range times {
		stat, totals := of(&times[t])
		if n == 1 {
			list[0].low += float64(stat.Sum) * (1 - trace.MaxRelativeSumError)
			list[0].high += float64(stat.Sum) * (1 + trace.MaxRelativeSumError)
			continue
		}
		if totals.Ranks != n {
			continue
		}
		mean := totals.Mean()
		// The trace has the extremes as distances from the mean, rounded to six significant bits.
		least, most := float64(totals.Min), float64(totals.Max)
		offLeast, offMost := (mean-least)/64+1, (most-mean)/64+1
		if stat.Count == uint64(n) && stat.Sum == totals.Sum { // one call per rank: extremes are rounded to eleven bits
			offLeast, offMost = (mean-least)/1024+1, (most-mean)/1024+1
		}
		for i := range list {
			list[i].low += max(0, least-offLeast)
			list[i].high += most + offMost
		}
		if i, ok := at[totals.MaxRank]; ok {
			list[i].low += most - offMost - max(0, least-offLeast)
		}
		if i, ok := at[totals.MinRank]; ok && totals.MinRank != totals.MaxRank {
			list[i].high -= most + offMost - least - offLeast
		}
	}
	return list
}

// settle chooses a mid for each estimate, within its bounds, so that all mids add up to sum.
func settle(list []estimate, sum float64) {
	var mids, width float64
	for i := range list {
		s := &list[i]
		s.high = max(s.low, min(s.high, sum))
		s.mid = (s.low + s.high) / 2
		mids += s.mid
		width += s.high - s.low
	}
	if width == 0 {
		return
	}
	d := max(-0.5, min(0.5, (sum-mids)/width))
	for i := range list {
		list[i].mid += d * (list[i].high - list[i].low)
	}
}

// A BoundedShare is a share from 0 to 1, with a lower and an upper bound.
type BoundedShare struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// IsPrecise reports whether a share is precise enough to print: its error is at most 0.02, or at most a quarter of the
// share and of 1 minus the share.
func (s BoundedShare) IsPrecise() bool {
	off := (s.High - s.Low) / 2
	return off <= 0.02 || off <= min(s.Value, 1-s.Value)/4
}

// efficiency computes r.Efficiency from the times of ranks. The largest useful time lies between the largest of the
// ranks' lower bounds and the largest of their upper bounds.
func (r *Report) efficiency(ranks []rankSpent) {
	e := &r.Efficiency
	if len(ranks) == 0 || e.RuntimeNs <= 0 {
		return
	}
	var sum, runtime, off float64
	var most estimate
	for _, x := range ranks {
		sum += x.useful.mid
		most.low, most.mid, most.high = max(most.low, x.useful.low), max(most.mid, x.useful.mid), max(most.high, x.useful.high)
		if x.runtime > runtime {
			runtime, off = x.runtime, x.off
		}
	}
	e.RuntimeNs, e.RuntimeErrorNs = int64(runtime), int64(off)
	mean := sum / float64(len(ranks))
	share := func(value, low, high float64) BoundedShare {
		return BoundedShare{clamp(value), clamp(low), clamp(high)}
	}
	if runtime <= 0 || most.mid <= 0 {
		return
	}
	most.high = min(most.high, max(most.mid, sum))
	e.Parallel = share(mean/runtime, mean/(runtime+off), mean/max(1, runtime-off))
	e.LoadBalance = share(mean/most.mid, mean/most.high, mean/max(most.low, mean))
	e.Communication = share(most.mid/runtime, max(most.low, mean)/(runtime+off), most.high/max(1, runtime-off))
}

func clamp(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return max(0, min(1, x))
}

// A rankSpent is what is known of a rank's times, summed over its threads.
type rankSpent struct {
	rank, threads  int
	useful, mpi    estimate // time outside of MPI and in MPI
	init, finalize estimate // time in MPI_Init, and in MPI_Finalize
	rest           estimate // time in MPI without MPI_Init and MPI_Finalize
	runtime, off   float64  // run time in ns, and its largest error
}

// mpiOf returns the part of the MPI time to which a call belongs: init is true for MPI_Init, finalize for MPI_Finalize.
func (x *rankSpent) mpiOf(init, finalize bool) *estimate {
	switch {
	case init:
		return &x.init
	case finalize:
		return &x.finalize
	}
	return &x.rest
}

// inside changes MPI time and run time to those between MPI_Init and MPI_Finalize. Each is the more precise of two: the
// whole without these calls, or the sum of all other times.
func (x *rankSpent) inside() {
	ends := x.init.plus(x.finalize)
	x.mpi = x.rest.sharper(x.mpi.less(ends))
	run := estimate{x.runtime - x.off, x.runtime, x.runtime + x.off}.less(ends)
	if x.threads <= 1 {
		run = x.useful.plus(x.mpi).sharper(run)
	}
	x.runtime, x.off = run.mid, max(run.high-run.mid, run.mid-run.low)
}

// A collector collects the times of all ranks.
type collector struct {
	list           []*rankSpent       // of ranks with a track, in rising order of ranks
	of             map[int]*rankSpent // the same, by rank
	init, finalize []rankGroup        // ranks' times in MPI_Init and MPI_Finalize
}

// ends reports for each distinct call of a rank, by terminal, whether it is MPI_Init or MPI_Finalize.
func ends(k *trace.Rank) (init, finalize []bool) {
	init, finalize = make([]bool, k.Terminals()), make([]bool, k.Terminals())
	for t := range init {
		c := k.CallWithoutParams(t)
		def, _ := mpi.CallByID(c.Func.ID)
		init[t], finalize[t] = def.Has(mpi.AttrInitialises), def.Has(mpi.AttrFinalises)
	}
	return init, finalize
}

// class sets the times of a class's ranks from the class's statistics (times) and the ranks' totals (own, by member).
func (u *collector) class(r *trace.Reader, k *trace.Rank, times []trace.Times, members []int, own []*trace.Totals) error {
	procs, err := r.Processes()
	if err != nil {
		return err
	}
	init, finalize := ends(k)
	list := classSpent(times, members, own, procs)
	for t := range times {
		for _, x := range []struct {
			is    bool
			parts *[]rankGroup
		}{{init[t], &u.init}, {finalize[t], &u.finalize}} {
			if x.is && times[t].Duration.Count > 0 {
				*x.parts = append(*x.parts, spread(times[t].Duration, []trace.Spread{times[t].SiteDurationTotals}, members)...)
			}
		}
	}
	for i, rank := range members {
		x := u.of[rank]
		if x == nil {
			continue
		}
		x.useful, x.mpi = list[i].useful, list[i].mpi
		for _, site := range own[i].Sites {
			x.mpiOf(init[site.FirstTerminal], finalize[site.FirstTerminal]).addTotal(site.Duration)
		}
	}
	return nil
}

// An ownTimes sums the times of a rank's single calls.
type ownTimes struct {
	x              *rankSpent
	init, finalize []bool
}

// own returns an ownTimes that has no calls yet, for a rank.
func (u *collector) own(k *trace.Rank) *ownTimes {
	o := &ownTimes{x: u.of[k.Number()]}
	if o.x == nil {
		o.x = &rankSpent{}
	}
	o.x.useful, o.x.mpi = estimate{}, estimate{}
	o.init, o.finalize = ends(k)
	return o
}

func (o *ownTimes) add(terminal int, t *trace.Timing) {
	o.x.useful.add(t.Gap)
	o.x.mpi.add(t.Duration)
	o.x.mpiOf(o.init[terminal], o.finalize[terminal]).add(t.Duration)
}

// settle replaces the sums over the rank's single calls by its totals t where these are more precise.
func (o *ownTimes) settle(t *trace.Totals) {
	var from rankSpent
	from.useful.addTotal(t.Gap)
	from.mpi.addTotal(t.Duration)
	for _, site := range t.Sites {
		from.mpiOf(o.init[site.FirstTerminal], o.finalize[site.FirstTerminal]).addTotal(site.Duration)
	}
	x := o.x
	x.useful, x.mpi = x.useful.sharper(from.useful), x.mpi.sharper(from.mpi)
	x.init, x.finalize, x.rest = x.init.sharper(from.init), x.finalize.sharper(from.finalize), x.rest.sharper(from.rest)
}

func (s *estimate) add(x trace.Sample) {
	s.low += float64(x.Ns) - math.Min(float64(x.ErrorBoundNs), float64(x.Ns))
	s.mid += float64(x.Ns)
	s.high += float64(x.Ns) + float64(x.ErrorBoundNs)
}

// whole computes the efficiencies, and the distributions over ranks, from all ranks' times.
func (r *Report) whole(o Options, hosts func(int) string) {
	list := make([]rankSpent, len(r.spent.list))
	own := len(r.spent.init) == 0
	for i, x := range r.spent.list {
		r.MaxThreads = max(r.MaxThreads, x.threads)
		r.ThreadRunNs += x.useful.mid + x.mpi.mid
		if own {
			r.spent.init = append(r.spent.init, single(x.init.mid, x.rank))
			r.spent.finalize = append(r.spent.finalize, single(x.finalize.mid, x.rank))
		}
		list[i] = *x
		y := &list[i]
		if y.threads > 1 {
			y.perThread()
		}
		if o.ExcludeInitFinalize {
			y.inside()
		}
	}
	if !o.ExcludeInitFinalize {
		r.InitTime, r.FinalizeTime = combine(r.spent.init, hosts), combine(r.spent.finalize, hosts)
	}
	for i := range list {
		r.Efficiency.RuntimeNs = max(r.Efficiency.RuntimeNs, int64(list[i].runtime))
	}
	r.efficiency(list)
	r.UsefulTime = overRanks(list, func(x *rankSpent) estimate { return x.useful }, hosts)
	r.MPITime = overRanks(list, func(x *rankSpent) estimate { return x.mpi }, hosts)
}

// perThread scales the times of a rank with several threads, which are sums over threads, so that useful and mpi add up
// to its run time.
func (x *rankSpent) perThread() {
	all := x.useful.mid + x.mpi.mid
	if all <= 0 {
		return
	}
	f := x.runtime / all
	x.useful = estimate{x.useful.low * f, x.useful.mid * f, x.useful.high * f}
	x.mpi = estimate{x.mpi.low * f, x.mpi.mid * f, x.mpi.high * f}
}

// overRanks returns the distribution over ranks of the times that of selects. hosts returns the host of a rank.
func overRanks(ranks []rankSpent, of func(*rankSpent) estimate, hosts func(int) string) RankTimeDistribution {
	list := make([]rankNs, len(ranks))
	within := 0.0
	for i := range ranks {
		s := of(&ranks[i])
		list[i] = rankNs{s.mid, ranks[i].rank}
		within = max(within, s.high-s.mid, s.mid-s.low)
	}
	d := exact(list, hosts)
	d.ErrorNs = within
	if within >= 1 {
		d.Exact = false
		if within > d.Max.Ns-d.Min.Ns {
			d.RankHistogram, d.Groups = nil, nil
		}
	}
	return d
}
