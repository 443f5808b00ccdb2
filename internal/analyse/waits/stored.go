package waits

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// Limits of what a trace stores: call sites, ranks and causes per site, ranks, call sites and ranks of the path.
const (
	mostSites       = 40
	mostRanksOfSite = 6
	mostCauses      = 3
	mostRanks       = 64
	mostPathSites   = 16
	mostPathRanks   = 8
	fewSites        = 3    // number of sites, with the longest waits or times on the path, that are stored in any case
	leastPart       = 1000 // further sites need at least 1/leastPart of the run, or of the path
)

// kept returns the part of all ranks' sums that the trace stores.
func (s *sums) kept(x *Places, path *CriticalPath, on *pathSums) *trace.Waits {
	w := &trace.Waits{MaxThreads: s.threads, Messages: s.Messages, BackwardMessages: s.Backwards, ClockErrorNs: s.OffNs}
	for _, r := range s.ranks {
		w.ThreadRunNs += r.ThreadRunNs
		w.MPINs += r.MPINs
	}
	keys := slices.SortedFunc(maps.Keys(s.rows), func(x, y rowKey) int {
		return cmp.Or(cmp.Compare(s.rows[y].waited, s.rows[x].waited), x.compare(y))
	})
	var rest [kinds]trace.WaitSite
	for _, key := range keys {
		r := s.rows[key]
		if r.count == 0 {
			continue
		}
		if n := len(w.Sites); n == mostSites || n >= fewSites && r.waited*leastPart < w.ThreadRunNs {
			o := &rest[key.kind]
			o.Count += r.count
			o.WaitedNs += r.waited
			continue
		}
		site := trace.WaitSite{FunctionSiteNumbers: x.wait(key.place), Kind: int(key.kind), Count: r.count, WaitedNs: r.waited}
		site.WaitingRanks, site.Ranks = ofRanks(r.ranks)
		site.AwaitedRanks, site.LateRanks = ofRanks(r.late)
		causes := slices.SortedFunc(maps.Keys(r.causes), func(a, b callSite) int {
			return cmp.Or(cmp.Compare(r.causes[b].waited, r.causes[a].waited), cmp.Compare(a, b))
		})
		for _, at := range causes[:min(len(causes), mostCauses)] {
			if c := r.causes[at]; c.waited > 0 {
				site.Causes = append(site.Causes, trace.WaitCause{
					FunctionSiteNumbers: x.wait(at), WaitShare: float64(c.waited) / float64(r.waited), ComputeShare: float64(c.compute) / float64(c.waited),
				})
			}
		}
		w.Sites = append(w.Sites, site)
	}
	for kind, o := range rest {
		if o.Count > 0 {
			o.FunctionSiteNumbers, o.Kind = trace.FunctionSiteNumbers{FunctionIndex: -1}, kind
			w.Sites = append(w.Sites, o)
		}
	}
	for _, r := range s.ranks {
		w.ByRank = append(w.ByRank, trace.WaitRank{Rank: r.Rank, ThreadRunNs: r.ThreadRunNs, MPINs: r.MPINs, WaitedNs: r.WaitedNs, CausedWaitNs: s.caused[int32(r.Rank)]})
	}
	if len(w.ByRank) > mostRanks {
		most := func(r trace.WaitRank) int64 { return max(r.WaitedNs, r.CausedWaitNs) }
		slices.SortStableFunc(w.ByRank, func(a, b trace.WaitRank) int { return cmp.Compare(most(b), most(a)) })
		w.ByRank = w.ByRank[:mostRanks]
		slices.SortFunc(w.ByRank, func(a, b trace.WaitRank) int { return cmp.Compare(a.Rank, b.Rank) })
	}
	for i, f := range x.schema {
		if ns := s.Other[f.Name]; ns*leastOther >= w.MPINs && ns > 0 {
			w.UnanalysedFunctions = append(w.UnanalysedFunctions, trace.UnanalysedFunction{FunctionIndex: i, CallNs: ns})
		}
	}
	for _, l := range s.losses.List() {
		w.Omissions = append(w.Omissions, trace.WaitOmission{Reason: l.Reason, Count: l.Count})
	}
	if path != nil && on != nil {
		w.Path = keptPath(x, path, on, s.waited(), len(s.ranks))
	}
	return w
}

// leastOther: a function that isn't analysed is named if it takes at least 1/leastOther of the time in MPI.
const leastOther = 200

func keptPath(x *Places, path *CriticalPath, on *pathSums, waited map[callSite]int64, ranks int) *trace.CriticalPath {
	rep := Report{ByRank: make([]RankSum, ranks)}
	p := &trace.CriticalPath{LengthNs: path.LengthNs, AsideNs: on.spoor, Hops: path.Hops, EndRank: path.EndRank}
	for _, at := range slices.SortedFunc(maps.Keys(on.sites), func(a, b callSite) int {
		s, t := on.sites[a], on.sites[b]
		return cmp.Or(cmp.Compare(t.compute+t.mpi, s.compute+s.mpi), cmp.Compare(a, b))
	}) {
		s := on.sites[at]
		if s.compute+s.mpi == 0 {
			continue
		}
		p.OutsideMPINs += s.compute
		if n := len(p.Sites); n < fewSites || n < mostPathSites && (s.compute+s.mpi)*leastPart >= path.LengthNs {
			p.Sites = append(p.Sites, trace.CriticalPathSite{FunctionSiteNumbers: x.wait(at), ComputeNs: s.compute, MPINs: s.mpi, MeanOverRanksNs: rep.mean(s, waited[at]), MaxRank: max(0, int(s.rank))})
		}
	}
	list := slices.Clone(on.ranks)
	slices.SortStableFunc(list, func(a, b PathRank) int { return cmp.Compare(b.ComputeNs+b.MPINs, a.ComputeNs+a.MPINs) })
	for _, r := range list[:min(len(list), mostPathRanks)] {
		p.Ranks = append(p.Ranks, trace.CriticalPathRank(r))
	}
	return p
}

// wait returns a call site in the form that traces store.
func (x *Places) wait(p callSite) trace.FunctionSiteNumbers {
	return trace.FunctionSiteNumbers{FunctionIndex: int(p >> placeBits), SiteNumber: int(p & (1<<placeBits - 1))}
}

// placeAt is the inverse of wait.
func (x *Places) placeAt(p trace.FunctionSiteNumbers) callSite {
	return callSite(p.FunctionIndex)<<placeBits | callSite(p.SiteNumber)
}

func ofRanks(of map[int32]int64) (n int, list []trace.WaitRankNs) {
	for _, r := range most(of) {
		if n++; n <= mostRanksOfSite {
			list = append(list, trace.WaitRankNs{Rank: r.Rank, Ns: r.WaitNs})
		}
	}
	return n, list
}

// ErrNoWaits is returned for a trace without wait states.
var ErrNoWaits = errors.New("the trace has no wait states")

// MissingReasonText says why a trace has no wait states, and what the user can do.
func MissingReasonText(w *trace.Waits) string {
	again := "to have them, record with --waits always"
	switch w.Status {
	case trace.WaitsAnalysisTooLong:
		return fmt.Sprintf("computing them at the end of the run would have taken about %s; %s", show.FormatDuration(float64(w.EstimatedAnalysisNs)), again)
	case trace.WaitsTooManyCalls:
		return "a rank made more calls than it could keep times for; record with --timing lossless, or a shorter run"
	case trace.WaitsTooManyDistinct:
		return "there are too many distinct calls; " + again
	}
	return "a rank failed when they were computed"
}

// MissingReason returns why a trace has no wait states, if the trace stores a reason; else "".
func MissingReason(r *trace.Reader) (string, error) {
	w, err := r.Waits()
	if err != nil || w == nil || w.Status == trace.WaitsKnown {
		return "", err
	}
	return MissingReasonText(w), nil
}

// FromTrace makes the report from the wait states that a trace stores; nil if it stores none. called is
// Options.NameSite.
func FromTrace(r *trace.Reader, called func(function string, s trace.Site) string) (*Report, error) {
	w, err := r.Waits()
	if err != nil || w == nil {
		return nil, err
	}
	if w.Status != trace.WaitsKnown {
		return nil, fmt.Errorf("%w: %s", ErrNoWaits, MissingReasonText(w))
	}
	x, err := NewPlaces(r)
	if err != nil {
		return nil, err
	}
	name := func(p trace.FunctionSiteNumbers) (function, text string) {
		if p.FunctionIndex < 0 {
			return "", ""
		}
		at := x.at(x.placeAt(p))
		return at.Function, called(at.Function, at.Site)
	}
	rep := &Report{
		Ranks: r.Ranks(), AnalysedShare: w.AnalysedShare, TimesKind: "within 1 %", MaxThreads: w.MaxThreads, ThreadRunNs: w.ThreadRunNs, MPINs: w.MPINs, Messages: w.Messages, BackwardMessages: w.BackwardMessages, ClockErrorNs: w.ClockErrorNs,
		Kinds: []KindSum{}, Sites: []Site{}, ByRank: []RankSum{}, UnanalysedFunctions: []UnanalysedFunction{}, Omissions: []ops.Loss{},
	}
	var sums [kinds]KindSum
	for i := range w.Sites {
		s := &w.Sites[i]
		if s.Kind >= int(kinds) {
			continue
		}
		sums[s.Kind].Count += s.Count
		sums[s.Kind].WaitedNs += s.WaitedNs
		if s.FunctionIndex < 0 {
			continue
		}
		part := func(share float64) int64 { return int64(share * float64(s.WaitedNs)) }
		of := func(list []trace.WaitRankNs) (out []RankNs) {
			for _, r := range list {
				out = append(out, RankNs{r.Rank, r.Ns})
			}
			return out
		}
		site := Site{Kind: Kind(s.Kind), WaitCount: s.Count, WaitedNs: s.WaitedNs, Ranks: of(s.Ranks), LateRanks: of(s.LateRanks), WaitingRankCount: s.WaitingRanks, LateRankCount: s.AwaitedRanks, RanksOmitted: max(0, s.WaitingRanks-len(s.Ranks)), LateRanksOmitted: max(0, s.AwaitedRanks-len(s.LateRanks))}
		site.Function, site.Place = name(s.FunctionSiteNumbers)
		site.FunctionSite = x.at(x.placeAt(s.FunctionSiteNumbers))
		for _, c := range s.Causes {
			y := Cause{WaitedNs: part(c.WaitShare), LateComputeNs: int64(c.ComputeShare * float64(part(c.WaitShare)))}
			y.Function, y.Place = name(c.FunctionSiteNumbers)
			site.Causes = append(site.Causes, y)
		}
		rep.Sites = append(rep.Sites, site)
	}
	rep.addKinds(sums[:])
	for _, b := range w.ByRank {
		rep.ByRank = append(rep.ByRank, RankSum(b))
	}
	for _, o := range w.UnanalysedFunctions {
		rep.UnanalysedFunctions = append(rep.UnanalysedFunctions, UnanalysedFunction{x.schema[o.FunctionIndex].Name, o.CallNs})
	}
	slices.SortStableFunc(rep.UnanalysedFunctions, func(x, y UnanalysedFunction) int { return cmp.Compare(y.CallNs, x.CallNs) })
	for _, l := range w.Omissions {
		rep.Omissions = append(rep.Omissions, ops.Loss(l))
	}
	if p := w.Path; p != nil {
		rep.Path = &CriticalPath{LengthNs: p.LengthNs, OutsideMPINs: p.OutsideMPINs, AsideNs: p.AsideNs, Hops: p.Hops, EndRank: p.EndRank, Sites: []PathSite{}, Loops: []PathLoop{}, Ranks: []PathRank{}}
		for _, s := range p.Sites {
			y := PathSite{ComputeNs: s.ComputeNs, MPINs: s.MPINs, MeanOverRanksNs: s.MeanOverRanksNs, ImbalanceNs: max(0, s.ComputeNs+s.MPINs-s.MeanOverRanksNs), MaxRank: s.MaxRank}
			y.Function, y.Place = name(s.FunctionSiteNumbers)
			rep.Path.Sites = append(rep.Path.Sites, y)
		}
		for _, s := range p.Ranks {
			rep.Path.Ranks = append(rep.Path.Ranks, PathRank(s))
		}
	}
	return rep, nil
}

// many is the number of calls above which Analyse takes more than a few seconds.
var many int64 = 2_000_000

// AnalyseOrUseStored calls Analyse. For a whole run of many calls it returns FromTrace instead, unless each call is
// wanted; kept reports that.
func AnalyseOrUseStored(r *trace.Reader, o Options, each bool) (rep *Report, kept bool, err error) {
	procs, err := r.Processes()
	if err != nil {
		return nil, false, err
	}
	calls := int64(0)
	for _, p := range procs.All() {
		calls += p.Calls
	}
	if calls > many && !each {
		rep, err := FromTrace(r, o.NameSite)
		if err == nil && rep != nil && rep.AnalysedShare == 1 {
			return rep, true, nil
		}
	}
	rep, err = Analyse(r, o)
	return rep, false, err
}

// few is the largest number of calls that FromTraceOrAnalyse analyses: its callers need waiting only as a small part of
// an answer.
const few = 200_000

// FromTraceOrAnalyse returns FromTrace, or if that is nil, analyses a trace that has times for all of its few calls;
// nil if neither works.
func FromTraceOrAnalyse(r *trace.Reader, calls int64, called func(function string, s trace.Site) string) (*Report, error) {
	rep, err := FromTrace(r, called)
	if errors.Is(err, ErrNoWaits) {
		rep, err = nil, nil
	}
	if rep != nil || err != nil || calls > few {
		return rep, err
	}
	kind, err := r.TimeKind()
	if err != nil || !kind.OfTheCallItself() {
		return nil, err
	}
	return Analyse(r, Options{WithPath: true, NameSite: called})
}
