package trace

import (
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/wire"
)

// An Aside is time of a rank's first thread that belongs neither to its calls nor to the
// gaps between them. The recorder's is spent behind MPI_Init, where it starts, and wherever
// it takes in what was recorded.
type Aside struct {
	Call uint64 // before which call of the thread; Scattered: it is not known
	Ns   int64
	Off  bool // tracing was switched off; else the recorder or a plugin took it
}

// Scattered is the Call of an Aside that was spent here and there.
const Scattered = 0

// A file has the asides of each rank, and no mean of all, up to so many ranks, and then
// so many in all: what the recorder took is told in a few bytes.
const (
	eachRank = 16
	inAll    = 32
)

// asideBits is how many bits behind the first one the time of an aside keeps.
const asideBits = 6

// SpoorNs is what the recorder and plugins took of the time of the first thread.
func (p *Process) SpoorNs() int64 { return sumAsides(p.Asides, false) }

// StartedNs is what the recorder took of that to start.
func (p *Process) StartedNs() int64 {
	for _, a := range p.Asides {
		if !a.Off && a.Call != Scattered {
			return a.Ns
		}
	}
	return 0
}

// OffNs is for how long tracing was switched off.
func (p *Process) OffNs() int64 { return sumAsides(p.Asides, true) }

// WholeNs is the time from MPI_Init to the last record.
func (p *Process) WholeNs() int64 { return p.SpanNs + p.SpoorNs() + p.OffNs() }

func sumAsides(list []Aside, off bool) (sum int64) {
	for _, a := range list {
		if a.Off == off {
			sum += a.Ns
		}
	}
	return sum
}

// coarseAsides are those of a rank of many. If they are too many, there is the first, which
// is the recorder's start, and neighbours of the others are one, or all.
func coarseAsides(list []Aside, ranks int) []Aside {
	for ranks <= inAll/4 && len(list) > inAll/ranks {
		n := len(list)
		if list = thinned(list); len(list) == n {
			break
		}
	}
	if len(list) <= max(1, inAll/ranks) && ranks <= eachRank {
		return list
	}
	var first []Aside
	var sums [2]int64
	for _, a := range list {
		switch {
		case a.Off:
			sums[1] += a.Ns
		case first == nil:
			first = []Aside{a}
		default:
			sums[0] += a.Ns
		}
	}
	var out []Aside
	for i, ns := range sums {
		if ns > 0 {
			out = append(out, Aside{Scattered, ns, i == 1})
		}
	}
	return append(out, first...)
}

// thinned makes one of any two neighbours of a kind, but for the first.
func thinned(list []Aside) []Aside {
	var out []Aside
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
func (p *Processes) asidesOf(rank int) []Aside {
	if rank >= len(p.asides) {
		return nil
	}
	return p.asides[rank]
}

func (p *Processes) setAsides(rank int, list []Aside) {
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
			b = appendRounded(b, float64(a.Ns), asideBits)
		}
	}
	return b
}

func decodeAsides(r *wire.Reader, ranks int) [][]Aside {
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
	lists := make([][]Aside, n)
	for i, count := range counts {
		last := uint64(0)
		for range count {
			head := r.Uvarint()
			if last += head >> 1; last >= math.MaxInt64 {
				r.Fail("an aside before call %d", last)
				return nil
			}
			lists[i] = append(lists[i], Aside{Call: last, Off: head&1 != 0})
		}
	}
	sum := 0.0
	for _, list := range lists {
		for i := range list {
			ns := decodeRounded(r, asideBits)
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

// appendAsideSection and readAsides: the section of asides; nil if there are none.
//
//	section = form uint8, asides, what MPI_Finalize took in ns, rounded
func (p *Processes) appendAsideSection(finish int64) []byte {
	if len(p.asides) == 0 {
		return nil
	}
	return appendRounded(p.appendLists(), float64(finish), asideBits)
}

func (p *Processes) appendLists() []byte {
	if p.Len() <= eachRank {
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
	mean := Processes{asides: make([][]Aside, 1)}
	for k, sum := range sums {
		mean.asides[0] = append(mean.asides[0], Aside{k.call, int64(sum / float64(max(1, n))), k.off})
	}
	slices.SortFunc(mean.asides[0], compareAsides)
	// Ranks may start their recorders before different calls: most do before the same.
	if first := mean.asides[0]; len(first) > mostMeans {
		first[mostMeans-1].Ns += sumAsides(first[mostMeans:], false)
		mean.asides[0] = first[:mostMeans]
	}
	return mean.appendAsides([]byte{asidesOfAll})
}

// mostMeans is how many means of all ranks a file has.
const mostMeans = 8

func compareAsides(a, b Aside) int {
	switch {
	case a.Call != b.Call && a.Call < b.Call, a.Call == b.Call && !a.Off && b.Off:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// readAsides adds what the section says to the table of processes.
func (p *Processes) readAsides(r *wire.Reader, ranks int) {
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
	p.finish = int64(decodeRounded(r, asideBits))
}

// FinishNs is how long rank 0 had been in MPI_Finalize when all was there that the trace
// holds: the recorder's time behind the end of the run, but for writing the file. 0 if it is not known.
func (r *Reader) FinishNs() (int64, error) {
	p, err := r.procs()
	if err != nil {
		return 0, err
	}
	return p.finish, nil
}

// spreads is into how many parts time is taken of which it is only known that it was spent.
const spreads = 8

// asidesOf returns the asides of a stream, by call.
func (k *Rank) asidesOf(stream int) ([]Aside, error) {
	p, err := k.Process()
	if err != nil || stream > 0 {
		return nil, err
	}
	var list []Aside
	n := k.Len(stream)
	for _, a := range p.Asides {
		if a.Call != Scattered {
			list = append(list, a)
			continue
		}
		rest := a.Ns
		for i := range uint64(spreads) {
			part := a.Ns / spreads
			if i == spreads-1 {
				part = rest
			}
			rest -= part
			at := max(1, n/(spreads+1)*(i+1)+n%(spreads+1)*(i+1)/(spreads+1))
			list = append(list, Aside{Call: at, Ns: part, Off: a.Off})
		}
	}
	slices.SortStableFunc(list, compareAsides)
	return list, nil
}

// behind tells the call behind which the recorder started, at once: its time is there,
// and not right before the next call. 0 if it is not known.
func behind(list []Aside) uint64 {
	for _, a := range list {
		if !a.Off && a.Call != Scattered {
			return a.Call
		}
	}
	return 0
}

// A Stretch is an Aside on the run's time line.
type Stretch struct {
	Start int64
	Aside
}

// Stretches returns when a stream was in none of the program's states, by means. In modes that
// keep each time, Timing.Asides says it exactly.
func (k *Rank) Stretches(stream int) ([]Stretch, error) {
	m, err := k.means(stream)
	if err != nil {
		return nil, err
	}
	out := make([]Stretch, len(m.asides))
	for i, a := range m.asides {
		out[i] = Stretch{m.place(a.at) + a.before, a.Aside}
	}
	return out, nil
}
