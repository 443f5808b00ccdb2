package trace

import (
	"fmt"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/timing"
)

func (r *Reader) readTotals() ([]*timing.ClassTotals, error) {
	list := make([]*timing.ClassTotals, r.ranks.Classes)
	blobs, err := r.byClass(container.SectionTotals)
	if err != nil {
		return nil, err
	}
	for n, b := range blobs {
		if list[n], err = r.decodeTotals(container.SectionTotals, n, b, false); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// decodeTotals reads the totals of the ranks of a class from blob, the section's part about the class. leaves says that
// they include totals of leaves. It returns nil if the part is empty.
func (r *Reader) decodeTotals(section byte, class int, blob []byte, leaves bool) (*timing.ClassTotals, error) {
	if len(blob) == 0 {
		return nil, nil
	}
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	sites := len(c.Terminals)
	if leaves {
		sites += sections.CountLeaves(c.Streams)
	}
	var list *timing.ClassTotals
	err = r.ofClass(section, class, blob, func(w *wire.Reader) { list = timing.DecodeTotals(w, r.members[class], sites) })
	return list, err
}

// ranked returns, by rank, its time inside MPI as section totals has it, and whether it is there.
func (r *Reader) ranked() (sections.RankMPITimes, error) {
	all, err := r.totals()
	if err != nil {
		return sections.RankMPITimes{}, err
	}
	out := sections.NewRankMPITimes(r.ranks.Ranks)
	for class, members := range r.lists() {
		if all[class] == nil {
			continue
		}
		for at, rank := range members {
			out.Ns[rank], _ = all[class].RankTotalNs(timing.DurationKind, at)
			out.Known[rank] = true
		}
	}
	return out, nil
}

// A BoundedTime is a time in nanoseconds. The true time differs from Ns by at most ErrorBound.
type BoundedTime struct{ Ns, ErrorBoundNs float64 }

// IsOfRank reports whether the trace has the time of the rank itself, to about a percent. If not, Ns is estimated from the
// mean over the ranks of its class.
func (t BoundedTime) IsOfRank() bool { return t.ErrorBoundNs <= 0.0102*t.Ns || t.ErrorBoundNs <= 8 }

// Totals is a rank's time outside of MPI (Gap) and in MPI (Duration), over all of its threads.
type Totals struct {
	Gap, Duration BoundedTime
	Sites         []SiteTotals // the parts of these times by function and site, in order of their first terminals
}

// SiteTotals is a rank's time in the calls of one function from one site, and in the gaps before them.
type SiteTotals struct {
	FirstTerminal int // lowest terminal of the calls of that function from that site
	Gap, Duration BoundedTime
}

// ClassTotals is, for each rank of a class, its times in MPI and outside of MPI.
type ClassTotals struct {
	ranks int
	sites []classSite
	known *timing.ClassTotals // what section totals has of the ranks; nil: nothing, as for classes of one rank
}

type classSite struct {
	terminal int
	spreads  [2]Spread // by timing.GapKind and DurationKind: the distribution of the site's time over the ranks
	number   int       // index of the site in ClassTotals.known; -1 if that lacks the site
}

// Totals returns the totals of a class's ranks. They are the same whether the trace has means, histograms or the time
// of each call.
func (r *Reader) Totals(class int) (*ClassTotals, error) {
	if c, ok := r.spent.Load(class); ok {
		return c.(*ClassTotals), nil
	}
	c, err := r.readClassTotals(class)
	if err == nil {
		r.spent.Store(class, c)
	}
	return c, err
}

func (r *Reader) readClassTotals(class int) (*ClassTotals, error) {
	times, err := r.Times(class)
	if err != nil {
		return nil, err
	}
	all, err := r.totals()
	if err != nil {
		return nil, err
	}
	c, err := r.classAt(class)
	if err != nil {
		return nil, err
	}
	out := &ClassTotals{ranks: r.members[class], known: all[class]}
	first, _ := sections.SumGroups(sections.NumberGroups(c.Groups()), func(n int) Times { return times[n] })
	for _, t := range first {
		s := classSite{terminal: t, number: -1}
		s.spreads[timing.GapKind], s.spreads[timing.DurationKind] = times[t].SiteGapTotals, times[t].SiteDurationTotals
		out.sites = append(out.sites, s)
	}
	if out.known != nil {
		n := 0
		for number, t := range out.known.KnownSiteTerminals() {
			for n < len(out.sites) && out.sites[n].terminal < t {
				n++
			}
			if n == len(out.sites) || out.sites[n].terminal != t {
				return nil, r.failed(container.SectionTotals, fmt.Errorf("class %d: terminal %d is not the first of a call site: %w", class, t, ErrFormat))
			}
			out.sites[n].number = number
		}
	}
	return out, nil
}

// ForMember returns the totals of the rank with the given index in the class. The sum over all sites is accurate to a
// percent. The most expensive call sites are accurate to a percent of their time, or to a thousandth of the sum. Of the
// other sites the trace has only the class's time: the rank's remaining time is divided among them in proportion to
// that.
func (c *ClassTotals) ForMember(index int) *Totals {
	out := &Totals{Sites: make([]SiteTotals, len(c.sites))}
	for i := range c.sites {
		out.Sites[i].FirstTerminal = c.sites[i].terminal
	}
	c.fill(timing.GapKind, index, &out.Gap, func(i int) *BoundedTime { return &out.Sites[i].Gap })
	c.fill(timing.DurationKind, index, &out.Duration, func(i int) *BoundedTime { return &out.Sites[i].Duration })
	return out
}

// Totals returns the rank's totals; see ClassTotals.ForMember.
func (k *Rank) Totals() (*Totals, error) {
	c, err := k.r.Totals(k.nclass)
	if err != nil {
		return nil, err
	}
	return c.ForMember(k.index), nil
}

// FileCallNs returns, by index of the rank in a class, the time in ns that it spent in I/O calls of POSIX and C,
// without those of MPI. It is nil if the class made no such calls. The accuracy is that of ClassTotals.ForMember.
func (r *Reader) FileCallNs(class int) ([]float64, error) {
	if !slices.ContainsFunc(r.schema, func(f *Function) bool { return f.Has(AttrPosix) }) {
		return nil, nil
	}
	k, err := r.Rank(r.Members(class)[0])
	if err != nil {
		return nil, err
	}
	of := make(map[int]bool) // the terminals of I/O calls of POSIX and C
	for t := range k.Terminals() {
		c := k.CallWithoutParams(t)
		if c.Func.Has(AttrPosix) {
			of[t] = true
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	all, err := r.Totals(class)
	if err != nil {
		return nil, err
	}
	out := make([]float64, r.members[class])
	for i := range out {
		for _, s := range all.ForMember(i).Sites {
			if of[s.FirstTerminal] {
				out[i] += s.Duration.Ns
			}
		}
	}
	return out, nil
}

// fill sets the gaps or the durations (kind) of the rank with the given index: its total, and the time of site i in
// sites(i).
func (c *ClassTotals) fill(kind, index int, total *BoundedTime, sites func(i int) *BoundedTime) {
	for i := range c.sites {
		s, x := &c.sites[i].spreads[kind], sites(i)
		x.Ns = s.Mean()
		if x.ErrorBoundNs = MaxRelativeSumError * x.Ns; c.ranks > 1 {
			x.ErrorBoundNs += farthest(x.Ns, s)
		}
		total.Ns += x.Ns
		total.ErrorBoundNs += x.ErrorBoundNs
	}
	if c.known == nil {
		return
	}
	total.Ns, total.ErrorBoundNs = c.known.RankTotalNs(kind, index)
	left, off, others := total.Ns, total.ErrorBoundNs, 0.0
	own := make([]bool, len(c.sites))
	for i := range c.sites {
		if n := c.sites[i].number; n >= 0 {
			if ns, within, ok := c.known.RankSiteTotalNs(n, kind, index); ok {
				*sites(i), own[i] = BoundedTime{between(ns, &c.sites[i].spreads[kind]), within}, true
				left, off = left-ns, off+within
				continue
			}
		}
		others += sites(i).Ns
	}
	if others <= 0 {
		return
	}
	// f is the factor between the rank's time in the sites without totals of their own, and the mean over the ranks. It
	// differs from 1 only as far as the errors (off) leave no doubt.
	f := max((left-off)/others, min((left+off)/others, 1), 0)
	most := max(0, left+off)
	for i := range c.sites {
		if own[i] {
			continue
		}
		s, x := &c.sites[i].spreads[kind], sites(i)
		x.Ns = min(max(float64(s.Min), min(float64(s.Max), x.Ns*f)), most)
		x.ErrorBoundNs = min(MaxRelativeSumError*x.Ns+farthest(x.Ns, s), max(x.Ns, most-x.Ns)+1)
	}
}

// between limits ns, a rank's total, to the range between the extremes over all ranks, which it widens by the extremes'
// error.
func between(ns float64, s *Spread) float64 {
	mean, least, most := s.Mean(), float64(s.Min), float64(s.Max)
	return max(least-(mean-least)/64-1, min(most+(most-mean)/64+1, ns))
}

// farthest returns the largest possible difference between ns and the total of any rank. The distances of the extremes
// from the mean have six significant bits, so that their errors are up to 1/64.
func farthest(ns float64, s *Spread) float64 {
	mean, least, most := s.Mean(), float64(s.Min), float64(s.Max)
	return max(most+(most-mean)/64-ns, ns-least+(mean-least)/64) + 1
}

// checkTotals compares the sum of the ranks' totals of a class with the class's statistics.
func (r *Reader) checkTotals(class int, times []Times) error {
	all, err := r.totals()
	if err != nil || all[class] == nil {
		return err
	}
	c := all[class]
	// holds allows half a ns per call, as a thinned trace rounds the time of each call to whole ns.
	holds := func(what string, sum, calls uint64, of func(i int) (ns, within float64)) error {
		var ns, off float64
		for i := range r.members[class] {
			v, within := of(i)
			if v >= timing.LogTime(timing.MaxLogTime).Ns()*0.99 {
				return nil // the highest value of the logarithmic scale includes all longer times
			}
			ns, off = ns+v, off+within
		}
		off += MaxRelativeSumError*float64(sum) + float64(calls)/2 + 1
		if d := float64(sum) - ns; d > off || -d > off {
			return r.failed(container.SectionTotals, fmt.Errorf("class %d: %s of the ranks are %.0f ns by sum, %d ns are known: %w", class, what, ns, sum, ErrFormat))
		}
		return nil
	}
	k, err := r.classAt(class)
	if err != nil {
		return err
	}
	site := sections.NumberGroups(k.Groups())
	calls := make([]uint64, len(site)) // by number of a site: its calls on all ranks
	var sums [2]uint64
	made := uint64(0)
	for t := range times {
		calls[site[t]] += times[t].Gap.Count
		made += times[t].Gap.Count
		sums[timing.GapKind] += times[t].Gap.Sum
		sums[timing.DurationKind] += times[t].Duration.Sum
	}
	for kind, what := range [...]string{timing.GapKind: "gaps", timing.DurationKind: "durations"} {
		if err := holds(what, sums[kind], made, func(i int) (float64, float64) { return c.RankTotalNs(kind, i) }); err != nil {
			return err
		}
		for n, t := range c.KnownSiteTerminals() {
			sum := times[t].SiteGapTotals.Sum
			if kind == timing.DurationKind {
				sum = times[t].SiteDurationTotals.Sum
			}
			if _, _, ok := c.RankSiteTotalNs(n, kind, 0); !ok {
				continue
			}
			err := holds(fmt.Sprintf("%s of terminal %d", what, t), sum, calls[site[t]], func(i int) (float64, float64) {
				ns, within, _ := c.RankSiteTotalNs(n, kind, i)
				return ns, within
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
