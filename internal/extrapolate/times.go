package extrapolate

import (
	"math"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/trace"
)

// A sums is the times of a place in one run: before its calls (gap), and in them (inside).
type sums struct {
	gap, inside float64 // sums over the place's calls, in ns
	calls       float64
}

// A duration is the time of one call at a place in the extrapolated run, in ns.
type duration struct{ gap, inside uint64 }

// farthest is the largest multiple of the largest traced number of ranks for which times are given. Beyond it, laws
// that fit equally well diverge.
const farthest = 16

// timed adds the times of the class of rank k to those of a run. steps has the places of each of k's terminals.
func (p *program) timed(run int, k *trace.Rank, steps []step) error {
	for len(p.times) <= run {
		p.times = append(p.times, make(map[int32]*sums))
	}
	times, err := k.ClassTimes()
	if err != nil {
		return err
	}
	for t, s := range steps {
		// The terminal's times are divided equally, as the parts of the places are not known.
		for _, n := range s.places {
			x := once.GetOrMake(p.times[run], n, func() *sums { return new(sums) })
			part := float64(len(s.places))
			x.gap += float64(times[t].Gap.Sum) / part
			x.inside += float64(times[t].Duration.Sum) / part
			x.calls += float64(times[t].Duration.Count) / part
		}
	}
	return nil
}

// law fits how the time of a call at a place, in ns, grows with the number of ranks. last is the time of all calls in
// the largest run that has the place.
func (m *pattern) law(place int32, of func(x *sums) float64) (law stats.Law, last float64) {
	var at, values []float64
	for i, r := range m.runs {
		if x := m.times[i][place]; x != nil {
			at, values = append(at, float64(r.ranks)), append(values, of(x)/x.calls)
			last = of(x)
		}
	}
	if len(values) == 0 {
		return stats.Law{}, 0
	}
	law, err := stats.FitLaw(at, values)
	if err != nil { // too few different numbers of ranks for a law
		return stats.Law{Constant: values[len(values)-1]}, last
	}
	return law, last
}

func gapOf(x *sums) float64 { return x.gap }

// durations fits the times of all places; nil if they aren't known, or the number of ranks is too large. off is the
// relative error of the fits on runs that they don't use, weighted by time.
func (m *pattern) durations(ranks int, far bool) (list []duration, off float64) {
	if len(m.times) < len(m.runs) || m.far(ranks) && !far {
		return nil, 0
	}
	var weight float64
	fit := func(place int32, of func(x *sums) float64) uint64 {
		law, last := m.law(place, of)
		if law.LeaveOneOutError > 0 {
			off += min(law.LeaveOneOutError, 2) * last
		}
		weight += last
		return uint64(math.Round(law.ValueAt(float64(ranks))))
	}
	for place := range m.places {
		list = append(list, duration{
			fit(int32(place), gapOf),
			fit(int32(place), func(x *sums) float64 { return x.inside }),
		})
	}
	if weight > 0 {
		off /= weight
	}
	return list, off
}

// far reports whether a number of ranks is too large for times, see farthest.
func (m *pattern) far(ranks int) bool { return ranks > farthest*m.runs[len(m.runs)-1].ranks }
