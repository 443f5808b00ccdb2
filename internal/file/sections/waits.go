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
// A step is a time as timing.Step. A share byte is a part in 200ths. In version 1 left was 0 in place of 5, with share bytes in place of
// the steps of times, which were 3 % off where sixteen ranks waited.
func AppendWaits(b []byte, w *model.Waits) []byte {
	x := waitCoder{Coder: wire.Coder{B: b}}
	x.waits(w)
	return x.B
}

const (
	wholeShare = 200
	knownSteps = 5
)

// WaitBounds is how many ranks, functions, sites and kinds there are.
type WaitBounds struct{ Ranks, Functions, Sites, Kinds int }

// DecodeWaits reads what AppendWaits wrote.
func DecodeWaits(r *wire.Reader, n WaitBounds) *model.Waits {
	x, w := waitCoder{Coder: wire.Coder{Reader: r}, n: n}, &model.Waits{}
	x.waits(w)
	return w
}

type waitCoder struct {
	wire.Coder
	n      WaitBounds
	shares bool // of version 1
}

func (x *waitCoder) steps(list ...*int64) {
	for _, ns := range list {
		step := timing.StepOf(uint64(max(0, *ns)))
		if wire.Bounded(&x.Coder, &step, timing.MaxStep); x.Reader != nil {
			*ns = int64(math.Round(step.Ns()))
		}
	}
}

func (x *waitCoder) share(v *float64) {
	part := byte(math.Round(max(0, min(1, *v)) * wholeShare))
	if wire.Byte(&x.Coder, &part); x.Reader != nil {
		*v = float64(part) / wholeShare
	}
	x.Refuse(part > wholeShare, "a share of %d/%d", part, wholeShare)
}

func (x *waitCoder) rank(v *int) { wire.Bounded(&x.Coder, v, x.n.Ranks-1) }

func (x *waitCoder) place(p *model.WaitPlace) {
	if wire.Above(&x.Coder, &p.Function, -1, x.n.Functions); p.Function >= 0 {
		wire.Bounded(&x.Coder, &p.Site, x.n.Sites)
	}
}

func (x *waitCoder) times(all *int, list *[]model.WaitRankNs, waited int64) {
	wire.Bounded(&x.Coder, all, math.MaxInt32)
	wire.List(&x.Coder, list, 2, func(_ int, r *model.WaitRankNs) {
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
	left := int(w.Left)
	if w.Left == model.WaitsKnown {
		left = knownSteps
	}
	if wire.Bounded(c, &left, knownSteps); x.Reader != nil {
		x.shares = left == int(model.WaitsKnown)
		w.Left = model.WaitsLeft(left % knownSteps)
	}
	switch w.Left {
	case model.LeftTime:
		x.steps(&w.NeedsNs)
		return
	case model.WaitsKnown:
	default:
		return
	}
	x.share(&w.Part)
	wire.Bounded(c, &w.Threads, math.MaxInt32)
	x.steps(&w.RunNs, &w.MPINs)
	wire.Naturals(c, &w.Messages, &w.Backwards)
	x.steps(&w.ClockErrorNs)
	wire.List(c, &w.Sites, 8, func(_ int, s *model.WaitSite) {
		x.place(&s.WaitPlace)
		wire.Bounded(c, &s.Kind, n.Kinds-1)
		wire.Naturals(c, &s.Count)
		x.steps(&s.WaitedNs)
		x.times(&s.Waiting, &s.Ranks, s.WaitedNs)
		x.times(&s.Awaited, &s.Late, s.WaitedNs)
		wire.List(c, &s.Causes, 3, func(_ int, cause *model.WaitCause) {
			x.place(&cause.WaitPlace)
			x.share(&cause.Share)
			x.share(&cause.Compute)
		})
	})
	before := 0
	wire.List(c, &w.ByRank, 5, func(i int, r *model.WaitRank) {
		wire.Above(c, &r.Rank, before, n.Ranks-1-before)
		x.Refuse(i > 0 && r.Rank == before, "rank %d twice", before)
		before = r.Rank
		x.steps(&r.RunNs, &r.MPINs, &r.WaitedNs, &r.CausedNs)
	})
	wire.List(c, &w.Other, 2, func(_ int, o *model.WaitOther) {
		wire.Bounded(c, &o.Function, n.Functions-1)
		x.steps(&o.Ns)
	})
	wire.List(c, &w.Losses, 2, func(_ int, l *model.WaitLoss) {
		x.String(&l.What)
		wire.Naturals(c, &l.Count)
	})
	p, hops := w.Path, 0
	if p != nil {
		hops = p.Hops + 1
	}
	if wire.Bounded(c, &hops, math.MaxInt32); hops == 0 || x.Failed() {
		return
	}
	if p == nil {
		p = &model.WaitPath{Hops: hops - 1}
		w.Path = p
	}
	x.rank(&p.Rank)
	x.steps(&p.RunNs, &p.OutsideNs, &p.SpoorNs)
	wire.List(c, &p.Sites, 5, func(_ int, s *model.WaitPathSite) {
		x.place(&s.WaitPlace)
		x.steps(&s.ComputeNs, &s.MPINs, &s.MeanNs)
		x.rank(&s.Rank)
	})
	wire.List(c, &p.Ranks, 3, func(_ int, r *model.WaitPathRank) {
		x.rank(&r.Rank)
		x.steps(&r.ComputeNs, &r.MPINs)
	})
}
