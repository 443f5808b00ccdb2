package sections

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A file has the asides of each rank, and no mean of all, up to so many ranks, and then
// so many in all: what the recorder took is told in a few bytes.
const (
	EachRank = 16
	inAll    = 32
)

// AsideBits is how many bits behind the first one the time of an aside keeps.
const AsideBits = 6

// coarseAsides are those of a rank of many. If they are too many, there is the first, which
// is the recorder's start, and neighbours of the others are one, or all.
func coarseAsides(list []model.Aside, ranks int) []model.Aside {
	for ranks <= inAll/4 && len(list) > inAll/ranks {
		n := len(list)
		if list = thinned(list); len(list) == n {
			break
		}
	}
	if len(list) <= max(1, inAll/ranks) && ranks <= EachRank {
		return list
	}
	var first []model.Aside
	var sums [2]int64
	for _, a := range list {
		switch {
		case a.Off:
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
			out = append(out, model.Aside{Call: model.Scattered, Ns: ns, Off: i == 1})
		}
	}
	return append(out, first...)
}

// thinned makes one of any two neighbours of a kind, but for the first.
func thinned(list []model.Aside) []model.Aside {
	var out []model.Aside
	open := [2]int{-1, -1}
	first := true
	for _, a := range list {
		i := 0
		if a.Off {
			i = 1
		}
		switch {
		case first && !a.Off:
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

// asidesOf returns those of a rank.
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

// appendAsides and decodeAsides: the asides of all ranks, in messages and in the section.
//
//	asides = ranks that are listed uvarint, counts uvarint…,
//	         per aside: 2·(call, as a difference to the one before) + off uvarint,
//	         per aside: ns, rounded
func (p *Processes) appendAsides(b []byte) []byte {
	b = wire.AppendUvarint(b, uint64(len(p.asides)))
	for _, list := range p.asides {
		b = wire.AppendUvarint(b, uint64(len(list)))
	}
	for _, list := range p.asides {
		last := uint64(0)
		for _, a := range list {
			head := (a.Call - last) << 1
			if last = a.Call; a.Off {
				head |= 1
			}
			b = wire.AppendUvarint(b, head)
		}
	}
	for _, list := range p.asides {
		for _, a := range list {
			b = appendRounded(b, float64(a.Ns), AsideBits)
		}
	}
	return b
}

func decodeAsides(r *wire.Reader, ranks int) [][]model.Aside {
	n := r.Count(1)
	if n > ranks {
		r.Fail("asides of %d ranks, there are %d", n, ranks)
		return nil
	}
	counts, all := make([]int, n), 0
	for i := range counts {
		counts[i] = r.Count(2)
		if all += counts[i]; r.Err() != nil || all > r.Rest() {
			r.Fail("%d asides in %d bytes", all, r.Rest())
			return nil
		}
	}
	if n == 0 {
		return nil
	}
	lists := make([][]model.Aside, n)
	for i, count := range counts {
		last := uint64(0)
		for range count {
			head := r.Uvarint()
			if last += head >> 1; last >= math.MaxInt64 {
				r.Fail("an aside before call %d", last)
				return nil
			}
			lists[i] = append(lists[i], model.Aside{Call: last, Off: head&1 != 0})
		}
	}
	sum := 0.0
	for _, list := range lists {
		for i := range list {
			ns := DecodeRounded(r, AsideBits)
			if sum += ns; sum > math.MaxInt64/4 {
				r.Fail("asides of %.3g s", sum/1e9)
				return nil
			}
			list[i].Ns = int64(ns)
		}
	}
	return lists
}

// Forms of the section.
const (
	asidesOfEach = 0
	asidesOfAll  = 1 // one list, the means of all ranks
)

// appendAsideSection and ReadAsides: the section of asides; nil if there are none.
//
//	section = form uint8, asides, what MPI_Finalize took in ns, rounded
func (p *Processes) appendAsideSection(finish int64) []byte {
	if len(p.asides) == 0 {
		return nil
	}
	return appendRounded(p.appendLists(), float64(finish), AsideBits)
}

func (p *Processes) appendLists() []byte {
	if p.Len() <= EachRank {
		return p.appendAsides([]byte{asidesOfEach})
	}
	type kind struct {
		call uint64
		off  bool
	}
	sums, n := make(map[kind]float64), 0
	for rank, x := range p.All() {
		if x.End == "" {
			continue
		}
		n++
		for _, a := range p.asidesOf(rank) {
			sums[kind{a.Call, a.Off}] += float64(a.Ns)
		}
	}
	mean := Processes{asides: make([][]model.Aside, 1)}
	for k, sum := range sums {
		mean.asides[0] = append(mean.asides[0], model.Aside{Call: k.call, Ns: int64(sum / float64(max(1, n))), Off: k.off})
	}
	slices.SortFunc(mean.asides[0], CompareAsides)
	// Ranks may start their recorders before different calls: most do before the same.
	if first := mean.asides[0]; len(first) > mostMeans {
		first[mostMeans-1].Ns += (&model.Process{Asides: first[mostMeans:]}).SpoorNs()
		mean.asides[0] = first[:mostMeans]
	}
	return mean.appendAsides([]byte{asidesOfAll})
}

// mostMeans is how many means of all ranks a file has.
const mostMeans = 8

// CompareAsides orders asides by call; what the recorder took stands first.
func CompareAsides(a, b model.Aside) int {
	switch {
	case a.Call != b.Call && a.Call < b.Call, a.Call == b.Call && !a.Off && b.Off:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// ReadAsides adds what the section says to the table of processes.
func (p *Processes) ReadAsides(r *wire.Reader, ranks int) {
	switch form := r.Byte(); form {
	case asidesOfEach:
		p.asides = decodeAsides(r, ranks)
	case asidesOfAll:
		lists := decodeAsides(r, 1)
		for rank, x := range p.All() {
			if x.End != "" && len(lists) > 0 {
				p.setAsides(rank, lists[0])
			}
		}
	default:
		r.Fail("asides: unknown form %d", form)
	}
	p.FinishNs = int64(DecodeRounded(r, AsideBits))
}
