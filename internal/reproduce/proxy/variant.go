package proxy

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A variant is a set of ranks with one program: a class, or a part of one if
// its ranks differ in more than numbers.
type variant struct {
	number      int
	members     []int
	ranks       []*trace.Rank
	calls       []*call                // by terminal
	hists       *reissue.GapHistograms // nil without any
	placed      []*placed              // by stream
	stepwise    []*stepwise            // by stream; nil: the stream has the trace's structure
	finishes    []finish
	sources     []source // by member, if the variant was merged from several; else nil
	fitter      *fitter
	plan        *reissue.ResourcePlan
	plans       []*reissue.ResourcePlan // by member
	made        []reissue.MadeHandleSet
	roots       [][2]int     // for each stream: the index of its function, and of the copy
	generalised bool         // the variant has generalised requests
	nested      map[int]bool // terminals that free objects which callbacks still use
	begin       int          // the terminal after which the other threads begin, or -1
	end         map[int]bool // terminals before which the other threads must end
	memory      string       // name of the function with the statements about memory
	allocs      *memory
	tables      []string // statements that create lanes and rows
	rows        int      // number of tables of rows
	lanes       string   // name of the function with the statements in tables; "" without any
}

type generator struct {
	r       *trace.Reader
	o       Options
	flavour string
	strings map[uint64]string

	list    []*variant
	plan    *reissue.ResourcePlan
	windows []reissue.AddressWindow // windows of addresses that displacements point into
	parts   []*ruleFunction
	known   map[string]int // functions by content

	lines   map[string]*line
	tables  []string
	tableOf map[string]string
	setups  []string
	setupOf map[string]string
	keyvals map[int64]int
	sites   map[trace.Site]string
	filled  map[statusPlace]bool
	ends    reissue.StreamEnds // nil: all ranks finish
	turns   []string           // entries of the table of dependencies between threads, rank by rank; nil: not known
	files   bool               // some calls work on files
	left    bool               // some calls get the requests that the previous call left
	scaled  error              // why a program for any number of ranks can't be written; nil: it can, or none is
	counted map[string]int64   // iteration counts recorded by the program, by file:line of the loop; 0: several loops on this line
}

func newGenerator(r *trace.Reader, o Options) *generator {
	o.Compute = cmp.Or(o.Compute, "none")
	return &generator{
		r: r, o: o, flavour: r.Meta()[trace.MetaMPI], plan: &reissue.ResourcePlan{}, known: make(map[string]int),
		lines: make(map[string]*line), tableOf: make(map[string]string), setupOf: make(map[string]string),
		keyvals: make(map[int64]int), sites: make(map[trace.Site]string),
	}
}

// variants finds the sets of ranks.
func (g *generator) variants(search *reissue.ObstacleSearch) error {
	var err error
	if g.strings, err = g.r.Strings(); err != nil {
		return err
	}
	for class := range g.r.Classes() {
		hists, err := reissue.GapHistogramsOf(g.r, class)
		if err != nil {
			return err
		}
		of := make(map[string]*variant)
		for _, rank := range g.r.Members(class) {
			k, err := g.r.Rank(rank)
			if err != nil {
				return err
			}
			calls := make([]*call, k.Terminals())
			vals, all := make([][]int64, k.Terminals()), make([]*trace.Call, k.Terminals())
			var key []byte
			generalised := false
			for t := range calls {
				c, err := k.Terminal(t)
				if err != nil {
					return err
				}
				vals[t] = k.Signature(t)
				d, s, err := decode(c.Func, vals[t])
				if err != nil {
					return fmt.Errorf("rank %d: %s: %w", rank, c.Name(), err)
				}
				d.site, d.c, all[t] = c.Site, c, c
				g.left = g.left || c.RequestsFromEarlierCall()
				generalised = generalised || d.generalises()
				calls[t] = d
				d.shape = s
				for _, v := range s {
					key = binary.AppendVarint(key, v)
				}
			}
			search.AddRank(k, all)
			v := once.GetOrAppend(of, string(key), &g.list, func() *variant {
				return &variant{number: len(g.list), calls: calls, hists: hists, generalised: generalised, plan: &reissue.ResourcePlan{}}
			})
			for t := range calls {
				v.calls[t].vals = append(v.calls[t].vals, vals[t])
			}
			plan, err := reissue.ResourcePlanOf(g.r, k)
			if err != nil {
				return err
			}
			v.members, v.ranks, v.plans = append(v.members, rank), append(v.ranks, k), append(v.plans, plan)
			v.made = append(v.made, reissue.MadeHandles(all))
			v.plan.Widen(plan)
			g.plan.Widen(plan)
			k.DropDistinct()
		}
	}
	return nil
}

// prepare collects what writing lines needs.
func (g *generator) prepare() {
	var found []candidate
	for _, v := range g.list {
		found = append(found, g.stepwise(v)...)
	}
	g.take(found)
	g.exchanges()
	g.tabulate()
	g.findStatuses()
	g.together()
	for _, v := range g.list {
		v.fitter = newFitter(g, v.members)
	}
	g.findKeyvals()
}

// findKeyvals numbers the attribute keys that the program made.
func (g *generator) findKeyvals() {
	for _, v := range g.list {
		for _, c := range v.calls {
			for i := range c.f.Params {
				if c.f.Params[i].Kind != mpi.KindKeyval {
					continue
				}
				for _, n := range []*node{&c.in[i], &c.out[i]} {
					if n.typ != trace.TypeInt {
						continue
					}
					for _, vals := range c.vals {
						key := vals[n.at]
						if name(mpi.KindKeyval, key) != "" {
							continue
						}
						once.NumberOf(g.keyvals, key)
					}
				}
			}
		}
	}
}

// column returns a value on each member of a variant.
func (c *call) column(at int) []int64 {
	col := make([]int64, len(c.vals))
	for i, v := range c.vals {
		col[i] = v[at]
	}
	return col
}

// A line is a call as the program writes it. Variants with equal lines share it.
type line struct {
	text  func(gap string) string
	site  string
	skip  string // the reason for leaving it out
	order int
	apart *template // set once template was called
}
