package partners

import (
	"fmt"
	"iter"
	"maps"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A writer writes the exchanges of synthetic messages into the tracks of all ranks.
type writer struct {
	d        *PartnerDrawer
	families []*family
	of       map[int]*family // by interval: its family
	sites    track.Track     // call sites of synthetic calls, with their callers; other fields are unused
}

// heap is the class of the memory segments that synthetic messages are sent from and received into.
const heap = 1

// tracks replaces the messages of the families by synthetic ones in the tracks of all ranks.
func (w *writer) tracks(list []*track.Track) error {
	if len(w.families) == 0 {
		return nil
	}
	byRank := make(map[int]*track.Track)
	next := int64(0)
	for _, t := range list {
		byRank[t.Rank] = t
		n, err := segments(t)
		if err != nil {
			return err
		}
		next = max(next, n)
	}
	w.sites = track.Track{Sites: make(map[uint64]track.Site), CallerSite: make(map[uint64]uint64), SiteWithoutStack: make(map[uint64]uint64)}
	for _, f := range w.families {
		f.memory = [2]int64{next, next + 1}
		next += 2
		if !f.receive.found {
			f.receive = f.send
		}
		if !f.wait.found {
			f.wait = f.receive
		}
		for _, s := range []*sample{&f.send, &f.receive, &f.wait} {
			w.site(s, byRank[s.rank])
		}
	}
	source, err := ops.NewSource(w.d.r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, IgnoreTimes: true})
	if err != nil {
		return err
	}
	for _, t := range list {
		if err := w.rank(source, t); err != nil {
			return fmt.Errorf("rank %d: %w", t.Rank, err)
		}
	}
	return nil
}

// segments returns the first unused segment number of a rank.
func segments(t *track.Track) (next int64, err error) {
	layouts := make(map[uint16]*signature.Layout)
	var spans []signature.Span
	for i := range t.Signatures {
		s := &t.Signatures[i]
		l := layouts[s.FunctionID]
		if l == nil {
			def, ok := mpi.CallByID(s.FunctionID)
			if !ok {
				return 0, fmt.Errorf("function %d isn't known", s.FunctionID)
			}
			of := signature.LayoutOf(def)
			l = &of
			layouts[s.FunctionID] = l
		}
		if spans, err = l.Spans(spans[:0], s.Values); err != nil {
			return 0, err
		}
		for _, p := range spans {
			if p.Width != signature.WidthAddress {
				continue
			}
			for at := p.First + min(p.Dims, 1); at+1 < p.End; at += 2 {
				next = max(next, s.Values[at]>>8+1)
			}
		}
	}
	return next, nil
}

// site sets s.site to the site of the sample's call in the rank's track t, and copies this site and its callers.
func (w *writer) site(s *sample, t *track.Track) {
	c := t.Streams[0].Grammar.Cursor()
	c.Seek(s.at)
	n, ok := c.Next()
	if !ok {
		return
	}
	s.site = t.Signatures[n].Site
	for h := s.site; ; {
		if x, ok := t.Sites[h]; ok {
			w.sites.Sites[h] = x
		}
		if inner, ok := t.SiteWithoutStack[h]; ok {
			w.sites.SiteWithoutStack[h] = inner
			if x, ok := t.Sites[inner]; ok {
				w.sites.Sites[inner] = x
			}
		}
		outer, ok := t.CallerSite[h]
		if !ok {
			break
		}
		w.sites.CallerSite[h] = outer
		h = outer
	}
}

// A rewriting rewrites one track.
type rewriting struct {
	w       *writer
	t       *track.Track
	b       *track.Builder // the new track
	removed []uint64       // by terminal of the old track: number of removed calls
	counts  []uint64       // by terminal minus the number of old terminals: number of synthetic calls
	waits   []bool
	first   []uint64                // as in counts: number of exchanges that begin with the terminal
	written map[exchangeOf][]uint32 // for each exchange written so far: the terminals of its calls in order
}

// An exchangeOf identifies a rank's exchange on a communicator.
type exchangeOf struct {
	g    *group
	comm int64
	rank int
}

// rank replaces the messages of the families by synthetic exchanges in the track of one rank.
func (w *writer) rank(source *ops.Source, t *track.Track) error {
	x := &rewriting{w: w, t: t, b: track.NewBuilderFrom(t), removed: make([]uint64, len(t.Signatures)), written: make(map[exchangeOf][]uint32)}
	calls := x.b.Stream(0)
	next, stop := iter.Pull(t.Streams[0].Grammar.All())
	defer stop()
	err := walkRank(w.d.r, source, t.Rank, func(n int, s *share) {
		f := w.of[n]
		for i := s.first; i < s.end; i++ {
			call, _ := next()
			if f != nil && s.removed[i-s.first] {
				x.removed[call]++
			} else {
				calls.Append(call)
			}
		}
		if f != nil {
			x.exchange(n, s)
		}
		if s.closed {
			call, _ := next()
			calls.Append(call)
		}
	})
	if err != nil {
		return err
	}
	x.finish()
	return nil
}

// exchange writes the synthetic messages of an interval after its remaining calls.
func (x *rewriting) exchange(n int, s *share) {
	l := &x.w.d.intervals[n]
	of := exchangeOf{l.group, mpi.HandleCommWorld, x.t.Rank}
	if l.comm.Number != 0 {
		of.comm = s.closing
		for i, world := range l.comm.Members() {
			if world == x.t.Rank {
				of.rank = i
			}
		}
	}
	list := once.GetOrMake(x.written, of, func() []uint32 { return x.write(of) })
	for range l.rounds {
		for i, call := range list {
			x.b.Stream(0).Append(call)
			x.counts[int(call)-len(x.t.Signatures)]++
			if i == 0 {
				x.first[int(call)-len(x.t.Signatures)]++
			}
		}
	}
}

// write makes the calls of an exchange (MPI_Irecv, MPI_Isend and one MPI_Waitall) and returns their terminals in order.
func (x *rewriting) write(of exchangeOf) (list []uint32) {
	f := of.g.of
	if len(of.g.exchange) == 0 {
		return nil
	}
	partner := func(offset int64) int64 {
		ranks := int64(x.w.d.r.Ranks())
		to := int64(of.rank) + offset
		if f.ring {
			to = (to + ranks) % ranks
		}
		if to < 0 || to >= ranks {
			return mpi.ProcNull
		}
		return to
	}
	n := int64(len(of.g.exchange))
	wait := []int64{0, 2 * n, 2 * n}
	for i := range 2 * n {
		wait = append(wait, 2*(2*n-i))
	}
	wait = append(wait, 2*n)
	for side, name := range []string{"MPI_Irecv", "MPI_Isend"} {
		at := int64(0)
		for _, m := range of.g.exchange {
			memory, site, peer := f.memory[1]<<8|heap, f.receive.site, partner(-m.offset)
			if side == 1 {
				memory, site, peer = f.memory[0]<<8|heap, f.send.site, partner(m.offset)
			}
			list = append(list, x.call(name, site, []int64{0, memory, at, m.bytes / f.unit, f.datatype, peer, m.tag, of.comm, 2}))
			at += (m.bytes + 7) / 8 * 8
			switch e := signature.EnvelopeOf(peer, m.tag, m.bytes/f.unit, f.datatype); {
			case side == 1:
				wait = append(wait, signature.StatusFormOfSend, 0)
			case e.Bytes >= 0:
				wait = append(wait, signature.StatusFormImpliedIgnored)
			default:
				wait = append(wait, signature.StatusFormIgnored, peer, m.tag, m.bytes, 0)
			}
		}
	}
	list = append(list, x.call("MPI_Waitall", f.wait.site, wait))
	return list
}

// call returns the terminal of a synthetic call.
func (x *rewriting) call(name string, site uint64, vals []int64) uint32 {
	def, _ := mpi.CallNamed(name)
	n, known := x.b.FindOrAddTerminal(def.ID, site, vals, "")
	if !known {
		x.counts, x.first = append(x.counts, 0), append(x.first, 0)
		x.waits = append(x.waits, name == "MPI_Waitall")
	}
	return n
}

// finish replaces the contents of the old track by those of the new one.
func (x *rewriting) finish() {
	t := x.t
	x.b.Times = append(x.left(), make([]track.Times, len(x.counts))...)
	if !t.Timeless {
		x.spend(x.b.Times)
	}
	out, _, _ := x.b.Finish(x.b.Grammars())
	*t = *out
	t.DropCallPositions()
	t.Sites, t.CallerSite, t.SiteWithoutStack = joined(t.Sites, x.w.sites.Sites), joined(t.CallerSite, x.w.sites.CallerSite), joined(t.SiteWithoutStack, x.w.sites.SiteWithoutStack)
}

func joined[K comparable, V any](a, b map[K]V) map[K]V {
	if len(b) == 0 {
		return a
	}
	a = maps.Clone(a)
	if a == nil {
		a = make(map[K]V)
	}
	maps.Copy(a, b)
	return a
}

// left returns the times of the calls that are not removed, by terminal of the old track. A terminal's sum of times is
// reduced in proportion to its number of calls.
func (x *rewriting) left() []track.Times {
	times := make([]track.Times, len(x.t.Times))
	for n, s := range x.t.Times {
		count := s.Duration.Count
		times[n] = track.Times{Duration: track.ScaleStat(s.Duration, count-min(count, x.removed[n])), Gap: track.ScaleStat(s.Gap, s.Gap.Count-min(s.Gap.Count, x.removed[n]))}
	}
	return times
}

// spend gives a rank's synthetic calls the total time of the calls that they replace. The gaps before replaced calls
// become gaps before exchanges. Synthetic sends and receives take as long as replaced nonblocking calls, on average;
// MPI_Waitall takes the remaining time.
func (x *rewriting) spend(times []track.Times) {
	var duration, gap, posts, postNs, posted, waits, firsts uint64
	for n, s := range x.t.Times {
		duration += s.Duration.Sum - times[n].Duration.Sum
		gap += s.Gap.Sum - times[n].Gap.Sum
		if def, ok := mpi.CallByID(x.t.Signatures[n].FunctionID); ok && def.Has(mpi.AttrNonblocking) && x.removed[n] > 0 {
			postNs += s.Duration.Sum - times[n].Duration.Sum
			posted += x.removed[n]
		}
	}
	for i, n := range x.counts {
		if firsts += x.first[i]; x.waits[i] {
			waits += n
		} else {
			posts += n
		}
	}
	if waits == 0 {
		return
	}
	each := min(postNs/max(posted, 1), duration/(posts+waits))
	waiting := budget{duration - each*posts, waits}
	before := budget{gap, firsts}
	for i, count := range x.counts {
		if count == 0 {
			continue
		}
		s := &times[len(x.removed)+i]
		if x.waits[i] {
			s.Duration = alike(count, waiting.take(count))
		} else {
			s.Duration = alike(count, each*count)
		}
		s.Gap = alike(count, before.take(x.first[i]))
	}
}

// A budget is the time that a number of calls share.
type budget struct{ ns, calls uint64 }

// take removes this number of calls from the budget, and their part of its time, which it returns in ns.
func (s *budget) take(calls uint64) uint64 {
	if calls == 0 {
		return 0
	}
	ns := uint64(float64(s.ns) / float64(s.calls) * float64(calls))
	if ns = min(ns, s.ns); calls == s.calls {
		ns = s.ns
	}
	s.ns, s.calls = s.ns-ns, s.calls-calls
	return ns
}

// alike returns the statistics of count samples that have this sum and differ by at most 1.
func alike(count, sum uint64) model.Stat {
	s := model.Stat{Count: count, Sum: sum, Min: sum / count, Max: (sum + count - 1) / count}
	s.SetDeviation(0)
	return s
}
