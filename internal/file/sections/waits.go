package sections

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace/model"
)

// AppendWaits and DecodeWaits: the section of waits. Numbers are uvarints unless said otherwise.
//
//	waits   = left; of 1: step; of 0:
//	          part share byte, threads, run step, MPI step, messages, backwards, off step, sites, site…, ranks, rank…, others, (function, step)…,
//	          losses, (what string, count)…, path
//	site    = place, kind, count, waited step, shares of those that waited, shares of those that were late, causes, cause…
//	place   = function + 1, if that isn't 0: site
//	shares  = ranks in all, ranks here, (rank, share byte)…
//	cause   = place, share byte, computed byte
//	rank    = number - that before it, run step, MPI step, waited step, caused step
//	path    = 0 if there is none, else 1 + hops, rank, run step, outside step, spoor step, sites, (place, computed step, MPI step,
//	          mean step, rank)…, ranks, (rank, computed step, MPI step)…
//
// A step is a time as timing.Step. A share byte is a part in 200ths.
func AppendWaits(b []byte, w *model.Waits) []byte {
	u := func(list ...int) {
		for _, v := range list {
			b = wire.AppendUvarint(b, uint64(v))
		}
	}
	step := func(list ...int64) {
		for _, ns := range list {
			u(int(timing.StepOf(uint64(max(0, ns)))))
		}
	}
	share := func(v float64) { b = append(b, byte(math.Round(max(0, min(1, v))*wholeShare))) }
	place := func(p model.WaitPlace) {
		if u(p.Function + 1); p.Function >= 0 {
			u(p.Site)
		}
	}
	shares := func(all int, list []model.WaitRankShare) {
		u(all, len(list))
		for _, r := range list {
			u(r.Rank)
			share(r.Share)
		}
	}
	u(int(w.Left))
	switch w.Left {
	case model.LeftTime:
		step(w.NeedsNs)
		return b
	case model.WaitsKnown:
	default:
		return b
	}
	share(w.Part)
	u(w.Threads)
	step(w.RunNs, w.MPINs)
	u(int(w.Messages), int(w.Backwards))
	step(w.OffNs)
	u(len(w.Sites))
	for i := range w.Sites {
		s := &w.Sites[i]
		place(s.WaitPlace)
		u(s.Kind, int(s.Count))
		step(s.WaitedNs)
		shares(s.Waiting, s.Ranks)
		shares(s.Awaited, s.Late)
		u(len(s.Causes))
		for _, c := range s.Causes {
			place(c.WaitPlace)
			share(c.Share)
			share(c.Compute)
		}
	}
	u(len(w.ByRank))
	before := 0
	for _, r := range w.ByRank {
		u(r.Rank - before)
		before = r.Rank
		step(r.RunNs, r.MPINs, r.WaitedNs, r.CausedNs)
	}
	u(len(w.Other))
	for _, o := range w.Other {
		u(o.Function)
		step(o.Ns)
	}
	u(len(w.Losses))
	for _, l := range w.Losses {
		b = wire.AppendString(b, l.What)
		u(int(l.Count))
	}
	p := w.Path
	if p == nil {
		u(0)
		return b
	}
	u(p.Hops+1, p.Rank)
	step(p.RunNs, p.OutsideNs, p.SpoorNs)
	u(len(p.Sites))
	for _, s := range p.Sites {
		place(s.WaitPlace)
		step(s.ComputeNs, s.MPINs, s.MeanNs)
		u(s.Rank)
	}
	u(len(p.Ranks))
	for _, r := range p.Ranks {
		u(r.Rank)
		step(r.ComputeNs, r.MPINs)
	}
	return b
}

const wholeShare = 200

// WaitBounds is how many ranks, functions, sites and kinds there are.
type WaitBounds struct{ Ranks, Functions, Sites, Kinds int }

// DecodeWaits reads what AppendWaits wrote.
func DecodeWaits(r *wire.Reader, n WaitBounds) *model.Waits {
	const most = math.MaxInt32
	step := func() int64 { return int64(math.Round(timing.Step(r.Int(timing.MaxStep)).Ns())) }
	share := func() float64 {
		v := r.Byte()
		if v > wholeShare {
			r.Fail("a share of %d/%d", v, wholeShare)
		}
		return float64(v) / wholeShare
	}
	rank := func() int { return r.Int(max(0, n.Ranks-1)) }
	place := func() (p model.WaitPlace) {
		if p.Function = r.Int(n.Functions) - 1; p.Function >= 0 {
			p.Site = r.Int(n.Sites)
		}
		return p
	}
	shares := func() (all int, list []model.WaitRankShare) {
		all = r.Int(most)
		for range r.Count(2) {
			list = append(list, model.WaitRankShare{Rank: rank(), Share: share()})
		}
		return all, list
	}
	w := &model.Waits{Left: model.WaitsLeft(r.Int(math.MaxUint8))}
	if !w.Left.Valid() {
		r.Fail("reason %d", w.Left)
	}
	switch w.Left {
	case model.LeftTime:
		w.NeedsNs = step()
		return w
	case model.WaitsKnown:
	default:
		return w
	}
	w.Part = share()
	w.Threads, w.RunNs, w.MPINs = r.Int(most), step(), step()
	w.Messages, w.Backwards, w.OffNs = r.Uvarint()&math.MaxInt64, r.Uvarint()&math.MaxInt64, step()
	for range r.Count(8) {
		s := model.WaitSite{WaitPlace: place(), Kind: r.Int(max(0, n.Kinds-1)), Count: r.Uvarint() & math.MaxInt64, WaitedNs: step()}
		s.Waiting, s.Ranks = shares()
		s.Awaited, s.Late = shares()
		for range r.Count(3) {
			s.Causes = append(s.Causes, model.WaitCause{WaitPlace: place(), Share: share(), Compute: share()})
		}
		w.Sites = append(w.Sites, s)
	}
	before := 0
	for i := range r.Count(5) {
		x := model.WaitRank{Rank: before + r.Int(max(0, n.Ranks-1-before))}
		if i > 0 && x.Rank == before {
			r.Fail("rank %d twice", before)
		}
		before = x.Rank
		x.RunNs, x.MPINs, x.WaitedNs, x.CausedNs = step(), step(), step(), step()
		w.ByRank = append(w.ByRank, x)
	}
	for range r.Count(2) {
		w.Other = append(w.Other, model.WaitOther{Function: r.Int(max(0, n.Functions-1)), Ns: step()})
	}
	for range r.Count(2) {
		w.Losses = append(w.Losses, model.WaitLoss{What: r.String(), Count: r.Uvarint() & math.MaxInt64})
	}
	hops := r.Int(most)
	if hops == 0 || r.Err() != nil {
		return w
	}
	p := &model.WaitPath{Hops: hops - 1, Rank: rank(), RunNs: step(), OutsideNs: step(), SpoorNs: step()}
	for range r.Count(5) {
		s := model.WaitPathSite{WaitPlace: place(), ComputeNs: step(), MPINs: step(), MeanNs: step()}
		s.Rank = rank()
		p.Sites = append(p.Sites, s)
	}
	for range r.Count(3) {
		p.Ranks = append(p.Ranks, model.WaitPathRank{Rank: rank(), ComputeNs: step(), MPINs: step()})
	}
	w.Path = p
	return w
}
