package database

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/internal/analyse/profile"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// facts are what the database stores about one trace.
type facts struct {
	summary *sums.Summary
	table   *sums.Table
	known   sites.KnownFacts
	sites   []site
	index   map[trace.FunctionSite]int // by function and site: index in sites
	rows    []int                      // by index in table.Rows: index in sites
	totals  []sites.Site               // sums by call site over all classes, in any order
	// Profiles are of the first rank of each class.
	profiles []*profile.Profile // by class, with loops that were found in the order of calls
	coded    []*profile.Profile // by class, with loops of the machine code; nil: there is no machine code

	comms   []*handles.Comm
	traffic []namedMatrix
	out, in uint64

	waits *waits.Report // nil: waits are not known
	when  *trace.When   // nil: iterations are not known
	// findings on iterations as text, one for each of when.Findings
	changes                          []efficiency.Finding
	parallel, balance, communication any // efficiencies from 0 to 1 as float64; nil: not known
}

// A site is a call site of an MPI function, as the trace has it (at) and by names that are the same in all builds.
type site struct {
	function, module, symbol, file string
	place, line                    int
	at                             trace.Site
}

type namedMatrix struct {
	kind string
	*matrix.Matrix
}

// With many ranks, traffic is stored between groups of ranks, as a table of all pairs would dominate the database. In
// collectives all ranks exchange data, else each with few others: so collectives get fewer groups.
const (
	mostRanks      = 1024
	mostCollective = 128
	mostPairs      = 1 << 14
)

func gather(r *trace.Reader, o Options) (*facts, error) {
	f := &facts{}
	var err error
	if f.summary, err = sums.Summarise(r); err != nil {
		return nil, err
	}
	named, err := sites.NamingByLine(r, o.NamePlace)
	if err != nil {
		return nil, err
	}
	if f.table, err = sums.SumCalls(r, sums.Options{WithBytes: true, Representative: named.Representative}); err != nil {
		return nil, err
	}
	f.known.HasTimes = r.HasTimes()
	for i := range f.table.Ranks {
		x := &f.table.Ranks[i]
		f.out += x.BytesOut
		f.in += x.BytesIn
		f.known.TotalTimeNs += x.ThreadTimeNs
	}
	f.index = make(map[trace.FunctionSite]int)
	for i := range f.table.Rows {
		at := f.table.Rows[i].FunctionSite
		n, fresh := once.NumberOf(f.index, at)
		if fresh {
			f.sites = append(f.sites, site{function: at.Function, at: at.Site})
		}
		f.rows = append(f.rows, n)
	}
	for class := range r.Classes() {
		p, err := profile.RankProfile(r, r.Members(class)[0], calltree.Options{Locate: o.NamePlace})
		if err != nil {
			return nil, err
		}
		f.profiles = append(f.profiles, p)
		if o.Code == nil {
			continue
		}
		if p, err = profile.RankProfile(r, r.Members(class)[0], calltree.Options{Locate: o.NamePlace, Code: o.Code}); err != nil {
			return nil, err
		}
		f.coded = append(f.coded, p)
	}
	f.name(o.NamePlace)
	comms, err := handles.TableOf(r).Comms()
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
		if !matrix.HasTraffic(r, x.o) {
			continue
		}
		x.o.RanksPerRow = (r.Ranks() + x.ranks - 1) / x.ranks
		m, err := matrix.Compute(r, x.o)
		if err != nil {
			return nil, err
		}
		for pairs(m) > mostPairs {
			m = m.WithRanksPerRow(2 * m.RanksPerRow)
		}
		f.traffic = append(f.traffic, namedMatrix{x.kind, m})
	}
	if r.HasTimes() {
		if f.waits, err = waits.FromTraceOrAnalyse(r, f.summary.Calls, func(string, trace.Site) string { return "" }); err != nil {
			return nil, err
		}
		f.known.HasWaits = f.waits != nil
		if f.when, err = when.FromTraceOrAnalyse(r, f.summary.Calls); err != nil {
			return nil, err
		}
		called := func(function string, s trace.Site) string {
			p := o.NamePlace(function, s)
			return p.String()
		}
		if f.changes, err = efficiency.IterationFindings(r, f.when, called); err != nil {
			return nil, err
		}
		report, err := efficiency.Analyse(r, efficiency.Options{})
		if err != nil {
			return nil, err
		}
		share := func(s efficiency.BoundedShare) any {
			if !s.IsPrecise() {
				return nil
			}
			return s.Value
		}
		e := report.Efficiency
		f.parallel, f.balance, f.communication = share(e.Parallel), share(e.LoadBalance), share(e.Communication)
	}
	f.totals = sites.MergeRows(f.table, named, true)
	if f.waits != nil {
		for i := range f.waits.Sites {
			f.waits.Sites[i].FunctionSite = named.Representative(f.waits.Sites[i].FunctionSite)
		}
		sites.AddWaits(f.totals, named, f.waits.EachSite)
	}
	return f, nil
}

// pairs counts the pairs of rows between which a matrix has traffic.
func pairs(m *matrix.Matrix) (n int) {
	for _, row := range m.Rows() {
		n += len(row)
	}
	return n
}

// numbered returns the call sites of a class in the order of its profile's numbers, as indices in f.sites.
func (f *facts) numbered(class int) (list []int, err error) {
	c := &f.table.Classes[class]
	k, err := f.table.Reader.Rank(c.Members[0])
	if err != nil {
		return nil, err
	}
	seen := make(map[trace.FunctionSite]bool)
	for t, row := range c.RowByTerminal {
		called := k.CallWithoutParams(t)
		if at := called.FunctionSite(); !seen[at] {
			seen[at] = true
			list = append(list, f.rows[row])
		}
	}
	return list, nil
}

// name sets the names of f.sites, which don't depend on the build: module, symbol, file and place.
func (f *facts) name(place func(string, trace.Site) symbolise.Place) {
	type group struct{ function, module, symbol, file string }
	groups := make(map[group][]int)
	for i := range f.sites {
		x := &f.sites[i]
		x.module = filepath.Base(x.at.Module)
		var symbols []string
		for at := &x.at; at != nil; at = at.Caller {
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

// compareSites orders call sites by module and offset, then by those of their callers.
func compareSites(a, b *trace.Site) int {
	for a != nil && b != nil {
		if c := cmp.Or(cmp.Compare(a.Module, b.Module), cmp.Compare(a.Offset, b.Offset)); c != 0 {
			return c
		}
		a, b = a.Caller, b.Caller
	}
	return 0
}

// app returns the base name of the program in a command line.
func app(command string) string {
	words := strings.Fields(command)
	if len(words) == 0 {
		return ""
	}
	return filepath.Base(strings.Trim(words[0], `'"`))
}

// machine returns a name for the machine with these hosts: the one host, or the hosts' common prefix with a star.
func machine(hosts []sums.Host) string {
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
