package database

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/analyse/summary"
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// facts are what is kept of a trace.
type facts struct {
	summary *summary.Summary
	ranks   []rankFacts
	sites   []site
	calls   []siteCalls
	values  []siteValue
	// What the first rank of each class does.
	profiles []*profile.Profile // of classes, by the order of calls
	coded    []*profile.Profile // the same by the machine code; nil: not known

	comms   []*handles.Comm
	traffic []traffic
	out, in uint64

	waits                            *waits.Report // nil: not known
	parallel, balance, communication any           // float64, or nil
}

type rankFacts struct {
	class     any // int, nil without a track
	host      string
	calls     int64
	span, mpi int64
	amount    ops.Amount
}

// A site is where a function is called.
type site struct {
	function, module, symbol, file string
	place, line                    int
	at                             trace.Site
}

// siteCalls are the calls from a site that a class of ranks makes.
type siteCalls struct {
	class, site, ranks int
	calls, gap         uint64
	time               trace.Stat
	amount             ops.Amount
}

// A siteValue is what was attached to these calls under a name.
type siteValue struct {
	calls int // which of the facts'
	name  string
	trace.ValueStat
}

type traffic struct {
	kind string
	*matrix.Matrix
}

// Traffic is of groups of ranks where there are many: a table of all pairs would be larger than all else. In
// collectives all talk to all, in other messages few do.
const (
	mostRanks      = 1024
	mostCollective = 128
	mostPairs      = 1 << 14
)

func gather(r *trace.Reader, o Options) (*facts, error) {
	f := &facts{}
	var err error
	if f.summary, err = summary.Of(r); err != nil {
		return nil, err
	}
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	f.ranks = make([]rankFacts, r.Ranks())
	for rank, p := range procs.All() {
		f.ranks[rank] = rankFacts{host: p.Host, calls: p.Calls, span: p.SpanNs, mpi: p.MPINs}
	}
	index := make(map[trace.FunctionSite]int)
	for class := range r.Classes() {
		files, err := r.FilesNs(class)
		if err != nil {
			return nil, err
		}
		for i, ns := range files {
			x := &f.ranks[r.Members(class)[i]]
			x.mpi = max(0, x.mpi-int64(ns))
		}
		if err := f.class(r, class, index); err != nil {
			return nil, err
		}
		p, err := profile.Of(r, r.Members(class)[0], calltree.Options{Where: o.Place})
		if err != nil {
			return nil, err
		}
		f.profiles = append(f.profiles, p)
		if o.Code == nil {
			continue
		}
		if p, err = profile.Of(r, r.Members(class)[0], calltree.Options{Where: o.Place, Code: o.Code}); err != nil {
			return nil, err
		}
		f.coded = append(f.coded, p)
	}
	f.name(o.Place)
	comms, err := handles.Of(r).Comms()
	if err != nil {
		return nil, err
	}
	f.comms = comms.List()
	for _, x := range []struct {
		kind  string
		ranks int
		o     matrix.Options
	}{
		{"point-to-point", mostRanks, matrix.Options{PointToPoint: true}}, {"collective", mostCollective, matrix.Options{Collectives: true}},
		{"one-sided", mostRanks, matrix.Options{RMA: true}},
	} {
		if !matrix.Occurs(r, x.o) {
			continue
		}
		x.o.Bin = (r.Ranks() + x.ranks - 1) / x.ranks
		m, err := matrix.Compute(r, x.o)
		if err != nil {
			return nil, err
		}
		for pairs(m) > mostPairs {
			m = m.Rebin(2 * m.Bin)
		}
		f.traffic = append(f.traffic, traffic{x.kind, m})
	}
	if r.HasTimes() {
		if f.waits, err = waits.Known(r, f.summary.Calls, func(string, trace.Site) string { return "" }); err != nil {
			return nil, err
		}
		report, err := efficiency.Of(r, efficiency.Options{})
		if err != nil {
			return nil, err
		}
		share := func(s efficiency.Share) any {
			if !s.Known() {
				return nil
			}
			return s.Value
		}
		e := report.Efficiency
		f.parallel, f.balance, f.communication = share(e.Parallel), share(e.LoadBalance), share(e.Communication)
	}
	return f, nil
}

// pairs counts the cells of a matrix that hold anything.
func pairs(m *matrix.Matrix) (n int) {
	for _, row := range m.Rows() {
		n += len(row)
	}
	return n
}

// class adds up the calls of a class by call site.
func (f *facts) class(r *trace.Reader, class int, index map[trace.FunctionSite]int) error {
	members := r.Members(class)
	k, err := r.Rank(members[0])
	if err != nil {
		return err
	}
	times, err := r.Times(class)
	if err != nil {
		return err
	}
	row := make([]int, k.Terminals()) // of f.calls
	of := make(map[int]int)           // by site
	for t := range row {
		c, err := k.Terminal(t)
		if err != nil {
			return err
		}
		s, fresh := once.Number(index, c.FunctionSite())
		if fresh {
			f.sites = append(f.sites, site{function: c.Name(), at: c.Site})
		}
		row[t] = once.Of(of, s, func() int {
			f.calls = append(f.calls, siteCalls{class: class, site: s, ranks: len(members)})
			return len(f.calls) - 1
		})
		if t < len(times) {
			f.calls[row[t]].time.Merge(times[t].Duration)
			f.calls[row[t]].gap += times[t].Gap.Sum
		}
	}
	values, err := r.Values(class)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for t, v := range values[name] { // the first terminal of a site has those of all
			if v.Count > 0 {
				f.values = append(f.values, siteValue{row[t], name, v})
			}
		}
	}
	amounts, err := ops.ClassOf(r, class)
	if err != nil {
		return err
	}
	return amounts.Each(func(member int, counts []uint64, totals []ops.Amount) error {
		rank := &f.ranks[members[member]]
		rank.class = class
		for t, n := range counts {
			f.calls[row[t]].calls += n
			f.calls[row[t]].amount.Add(totals[t], 1)
			rank.amount.Add(totals[t], 1)
			f.out += totals[t].Out
			f.in += totals[t].In
		}
		return nil
	})
}

// name finds what call sites are called in all builds.
func (f *facts) name(place func(string, trace.Site) symbolise.Place) {
	type group struct{ function, module, symbol, file string }
	groups := make(map[group][]int)
	for i := range f.sites {
		x := &f.sites[i]
		x.module = filepath.Base(x.at.Module)
		var symbols []string
		for at := &x.at; at != nil; at = at.Outer {
			function := ""
			if at == &x.at {
				function = x.function
			}
			p := place(function, *at)
			if len(p.Frames) == 0 {
				break
			}
			if at == &x.at {
				x.file, x.line = filepath.Base(p.Frames[0].File), p.Frames[0].Line
				if p.Frames[0].File == "" {
					x.file = ""
				}
			}
			for _, frame := range p.Frames {
				if frame.Function != "" {
					symbols = append(symbols, frame.Function)
				}
			}
		}
		x.symbol = strings.Join(symbols, " < ")
		g := group{x.function, x.module, x.symbol, x.file}
		groups[g] = append(groups[g], i)
	}
	for _, list := range groups {
		slices.SortStableFunc(list, func(a, b int) int { return compareSites(&f.sites[a].at, &f.sites[b].at) })
		for place, i := range list {
			f.sites[i].place = place
		}
	}
}

// compareSites orders call sites by address, those with one by what they were called from.
func compareSites(a, b *trace.Site) int {
	for a != nil && b != nil {
		if c := cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Offset, b.Offset)); c != 0 {
			return c
		}
		a, b = a.Outer, b.Outer
	}
	return 0
}

// app is the base name of a command's program.
func app(command string) string {
	words := strings.Fields(command)
	if len(words) == 0 {
		return ""
	}
	return filepath.Base(strings.Trim(words[0], `'"`))
}

// machine is the host, or what the names of several begin with.
func machine(hosts []summary.Host) string {
	if len(hosts) == 0 {
		return ""
	}
	name := hosts[0].Name
	for _, h := range hosts[1:] {
		for !strings.HasPrefix(h.Name, name) {
			name = name[:len(name)-1]
		}
	}
	if len(hosts) > 1 {
		name = strings.TrimRight(name, "0123456789") + "*"
	}
	return name
}
