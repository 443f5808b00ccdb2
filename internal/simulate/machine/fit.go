package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// Calibrate measures the machine of a lab. Name, source and the recorder's cost are left to the caller.
func Calibrate(lab Lab, o CalibrateOptions) (*Machine, error) {
	b := &bench{Lab: lab, o: o}
	seats := lab.Seats()
	if len(seats) < 2 {
		return nil, fmt.Errorf("%d rank: messages need two at least: mpirun -n 2", len(seats))
	}
	var err error
	if b.clock, err = b.time("looking at the clock", Experiment{Kind: MeasureClockReads}, 1); err != nil {
		return nil, err
	}
	m := &Machine{CPU: 1}
	operand := min(o.Most, 32768)
	combine, err := b.time("MPI_Reduce_local", Experiment{Kind: MeasureCombines, Bytes: operand}, float64(operand))
	if err != nil {
		return nil, err
	}
	m.Combine = math.Round(combine * 1000)
	for _, name := range distances {
		x, y, ok := apart(seats, name)
		if !ok {
			continue
		}
		o.Say("messages between ranks %d and %d, on the same %s", x, y, name)
		p := &rankPair{b, x, y, name}
		l, err := p.level()
		if err != nil {
			return nil, err
		}
		m.Levels = append(m.Levels, *l)
	}
	for i := range m.Levels {
		if l := &m.Levels[i]; i < len(m.Levels)-1 {
			l.Ranks = seats[0].share(l.Name)
			if i > 0 {
				l.Ranks = max(1, l.Ranks/m.Levels[i-1].Ranks) * m.Levels[i-1].Ranks
			}
		}
	}
	o.Say("collectives of %d ranks", len(seats))
	if err := b.collectives(m, len(seats)); err != nil {
		return nil, err
	}
	if o.Files {
		o.Say("files")
		if m.Files, err = b.files(len(seats)); err != nil {
			return nil, err
		}
	}
	if b.varied > 0 {
		o.Say("%d measurements varied by more than %.0f %%", b.varied, 100*(steady-1))
	}
	return m, nil
}

// apart returns the first two ranks whose nearest common unit is of a level.
func apart(seats []Seat, level string) (a, b int, ok bool) {
	for a := range seats {
		for b := a + 1; b < len(seats); b++ {
			if between(seats[a], seats[b]) == level {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}

// A point is a measured time.
type point struct {
	bytes int64
	ns    float64
}

func (p *rankPair) level() (*Level, error) {
	limit, err := p.eagerLimit()
	if err != nil {
		return nil, err
	}
	l := &Level{Name: p.name, EagerLimit: limit}
	from := []int64{}
	if limit > 0 {
		eager, err := p.table(p.oneWay, 0, min(limit, p.o.Most))
		if err != nil {
			return nil, err
		}
		l.Eager = rising(eager)
	}
	if limit < p.o.Most {
		small := []point{}
		for _, bytes := range []int64{0, limit / 8, limit} { // sizes whose sends wait only because of the protocol
			if limit == 0 || bytes == 0 && limit/8 == 0 {
				continue
			}
			t, err := p.synchronous(bytes)
			if err != nil {
				return nil, err
			}
			small = append(small, point{bytes, t})
		}
		large, err := p.table(p.oneWay, limit+1, p.o.Most)
		if err != nil {
			return nil, err
		}
		l.Rendezvous = rising(append(small, large...))
		from = append(from, limit+1)
	}
	if limit >= p.o.Most {
		l.EagerLimit = NoLimit
	}
	if l.Eager == nil {
		l.Eager = slices.Clone(l.Rendezvous)
	}
	return l, p.overheads(l, from)
}

// overheads measures them, and gaps, at a number of sizes.
func (p *rankPair) overheads(l *Level, sizes []int64) error {
	for bytes := int64(64); bytes <= p.o.Most; bytes *= 4 {
		sizes = append(sizes, bytes)
	}
	sizes = append(sizes, 0, p.o.Most)
	if l.EagerLimit <= p.o.Most {
		sizes = append(sizes, l.EagerLimit)
	}
	slices.Sort(sizes)
	for _, bytes := range slices.Compact(sizes) {
		waits := bytes > l.EagerLimit
		oneWay := l.EagerTime(bytes)
		if waits {
			oneWay = l.RendezvousTime(bytes)
		}
		ns := float64(oneWay) / 1000
		send, err := p.overhead(MeasureSends, bytes, ns)
		if err != nil {
			return err
		}
		receive, err := p.overhead(MeasureReceives, bytes, ns)
		if err != nil {
			return err
		}
		gap, err := p.gap(bytes, ns)
		if err != nil {
			return err
		}
		l.Sending = append(l.Sending, Row{Bytes: bytes, Time: ps(min(send, ns))})
		l.Receiving = append(l.Receiving, Row{Bytes: bytes, Time: ps(min(receive, ns))})
		l.Gaps = append(l.Gaps, Row{Bytes: bytes, Time: ps(gap)})
	}
	l.SendOverhead, l.ReceiveOverhead, l.Gap = l.Sending.OneWay(0), l.Receiving.OneWay(0), l.Gaps.OneWay(0)
	return nil
}

// eagerLimit finds the largest message that doesn't wait for its receive.
func (p *rankPair) eagerLimit() (int64, error) {
	check := func(bytes int64) (bool, error) {
		samples, err := p.Run(Experiment{Kind: MeasureRoundTrips, From: p.a, To: p.b, Bytes: bytes, Samples: 3, Inner: 1})
		if err != nil {
			return false, err
		}
		return p.waits(bytes, float64(slices.Min(samples))/2)
	}
	if waits, err := check(p.o.Most); err != nil || !waits {
		return p.o.Most, err
	}
	if waits, err := check(1); err != nil || waits {
		return 0, err
	}
	below, above := int64(1), p.o.Most
	for above-below > 1 {
		mid := int64(math.Sqrt(float64(below) * float64(above)))
		if mid <= below || mid >= above || above < 2*below {
			mid = (below + above) / 2
		}
		waits, err := check(mid)
		if err != nil {
			return 0, err
		}
		if waits {
			above = mid
		} else {
			below = mid
		}
	}
	return below, nil
}

const (
	near     = 0.02 // a point between two others is kept if it is further off than this part of it
	refined  = 3    // how often an interval is halved at most
	narrowed = 1.05 // and how near its ends may be
)

// table measures times by size: at powers of two, and in between where lines don't give them.
func (p *rankPair) table(time func(int64) (float64, error), from, to int64) ([]point, error) {
	sizes := []int64{from, to}
	for bytes := int64(1); bytes < to; bytes *= 2 {
		if bytes > from {
			sizes = append(sizes, bytes)
		}
	}
	slices.Sort(sizes)
	var points []point
	for _, bytes := range slices.Compact(sizes) {
		t, err := time(bytes)
		if err != nil {
			return nil, err
		}
		points = append(points, point{bytes, t})
	}
	out := points[:1:1]
	for i := 1; i < len(points); i++ {
		more, err := p.refine(time, points[i-1], points[i], refined)
		if err != nil {
			return nil, err
		}
		out = append(append(out, more...), points[i])
	}
	return out, nil
}

// refine returns points between two others.
func (p *rankPair) refine(time func(int64) (float64, error), a, b point, depth int) ([]point, error) {
	mid := int64(math.Round(math.Sqrt(float64(max(a.bytes, 1)) * float64(b.bytes))))
	if depth == 0 || b.bytes < 64 || float64(b.bytes) < narrowed*float64(a.bytes) || mid <= a.bytes || mid >= b.bytes {
		return nil, nil
	}
	line := a.ns + (b.ns-a.ns)*float64(mid-a.bytes)/float64(b.bytes-a.bytes)
	t, err := time(mid)
	if err != nil {
		return nil, err
	}
	if math.Abs(t-line) <= near*t {
		return nil, nil
	}
	m := point{mid, t}
	before, err := p.refine(time, a, m, depth-1)
	if err != nil {
		return nil, err
	}
	after, err := p.refine(time, m, b, depth-1)
	return slices.Concat(before, []point{m}, after), err
}

// rising makes a table of points, in which a larger message takes no less time: points that say
// otherwise get their mean (pool adjacent violators: Ayer et al., 1955).
func rising(points []point) Table {
	type pool struct {
		sum float64
		n   int
	}
	var pools []pool
	for _, p := range points {
		pools = append(pools, pool{p.ns, 1})
		for k := len(pools) - 1; k > 0 && pools[k-1].sum/float64(pools[k-1].n) > pools[k].sum/float64(pools[k].n); k-- {
			pools[k-1].sum += pools[k].sum
			pools[k-1].n += pools[k].n
			pools = pools[:k]
		}
	}
	var t Table
	for _, x := range pools {
		for range x.n {
			t = append(t, Row{Bytes: points[len(t)].bytes, Time: ps(x.sum / float64(x.n))})
		}
	}
	return t
}

// ps is a measured time as a file has it: to a tenth of a ns.
func ps(ns float64) int64 { return int64(math.Round(ns*10)) * 100 }

// collectives measures those of all ranks.
func (b *bench) collectives(m *Machine, ranks int) error {
	for number, operation := range MeasuredCollectives {
		var points []point
		sizes := []int64{0}
		if operation != meaning.Barrier {
			sizes = nil
			for bytes := int64(8); bytes <= b.o.Most/int64(ranks) && bytes <= 4<<20; bytes *= 4 {
				sizes = append(sizes, bytes)
			}
		}
		for _, bytes := range sizes {
			if operation == meaning.Alltoall && bytes < int64(ranks) || operation == meaning.ReduceScatter && bytes < 8*int64(ranks) {
				continue
			}
			t, err := b.time(fmt.Sprintf("MPI_%s of %d bytes", operation, bytes), Experiment{Kind: Collectives, From: number, Bytes: bytes}, 1)
			if err != nil {
				return err
			}
			points = append(points, point{bytes, t})
		}
		if len(points) > 0 {
			m.Collectives = append(m.Collectives, Collective{Operation: operation, Level: m.Levels[len(m.Levels)-1].Name, Members: ranks, Times: rising(points)})
		}
	}
	return nil
}
