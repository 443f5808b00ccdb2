package machine

import (
	"fmt"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/mpi/meaning"
)

// CalibrateMachine measures a machine. The caller sets Name, FiguresSource and TracingCost.
func CalibrateMachine(lab ExperimentRunner, o CalibrateOptions) (*Machine, error) {
	b := &bench{ExperimentRunner: lab, o: o}
	seats := lab.Seats()
	if len(seats) < 2 {
		return nil, fmt.Errorf("%d rank: messages need two at least: mpirun -n 2", len(seats))
	}
	var err error
	if b.clock, err = b.time("looking at the clock", Experiment{Kind: MeasureClockReads}, 1); err != nil {
		return nil, err
	}
	m := &Machine{CPUSpeedup: 1}
	operand := min(o.MaxMessageBytes, 32768)
	combine, err := b.time("MPI_Reduce_local", Experiment{Kind: MeasureReduceLocals, Bytes: operand}, float64(operand))
	if err != nil {
		return nil, err
	}
	m.CombinePsPerByte = math.Round(combine * 1000)
	for _, name := range distances {
		x, y, ok := apart(seats, name)
		if !ok {
			continue
		}
		o.Logf("messages between ranks %d and %d, on the same %s", x, y, name)
		p := &rankPair{b, x, y, name}
		l, err := p.level()
		if err != nil {
			return nil, err
		}
		m.Levels = append(m.Levels, *l)
	}
	for i := range m.Levels {
		if l := &m.Levels[i]; i < len(m.Levels)-1 {
			l.RanksPerUnit = seats[0].share(l.Name)
			if i > 0 {
				l.RanksPerUnit = max(1, l.RanksPerUnit/m.Levels[i-1].RanksPerUnit) * m.Levels[i-1].RanksPerUnit
			}
		}
	}
	o.Logf("collectives of %d ranks", len(seats))
	if err := b.collectives(m, len(seats)); err != nil {
		return nil, err
	}
	if o.MeasureFiles {
		o.Logf("files")
		if m.Files, err = b.files(len(seats)); err != nil {
			return nil, err
		}
	}
	if b.varied > 0 {
		o.Logf("%d measurements varied by more than %.0f %%", b.varied, 100*(steady-1))
	}
	return m, nil
}

// apart returns the first two ranks whose nearest common network level is the named one.
func apart(seats []ProcessorBinding, level string) (a, b int, ok bool) {
	for a := range seats {
		for b := a + 1; b < len(seats); b++ {
			if between(seats[a], seats[b]) == level {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}

// A point is a message size and the time measured for it.
type point struct {
	bytes int64
	ns    float64
}

func (p *rankPair) level() (*NetworkLevel, error) {
	limit, err := p.eagerLimit()
	if err != nil {
		return nil, err
	}
	l := &NetworkLevel{Name: p.name, EagerLimitBytes: limit}
	from := []int64{}
	if limit > 0 {
		eager, err := p.table(p.oneWay, 0, min(limit, p.o.MaxMessageBytes))
		if err != nil {
			return nil, err
		}
		l.EagerTimes = rising(eager)
	}
	if limit < p.o.MaxMessageBytes {
		small := []point{}
		// Sends of these sizes wait only because they are synchronous.
		for _, bytes := range []int64{0, limit / 8, limit} {
			if limit == 0 || bytes == 0 && limit/8 == 0 {
				continue
			}
			t, err := p.synchronous(bytes)
			if err != nil {
				return nil, err
			}
			small = append(small, point{bytes, t})
		}
		large, err := p.table(p.oneWay, limit+1, p.o.MaxMessageBytes)
		if err != nil {
			return nil, err
		}
		l.RendezvousTimes = rising(append(small, large...))
		from = append(from, limit+1)
	}
	if limit >= p.o.MaxMessageBytes {
		l.EagerLimitBytes = NoEagerLimit
	}
	if l.EagerTimes == nil {
		l.EagerTimes = slices.Clone(l.RendezvousTimes)
	}
	return l, p.overheads(l, from)
}

// overheads measures overheads and gaps at the given sizes and others, and stores them in l.
func (p *rankPair) overheads(l *NetworkLevel, sizes []int64) error {
	for bytes := int64(64); bytes <= p.o.MaxMessageBytes; bytes *= 4 {
		sizes = append(sizes, bytes)
	}
	sizes = append(sizes, 0, p.o.MaxMessageBytes)
	if l.EagerLimitBytes <= p.o.MaxMessageBytes {
		sizes = append(sizes, l.EagerLimitBytes)
	}
	slices.Sort(sizes)
	for _, bytes := range slices.Compact(sizes) {
		waits := bytes > l.EagerLimitBytes
		oneWay := l.EagerTimePs(bytes)
		if waits {
			oneWay = l.RendezvousTimePs(bytes)
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
		l.SendOverheads = append(l.SendOverheads, SizeTime{Bytes: bytes, TimePs: ps(min(send, ns))})
		l.ReceiveOverheads = append(l.ReceiveOverheads, SizeTime{Bytes: bytes, TimePs: ps(min(receive, ns))})
		l.Gaps = append(l.Gaps, SizeTime{Bytes: bytes, TimePs: ps(gap)})
	}
	l.SendOverheadPs, l.ReceiveOverheadPs, l.MinGapPs = l.SendOverheads.TimePs(0), l.ReceiveOverheads.TimePs(0), l.Gaps.TimePs(0)
	return nil
}

// eagerLimit finds the size in bytes of the largest message that doesn't wait for its receive.
func (p *rankPair) eagerLimit() (int64, error) {
	check := func(bytes int64) (bool, error) {
		samples, err := p.Run(Experiment{Kind: MeasureRoundTrips, FromRank: p.a, ToRank: p.b, Bytes: bytes, Samples: 3, InnerRepetitions: 1})
		if err != nil {
			return false, err
		}
		return p.waits(bytes, float64(slices.Min(samples))/2)
	}
	if waits, err := check(p.o.MaxMessageBytes); err != nil || !waits {
		return p.o.MaxMessageBytes, err
	}
	if waits, err := check(1); err != nil || waits {
		return 0, err
	}
	below, above := int64(1), p.o.MaxMessageBytes
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
	// Least relative distance of a measured point from the line between its neighbours; nearer points are dropped.
	near     = 0.02
	refined  = 3    // how often an interval between two sizes is halved at most
	narrowed = 1.05 // least ratio of the sizes at both ends of an interval that is halved
)

// table measures times for sizes from from to to: at powers of two, and in between where a line doesn't fit. time
// measures one size.
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

// refine returns points between a and b where a line doesn't fit. depth is how often the interval may be halved.
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

// rising makes a table in which times don't fall with the size. Neighbouring points whose times fall get their mean
// (pool adjacent violators: Ayer et al., 1955).
func rising(points []point) SizeTimeTable {
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
	var t SizeTimeTable
	for _, x := range pools {
		for range x.n {
			t = append(t, SizeTime{Bytes: points[len(t)].bytes, TimePs: ps(x.sum / float64(x.n))})
		}
	}
	return t
}

// ps converts a measured time in ns to ps, rounded to a tenth of a ns as in machine files.
func ps(ns float64) int64 { return int64(math.Round(ns*10)) * 100 }

// collectives measures MeasuredCollectives with all ranks, and adds them to m.
func (b *bench) collectives(m *Machine, ranks int) error {
	for number, operation := range MeasuredCollectives {
		var points []point
		sizes := []int64{0}
		if operation != meaning.CollectiveBarrier {
			sizes = nil
			for bytes := int64(8); bytes <= b.o.MaxMessageBytes/int64(ranks) && bytes <= 4<<20; bytes *= 4 {
				sizes = append(sizes, bytes)
			}
		}
		for _, bytes := range sizes {
			if operation == meaning.CollectiveAlltoall && bytes < int64(ranks) || operation == meaning.CollectiveReduceScatter && bytes < 8*int64(ranks) {
				continue
			}
			t, err := b.time(fmt.Sprintf("MPI_%s of %d bytes", operation, bytes), Experiment{Kind: MeasureCollectives, FromRank: number, Bytes: bytes}, 1)
			if err != nil {
				return err
			}
			points = append(points, point{bytes, t})
		}
		if len(points) > 0 {
			m.CollectiveTimes = append(m.CollectiveTimes, CollectiveTimes{Operation: operation, LevelName: m.Levels[len(m.Levels)-1].Name, Members: ranks, Times: rising(points)})
		}
	}
	return nil
}
