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

// A variant is a set of ranks that run the same C functions in the proxy: a class, or a part of one if its ranks
// differ in more than numbers.
type variant struct {
	number   int
	members  []int
	ranks    []*trace.Rank
	calls    []*call                // by terminal
	hists    *reissue.GapHistograms // histograms of the class's gaps; nil if the trace has none
	placed   []*placed              // times at the leaves, by stream
	stepwise []*stepwise            // by stream: its structure in steps; nil if it keeps the trace's structure
	finishes []finish
	sources  []source // by member: the variant that it comes from; nil if this variant was not merged from several
	fitter   *fitter
	plan     *reissue.ResourcePlan
	plans    []*reissue.ResourcePlan // memory and handles that a member's calls need, by member
	made     []reissue.MadeHandleSet
	// By stream: the index in generator.parts of the stream's outermost function, and the index of the copy of that
	// function.
	roots       [][2]int
	generalised bool         // the variant has generalised requests
	nested      map[int]bool // true for terminals that free objects which callbacks still use
	begin       int          // terminal of the first thread's call after which the proxy starts the other threads; -1: none
	end         map[int]bool // true for terminals of the first thread before which it waits for the ends of the others
	memory      string       // name of the C function that declares memory blocks; "" without any
	allocs      *memory
	tables      []string // C statements that create lanes, and tables of the values of repeated messages
	rows        int      // number of tables of message values that field tables creates
	lanes       string   // name of the C function with the statements of field tables; "" without any
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
	known   map[string]int // by the text of a function's steps: the function's index in parts

	lines   map[string]*line
	tables  []string
	tableOf map[string]string
	setups  []string
	setupOf map[string]string
	keyvals map[int64]int
	sites   map[trace.Site]string
	filled  map[statusPlace]bool
	ends    reissue.StreamEnds // where the ranks' streams end; nil: all ranks finished
	// Dependencies between threads as C initialisers, rank by rank; nil: none, or more than mostTurns.
	turns  []string
	files  bool  // some calls work on files
	left   bool  // some call's array of requests is as an earlier call left it
	scaled error // why a program for any number of ranks can't be written; nil: no reason found
	// Iteration counts that the program itself recorded, by file:line of the loop. 0: several loops are on this line.
	counted map[string]int64
}

func newGenerator(r *trace.Reader, o Options) *generator {
	o.GapAction = cmp.Or(o.GapAction, "none")
	return &generator{
		r: r, o: o, flavour: r.Meta()[trace.MetaMPIFlavour], plan: &reissue.ResourcePlan{}, known: make(map[string]int),
		lines: make(map[string]*line), tableOf: make(map[string]string), setupOf: make(map[string]string),
		keyvals: make(map[int64]int), sites: make(map[trace.Site]string),
	}
}

// variants divides the ranks of each class into variants. It adds their obstacles to search.
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
			k.DropDistinctCalls()
		}
	}
	return nil
}

// prepare finds everything that the lines of the program depend on, for example steps and attribute keys.
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

// column returns the values with index at in the call's signatures, one for each member of its variant.
func (c *call) column(at int) []int64 {
	col := make([]int64, len(c.vals))
	for i, v := range c.vals {
		col[i] = v[at]
	}
	return col
}

// A line is a call as the proxy writes it in C. Variants with equal lines share it.
type line struct {
	text  func(gap string) string
	site  string
	skip  string // why the call is left out; "" if it isn't
	order int
	apart *template // the line's text and numbers; nil until method template is called
}
