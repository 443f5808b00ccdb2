package sections

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
)

// AppendWaits and DecodeWaits: the section of waits. Numbers are uvarints unless said otherwise.
//
//	waits   = left; of 1: step; of 5:
//	          part share byte, threads, run step, MPI step, messages, backwards, off step, sites, site…, ranks, rank…, others, (function, step)…,
//	          losses, (what string, count)…, path
//	site    = place, kind, count, waited step, times of those that waited, times of those for which they did, causes, cause…
//	place   = function + 1, if that isn't 0: site
//	times   = ranks in all, ranks here, (rank, step)…
//	cause   = place, share byte, computed byte
//	rank    = number - that before it, run step, MPI step, waited step, caused step
//	path    = 0 if there is none, else 1 + hops, rank, run step, outside step, spoor step, sites, (place, computed step, MPI step,
//	          mean step, rank)…, ranks, (rank, computed step, MPI step)…
//
// left is a model.WaitsStatus, but 5 for WaitsKnown. A step is a time as timing.LogTime. A share byte is a part in
// 200ths. In version 1 left was 0 in place of 5, with share bytes in place of the steps of times, which were 3 % off
// where sixteen ranks waited.
func AppendWaits(b []byte, w *model.Waits) []byte {
	x := waitCoder{Coder: wire.Coder{Buf: b}}
	x.waits(w)
	return x.Buf
}

const (
	wholeShare = 200
	knownSteps = 5
)

// DecodingLimits are the numbers of ranks, functions, sites and kinds, as limits for decoding.
type DecodingLimits struct{ Ranks, Functions, Sites, Kinds int }

// DecodeWaits reads what AppendWaits wrote.
func DecodeWaits(r *wire.Reader, n DecodingLimits) *model.Waits {
	x, w := waitCoder{Coder: wire.Coder{Reader: r}, n: n}, &model.Waits{}
	x.waits(w)
	return w
}

type waitCoder struct {
	wire.Coder
	n      DecodingLimits
	shares bool // the section has version 1, where times of ranks are shares of a sum
}

func (x *waitCoder) steps(list ...*int64) {
	for _, ns := range list {
		step := timing.LogTimeOf(uint64(max(0, *ns)))
		if wire.CodeBounded(&x.Coder, &step, timing.MaxLogTime); x.Reader != nil {
			*ns = int64(math.Round(step.Ns()))
		}
	}
}

func (x *waitCoder) share(v *float64) {
	part := byte(math.Round(max(0, min(1, *v)) * wholeShare))
	if wire.CodeByte(&x.Coder, &part); x.Reader != nil {
		*v = float64(part) / wholeShare
	}
	x.RefuseIf(part > wholeShare, "a share of %d/%d", part, wholeShare)
}

func (x *waitCoder) rank(v *int) { wire.CodeBounded(&x.Coder, v, x.n.Ranks-1) }

func (x *waitCoder) place(p *model.FunctionSiteNumbers) {
	if wire.CodeAbove(&x.Coder, &p.FunctionIndex, -1, x.n.Functions); p.FunctionIndex >= 0 {
		wire.CodeBounded(&x.Coder, &p.SiteNumber, x.n.Sites)
	}
}

func (x *waitCoder) times(all *int, list *[]model.WaitRankNs, waited int64) {
	wire.CodeBounded(&x.Coder, all, math.MaxInt32)
	wire.CodeList(&x.Coder, list, 2, func(_ int, r *model.WaitRankNs) {
		x.rank(&r.Rank)
		if !x.shares {
			x.steps(&r.Ns)
			return
		}
		share := 0.0
		x.share(&share)
		r.Ns = int64(share * float64(waited))
	})
}

func (x *waitCoder) waits(w *model.Waits) {
	c, n := &x.Coder, x.n
	left := int(w.Status)
	if w.Status == model.WaitsKnown {
		left = knownSteps
	}
	if wire.CodeBounded(c, &left, knownSteps); x.Reader != nil {
		x.shares = left == int(model.WaitsKnown)
		w.Status = model.WaitsStatus(left % knownSteps)
	}
	switch w.Status {
	case model.WaitsAnalysisTooLong:
		x.steps(&w.EstimatedAnalysisNs)
		return
	case model.WaitsKnown:
	default:
		return
	}
	x.share(&w.AnalysedShare)
	wire.CodeBounded(c, &w.MaxThreads, math.MaxInt32)
	x.steps(&w.ThreadRunNs, &w.MPINs)
	wire.CodeNaturals(c, &w.Messages, &w.BackwardMessages)
	x.steps(&w.ClockErrorNs)
	wire.CodeList(c, &w.Sites, 8, func(_ int, s *model.WaitSite) {
		x.place(&s.FunctionSiteNumbers)
		wire.CodeBounded(c, &s.Kind, n.Kinds-1)
		wire.CodeNaturals(c, &s.Count)
		x.steps(&s.WaitedNs)
		x.times(&s.WaitingRanks, &s.Ranks, s.WaitedNs)
		x.times(&s.AwaitedRanks, &s.LateRanks, s.WaitedNs)
		wire.CodeList(c, &s.Causes, 3, func(_ int, cause *model.WaitCause) {
			x.place(&cause.FunctionSiteNumbers)
			x.share(&cause.WaitShare)
			x.share(&cause.ComputeShare)
		})
	})
	before := 0
	wire.CodeList(c, &w.ByRank, 5, func(i int, r *model.WaitRank) {
		wire.CodeAbove(c, &r.Rank, before, n.Ranks-1-before)
		x.RefuseIf(i > 0 && r.Rank == before, "rank %d twice", before)
		before = r.Rank
		x.steps(&r.ThreadRunNs, &r.MPINs, &r.WaitedNs, &r.CausedWaitNs)
	})
	wire.CodeList(c, &w.UnanalysedFunctions, 2, func(_ int, o *model.UnanalysedFunction) {
		wire.CodeBounded(c, &o.FunctionIndex, n.Functions-1)
		x.steps(&o.CallNs)
	})
	wire.CodeList(c, &w.Omissions, 2, func(_ int, l *model.WaitOmission) {
		x.String(&l.Reason)
		wire.CodeNaturals(c, &l.Count)
	})
	p, hops := w.Path, 0
	if p != nil {
		hops = p.Hops + 1
	}
	if wire.CodeBounded(c, &hops, math.MaxInt32); hops == 0 || x.Failed() {
		return
	}
	if p == nil {
		p = &model.CriticalPath{Hops: hops - 1}
		w.Path = p
	}
	x.rank(&p.EndRank)
	x.steps(&p.LengthNs, &p.OutsideMPINs, &p.AsideNs)
	wire.CodeList(c, &p.Sites, 5, func(_ int, s *model.CriticalPathSite) {
		x.place(&s.FunctionSiteNumbers)
		x.steps(&s.ComputeNs, &s.MPINs, &s.MeanOverRanksNs)
		x.rank(&s.MaxRank)
	})
	wire.CodeList(c, &p.Ranks, 3, func(_ int, r *model.CriticalPathRank) {
		x.rank(&r.Rank)
		x.steps(&r.ComputeNs, &r.MPINs)
	})
}
