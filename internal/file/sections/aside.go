package sections

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Limits of the number of asides in a file, per rank and over all ranks. Up to these a file has each rank's asides,
// above them the means over all ranks.
const (
	MaxAsidesPerRank = 16
	inAll            = 32
)

// AsideMantissaBits is the number of mantissa bits kept of an aside's time, after the leading one.
const AsideMantissaBits = 6

// coarseAsides reduces the asides of a rank in a run with many. It keeps the first, which is the recorder's start,
// and merges neighbours until there are few enough. If that does not suffice, it sums up all others.
func coarseAsides(list []model.Aside, ranks int) []model.Aside {
	for ranks <= inAll/4 && len(list) > inAll/ranks {
		n := len(list)
		if list = thinned(list); len(list) == n {
			break
		}
	}
	if len(list) <= max(1, inAll/ranks) && ranks <= MaxAsidesPerRank {
		return list
	}
	var first []model.Aside
	var sums [2]int64
	for _, a := range list {
		switch {
		case a.TracingOff:
			sums[1] += a.Ns
		case first == nil:
			first = []model.Aside{a}
		default:
			sums[0] += a.Ns
		}
	}
	var out []model.Aside
	for i, ns := range sums {
		if ns > 0 {
			out = append(out, model.Aside{BeforeCall: model.AsidePositionUnknown, Ns: ns, TracingOff: i == 1})
		}
	}
	return append(out, first...)
}

// thinned merges pairs of asides of the same kind: two of the recorder's own time, or two with tracing off. Asides of
// the other kind may be between them. The recorder's first one stays as it is.
func thinned(list []model.Aside) []model.Aside {
	var out []model.Aside
	open := [2]int{-1, -1}
	first := true
	for _, a := range list {
		i := 0
		if a.TracingOff {
			i = 1
		}
		switch {
		case first && !a.TracingOff:
			first = false
			out = append(out, a)
		case open[i] >= 0:
			out[open[i]].Ns += a.Ns
			open[i] = -1
		default:
			open[i] = len(out)
			out = append(out, a)
		}
	}
	return out
}

// asidesOf returns the asides of a rank.
func (p *Processes) asidesOf(rank int) []model.Aside {
	if rank >= len(p.asides) {
		return nil
	}
	return p.asides[rank]
}

func (p *Processes) setAsides(rank int, list []model.Aside) {
	if len(list) == 0 {
		return
	}
	for len(p.asides) <= rank {
		p.asides = append(p.asides, nil)
	}
	p.asides[rank] = list
}

// codeAsides writes or reads the asides of all ranks, in messages and in the section. ranks bounds the number of lists.
//
//	asides = ranks that are listed uvarint, counts uvarint…,
//	         per aside: 2·(call, as a difference to the one before) + off uvarint,
//	         per aside: ns, rounded
func codeAsides(c *wire.Coder, lists *[][]model.Aside, ranks int) {
	all := 0
	wire.CodeList(c, lists, 1, func(i int, list *[]model.Aside) {
		c.RefuseIf(i == 0 && len(*lists) > ranks, "asides of %d ranks, there are %d", len(*lists), ranks)
		n := len(*list)
		c.Count(&n, 2)
		if all += n; c.Reader != nil {
			c.RefuseIf(all > c.Reader.RemainingLen(), "%d asides in %d bytes", all, c.Reader.RemainingLen())
			if c.Failed() || n == 0 {
				return
			}
			*list = make([]model.Aside, n)
		}
	})
	each := func(code func(i int, a *model.Aside)) {
		for _, list := range *lists {
			for i := range list {
				if c.Failed() {
					return
				}
				code(i, &list[i])
			}
		}
	}
	last := uint64(0)
	each(func(i int, a *model.Aside) {
		if i == 0 {
			last = 0
		}
		head := (a.BeforeCall-last)<<1 | uint64(bit(a.TracingOff))
		if wire.CodeUints(c, &head); c.Reader != nil {
			a.BeforeCall, a.TracingOff = last+head>>1, head&1 != 0
		}
		last = a.BeforeCall
		c.RefuseIf(last >= math.MaxInt64, "an aside before call %d", last)
	})
	sum := 0.0
	each(func(_ int, a *model.Aside) {
		codeRounded(c, &a.Ns, AsideMantissaBits)
		sum += float64(a.Ns)
		c.RefuseIf(sum > math.MaxInt64/4, "asides of %.3g s", sum/1e9)
	})
}

// Forms of the section of asides: one list for each rank, or one for all.
const (
	asidesOfEach = 0
	asidesOfAll  = 1 // one list, the means of all ranks
)

// appendAsideSection returns the section of asides, which ReadAsides reads; nil without any asides.
//
//	section = form uint8, asides, what MPI_Finalize took in ns, rounded
func (p *Processes) appendAsideSection(finish int64) []byte {
	if len(p.asides) == 0 {
		return nil
	}
	form, lists := byte(asidesOfEach), p.asides
	if p.Len() > MaxAsidesPerRank {
		form, lists = asidesOfAll, [][]model.Aside{p.meanAsides()}
	}
	return wire.AppendEncoded(nil, func(c *wire.Coder) { codeAsideSection(c, &form, &lists, &finish, p.Len()) })
}

func codeAsideSection(c *wire.Coder, form *byte, lists *[][]model.Aside, finish *int64, ranks int) {
	wire.CodeByte(c, form)
	c.RefuseIf(*form > asidesOfAll, "asides: unknown form %d", *form)
	if *form == asidesOfAll {
		ranks = 1
	}
	codeAsides(c, lists, ranks)
	codeRounded(c, finish, AsideMantissaBits)
}

// meanAsides returns the means of asides over all ranks, in order of calls.
func (p *Processes) meanAsides() []model.Aside {
	type kind struct {
		call uint64
		off  bool
	}
	sums, n := make(map[kind]float64), 0
	for rank, x := range p.All() {
		if x.EndState == "" {
			continue
		}
		n++
		for _, a := range p.asidesOf(rank) {
			sums[kind{a.BeforeCall, a.TracingOff}] += float64(a.Ns)
		}
	}
	var means []model.Aside
	for k, sum := range sums {
		means = append(means, model.Aside{BeforeCall: k.call, Ns: int64(sum / float64(max(1, n))), TracingOff: k.off})
	}
	slices.SortFunc(means, CompareAsides)
	// Ranks may start their recorders before different calls, so that there are many means. Then the last ones are
	// summed up.
	if len(means) > mostMeans {
		means[mostMeans-1].Ns += (&model.Process{Asides: means[mostMeans:]}).FirstThreadRecorderNs()
		means = means[:mostMeans]
	}
	return means
}

// mostMeans is the largest number of mean asides in a file.
const mostMeans = 8

// CompareAsides orders asides by call. Of two before the same call, the recorder's own comes first.
func CompareAsides(a, b model.Aside) int {
	switch {
	case a.BeforeCall != b.BeforeCall && a.BeforeCall < b.BeforeCall, a.BeforeCall == b.BeforeCall && !a.TracingOff && b.TracingOff:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// ReadAsides adds the asides that the section has to the table of processes.
func (p *Processes) ReadAsides(r *wire.Reader, ranks int) {
	var form byte
	var lists [][]model.Aside
	codeAsideSection(&wire.Coder{Reader: r}, &form, &lists, &p.MergeNs, ranks)
	if form == asidesOfEach {
		p.asides = lists
		return
	}
	for rank, x := range p.All() {
		if x.EndState != "" && len(lists) > 0 {
			p.setAsides(rank, lists[0])
		}
	}
}
