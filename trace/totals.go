package trace

import (
	"fmt"

	"spoor/internal/timing/totals"
	"spoor/internal/wire"
)

// RankColumns is what each of the ranks of a class spent, in steps of a percent.
type (
	RankColumns = totals.Columns
	RankSite    = totals.Site // of the calls from one place
)

// appendTotals writes what each rank of the classes with several spent; rest is how many
// bytes the file has besides.
//
//	totals = per class blob
func appendTotals(classes []Class, rest int64) []byte {
	list := make([]*totals.Columns, len(classes))
	for i := range classes {
		list[i] = &classes[i].Ranked
	}
	blobs := totals.Encode(list, rest)
	if blobs == nil {
		return nil
	}
	return appendBlobs(nil, blobs)
}

func (r *Reader) readTotals() ([]*totals.Class, error) {
	list := make([]*totals.Class, r.ranks.classes)
	if !r.hasSection(secTotals) {
		return list, nil
	}
	var blobs [][]byte
	if err := r.section(secTotals, func(w *wire.Reader) { blobs = decodeBlobs(w, r.ranks.classes) }); err != nil {
		return nil, err
	}
	for n, b := range blobs {
		if len(b) == 0 {
			continue
		}
		c, err := r.classAt(n)
		if err != nil {
			return nil, err
		}
		w := wire.NewReader(b, fmt.Sprintf("class %d", n))
		list[n] = totals.Decode(w, r.members[n], len(c.terminals))
		if err := w.Done(); err != nil {
			return nil, r.failed(secTotals, fmt.Errorf("%w: %w", err, ErrFormat))
		}
	}
	return list, nil
}

// A Total is a time in nanoseconds. The truth is at most Within away from it.
type Total struct{ Ns, Within float64 }

// Known reports whether the trace has the time of the rank itself. If not, it is a part in
// what is known of all ranks of the class.
func (t Total) Known() bool { return t.Within <= 0.0102*t.Ns || t.Within <= 8 }

// Totals is what a rank spent outside of MPI (Gap) and in MPI (Duration), over all of its
// threads.
type Totals struct {
	Gap, Duration Total
	Sites         []SiteTotals // in order of their first terminals
}

// SiteTotals is what a rank spent on the calls of one function from one place: before them
// and in them.
type SiteTotals struct {
	Terminal      int // the first of them
	Calls         uint64
	Gap, Duration Total
}

// Totals returns what the rank spent, however times were kept. In all that is known to a
// percent, of the call sites that take most of it to a percent or a thousandth of the
// total; sites of which the trace has no more than what ranks of the class spent together
// share what is left as these have it on average.
func (k *Rank) Totals() (*Totals, error) {
	times, err := k.Times()
	if err != nil {
		return nil, err
	}
	all, err := k.r.totals()
	if err != nil {
		return nil, err
	}
	sites := k.sites()
	out := &Totals{Sites: sites}
	ranks := k.r.members[k.nclass]
	for kind, of := range [...]func(*Times) (Stat, Spread){
		totals.Gap:      func(t *Times) (Stat, Spread) { return t.Gap, t.GapTotals },
		totals.Duration: func(t *Times) (Stat, Spread) { return t.Duration, t.DurationTotals },
	} {
		k.spread(kind, out, times, of, ranks, all[k.nclass])
	}
	return out, nil
}

// sites lists the call sites of a rank, and how often it called from there.
func (k *Rank) sites() []SiteTotals {
	var list []SiteTotals
	at := make(map[*group]int)
	counts := make([]uint64, k.Terminals())
	for stream := range k.streams {
		for t, n := range k.Counts(stream) {
			counts[t] += n
		}
	}
	for t := range counts {
		g := k.class.terminals[t].group
		n, ok := at[g]
		if !ok {
			n = len(list)
			at[g] = n
			list = append(list, SiteTotals{Terminal: t})
		}
		list[n].Calls += counts[t]
	}
	return list
}

// spread fills in one kind of times.
func (k *Rank) spread(kind int, out *Totals, times []Times, of func(*Times) (Stat, Spread), ranks int, known *totals.Class) {
	total, sites := &out.Gap, func(i int) *Total { return &out.Sites[i].Gap }
	if kind == totals.Duration {
		total, sites = &out.Duration, func(i int) *Total { return &out.Sites[i].Duration }
	}
	number := make(map[int]int, len(out.Sites))
	spreads := make([]Spread, len(out.Sites))
	for i := range out.Sites {
		t := out.Sites[i].Terminal
		number[t] = i
		_, spreads[i] = of(&times[t])
		mean := spreads[i].Mean()
		*sites(i) = Total{Ns: mean}
		if ranks > 1 {
			sites(i).Within = farthest(mean, spreads[i])
		}
		total.Ns += mean
		total.Within += sites(i).Within
	}
	if ranks == 1 || known == nil {
		return
	}
	total.Ns, total.Within = known.Total(kind, k.index)
	own := make([]bool, len(out.Sites))
	left, off := total.Ns, total.Within
	for n, t := range known.Sites() {
		i, ok := number[t]
		if !ok {
			continue
		}
		ns, within, ok := known.Site(n, kind, k.index)
		if !ok {
			continue
		}
		*sites(i), own[i] = Total{ns, within}, true
		left, off = left-ns, off+within
	}
	others := 0.0
	for i := range out.Sites {
		if !own[i] {
			others += sites(i).Ns
		}
	}
	if others <= 0 {
		return
	}
	// As much more than the others of the class as is certain.
	f := max((left-off)/others, min((left+off)/others, 1), 0)
	for i := range out.Sites {
		if own[i] {
			continue
		}
		x := sites(i)
		x.Ns = max(float64(spreads[i].Min), min(float64(spreads[i].Max), x.Ns*f))
		x.Ns = max(0, min(x.Ns, left+off))
		x.Within = min(farthest(x.Ns, spreads[i]), max(x.Ns, left+off-x.Ns)+1)
	}
}

// farthest is how far from a time a rank's total may be: extremes have six significant bits
// of how far they are from the mean.
func farthest(ns float64, s Spread) float64 {
	mean, least, most := s.Mean(), float64(s.Min), float64(s.Max)
	return max(most+(most-mean)/64-ns, ns-least+(mean-least)/64) + 1
}

// checkTotals compares what each rank of a class spent with what all did together.
func (r *Reader) checkTotals(class int, times []Times) error {
	all, err := r.totals()
	if err != nil || all[class] == nil {
		return err
	}
	c := all[class]
	holds := func(what string, sum uint64, of func(i int) (ns, within float64)) error {
		var ns, off float64
		for i := range r.members[class] {
			v, within := of(i)
			ns, off = ns+v, off+within
		}
		if d := float64(sum) - ns; d > off+1 || -d > off+1 {
			return r.failed(secTotals, fmt.Errorf("class %d: %s of the ranks are %.0f ns by sum, %d ns are known: %w", class, what, ns, sum, ErrFormat))
		}
		return nil
	}
	var sums [2]uint64
	for t := range times {
		sums[totals.Gap] += times[t].Gap.Sum
		sums[totals.Duration] += times[t].Duration.Sum
	}
	for kind, what := range [...]string{totals.Gap: "gaps", totals.Duration: "durations"} {
		if err := holds(what, sums[kind], func(i int) (float64, float64) { return c.Total(kind, i) }); err != nil {
			return err
		}
		for n, t := range c.Sites() {
			sum := times[t].GapTotals.Sum
			if kind == totals.Duration {
				sum = times[t].DurationTotals.Sum
			}
			if _, _, ok := c.Site(n, kind, 0); !ok {
				continue
			}
			err := holds(fmt.Sprintf("%s of terminal %d", what, t), sum, func(i int) (float64, float64) {
				ns, within, _ := c.Site(n, kind, i)
				return ns, within
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
