package traced

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/trace"
)

// A CriticalPath is the critical path of a prediction: the calls that determine the predicted end of the run.
type CriticalPath struct {
	EndPs   int64 `json:"end_ps"`
	EndRank int   `json:"rank"` // rank on which the path ends
	// Number of messages and collectives at which the path goes on with an earlier event, mostly of another rank.
	Hops  int        `json:"hops"`
	Sites []PathSite `json:"sites"`
	Loops []PathLoop `json:"loops"` // a loop comes before its nested loops
	Ranks []PathRank `json:"ranks"` // in falling order of their times; without ranks that are not on the path
}

// PathTimes is the time that calls add to a critical path, in ps: the computation before them, their overhead, their
// waiting for messages and collectives, and calls without a model. The sum over all calls is the run time.
type PathTimes struct {
	ComputePs  int64 `json:"compute_ps"`
	OverheadPs int64 `json:"overhead_ps"`
	TransferPs int64 `json:"transfer_ps"`
	RecordedPs int64 `json:"recorded_ps"`
}

// SumPs returns all time that the calls add to the path, in ps.
func (p *PathTimes) SumPs() int64 { return p.ComputePs + p.OverheadPs + p.TransferPs + p.RecordedPs }

func (p *PathTimes) add(s *dataflow.PathShare) {
	p.ComputePs += s.ComputePs
	p.OverheadPs += s.OverheadPs
	p.TransferPs += s.TransferPs
	p.RecordedPs += s.RecordedPs
}

// A PathSite is the time that the calls of one function from one call site add to a critical path.
type PathSite struct {
	Function string     `json:"function"`
	Site     trace.Site `json:"-"`
	Place    string     `json:"place"` // text of the call site
	PathTimes
}

// A PathRank is the time that the calls of one rank add to a critical path.
type PathRank struct {
	Rank int `json:"rank"`
	PathTimes
}

// FindCriticalPath predicts a run and finds its critical path. tree selects the call tree in which loops are looked
// up.
func FindCriticalPath(r *trace.Reader, o Options, tree calltree.Options) (*CriticalPath, error) {
	var open []*ProgramSource
	defer func() {
		for _, s := range open {
			s.Close()
		}
	}()
	first, err := NewProgramSource(r, o)
	if err != nil {
		return nil, err
	}
	_, p, err := dataflow.SimulateWithPath(func() ([]dataflow.Program, error) {
		s, err := NewProgramSource(r, o)
		if err != nil {
			return nil, err
		}
		open = append(open, s)
		return s.Programs()
	}, first.Placement)
	if err != nil {
		return nil, err
	}
	of := open[0].of
	out := &CriticalPath{EndPs: p.EndPs, EndRank: of[p.EndRank].rank, Hops: p.WaitCount}
	type key struct {
		function string
		site     trace.Site
	}
	sites, ranks := make(map[key]*PathSite), make(map[int]*PathRank)
	loops, in := calltree.NewLoops(r, tree), make(map[int]*PathLoop)
	var k *trace.Rank
	var around [][]int
	for i := range p.Shares { // shares are in the order of programs
		s := &p.Shares[i]
		x := of[s.Rank]
		if i == 0 || p.Shares[i-1].Rank != s.Rank {
			if k, err = r.Rank(x.rank); err != nil {
				return nil, err
			}
			if around, err = loops.LoopsAround(x.rank, x.stream); err != nil {
				return nil, err
			}
		}
		for _, n := range around[int(s.CallIndex)] {
			once.GetOrMake(in, n, func() *PathLoop { return new(PathLoop) }).add(s)
		}
		c, err := k.Terminal(int(s.CallIndex))
		if err != nil {
			return nil, err
		}
		at := key{c.Name(), c.Site}
		once.GetOrMake(sites, at, func() *PathSite { return &PathSite{Function: at.function, Site: at.site} }).add(s)
		once.GetOrMake(ranks, x.rank, func() *PathRank { return &PathRank{Rank: x.rank} }).add(s)
	}
	// If a loop is in the map, the loops around it are, too.
	for n, l := range loops.List {
		if in[n] != nil {
			in[n].Loop = l
		}
	}
	out.Loops = within(loops.List, in, -1, nil)
	for _, x := range sites {
		out.Sites = append(out.Sites, *x)
	}
	for _, x := range ranks {
		out.Ranks = append(out.Ranks, *x)
	}
	slices.SortFunc(out.Sites, func(a, b PathSite) int {
		return cmp.Or(cmp.Compare(b.SumPs(), a.SumPs()), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Site.Offset, b.Site.Offset))
	})
	slices.SortFunc(out.Ranks, func(a, b PathRank) int { return cmp.Or(cmp.Compare(b.SumPs(), a.SumPs()), cmp.Compare(a.Rank, b.Rank)) })
	return out, nil
}

// A PathLoop is a loop, and the time that the calls in it add to a critical path, over all ranks, with those in
// nested loops.
type PathLoop struct {
	show.Loop
	PathTimes
}

// within appends to out the loops of list that are directly nested in loop around (-1: in none), those with most time
// first, each followed by its nested loops.
func within(list []show.Loop, in map[int]*PathLoop, around int, out []PathLoop) []PathLoop {
	var numbers []int
	for n := range list {
		if in[n] != nil && list[n].OuterLoopIndex == around {
			numbers = append(numbers, n)
		}
	}
	slices.SortStableFunc(numbers, func(a, b int) int { return cmp.Compare(in[b].SumPs(), in[a].SumPs()) })
	for _, n := range numbers {
		out = within(list, in, n, append(out, *in[n]))
	}
	return out
}
