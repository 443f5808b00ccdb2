package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/trace"
)

// A ProgramStructure is the structure of the program as a class of ranks executed it.
type ProgramStructure struct {
	Ranks           int        `json:"ranks"`
	SomeRanks       []int      `json:"some"` // up to maxNamed ranks of the class
	ShownRank       int        `json:"rank"` // the rank whose counts and times are shown
	TripCountsVary  bool       `json:"varies"`
	Sites           []CallSite `json:"sites"`
	Threads         []Thread   `json:"threads"`
	Truncated       bool       `json:"cut"`            // the most deeply nested parts are missing
	FromMachineCode bool       `json:"code,omitempty"` // loops follow from machine code
}

// A CallSite is a function and where it is called from.
type CallSite struct {
	Function string `json:"function"`
	Site     string `json:"site"`
}

// A Thread is the structure of what one thread executed.
type Thread struct {
	Number int           `json:"number"`
	Total  calltree.Sums `json:"total"`
	Body   []Node        `json:"body"`
}

// A Node is a calltree.Node with short JSON keys, as there are many.
type Node struct {
	Kind                 string  `json:"k"` // c call, f function, l loop, p part, r recursion, w branch alternative, e elsewhere
	SiteIndex            int     `json:"s,omitempty"`
	Peers                string  `json:"w,omitempty"`
	Part                 int     `json:"p,omitempty"`
	Name                 string  `json:"f,omitempty"` // a function's name; a branch alternative's "either" or "or", and how often
	CallerPlace          string  `json:"l,omitempty"` // of a function: where the function around it in the tree calls it
	Entries              uint64  `json:"e"`
	Rounds               uint64  `json:"r"`
	MinRounds            uint64  `json:"a"`
	MaxRounds            uint64  `json:"z"`
	RoundsStep           int64   `json:"d,omitempty"`
	Calls                uint64  `json:"n"`
	ComputeNs            float64 `json:"g"`
	InCallsNs            float64 `json:"m"`
	BytesOut             uint64  `json:"o,omitempty"`
	BytesIn              uint64  `json:"i,omitempty"`
	Place                string  `json:"q,omitempty"` // where a loop or call is in the code
	RoundsAreLowerBound  bool    `json:"x,omitempty"` // of a loop: Rounds is a lower bound
	EntriesAreLowerBound bool    `json:"u,omitempty"` // of a loop: Entries is a lower bound
	RoundsByProgram      string  `json:"y,omitempty"` // iterations counted by the program itself, if the calls don't determine them
	BranchNs             float64 `json:"h,omitempty"` // of a branch alternative: time of the whole branch
	EntryNote            string  `json:"v,omitempty"` // of a loop or call: note on the time before its first occurrence, if that differs
	Body                 []Node  `json:"b,omitempty"`
}

// Limits of what the page shows of structures. maxNamed is the largest length of ProgramStructure.SomeRanks.
const (
	maxStructures = 8    // number of classes shown: those with most ranks
	maxNodes      = 4000 // number of nodes of all structures together
	maxNamed      = 12
)

func structures(r *trace.Reader, where calltree.Locator, o Options) ([]ProgramStructure, error) {
	classes := make([]int, r.Classes())
	size := make([]int, len(classes))
	for i := range classes {
		classes[i] = i
		size[i] = len(r.Members(i))
	}
	slices.SortStableFunc(classes, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	classes = classes[:min(len(classes), maxStructures)]
	list := []ProgramStructure{}
	for i, class := range classes {
		members := r.Members(class)
		p, err := profile.RankProfile(r, members[0], calltree.Options{Locate: where, Code: o.Code})
		if err != nil {
			return nil, err
		}
		s := ProgramStructure{Ranks: len(members), SomeRanks: members[:min(len(members), maxNamed)], ShownRank: p.Rank, TripCountsVary: p.TripCountsVary, FromMachineCode: p.FromMachineCode}
		for _, x := range p.Sites {
			s.Sites = append(s.Sites, CallSite{x.Function, x.Place()})
		}
		left := maxNodes / len(classes)
		for _, t := range p.Threads {
			s.Threads = append(s.Threads, Thread{t.Number, t.Total, s.nodes(t.Body, &left)})
		}
		list = append(list, s)
		o.Progress("finding the structure", i+1, len(classes))
	}
	return list, nil
}

// nodes converts a list of nodes and their bodies, outer nodes first. left is how many more may be converted.
func (s *ProgramStructure) nodes(list []*calltree.Node, left *int) []Node {
	var out []Node
	for _, n := range list {
		if *left == 0 {
			s.Truncated = true
			break
		}
		*left--
		out = append(out, Node{
			Kind: n.Kind[:1], SiteIndex: n.SiteNumber, Peers: n.PeerFormulas, Part: n.PartNumber, Name: n.Function, CallerPlace: n.CallerPlace, Entries: n.Entries, Rounds: n.Rounds, MinRounds: n.LeastRounds,
			MaxRounds: n.MostRounds, RoundsStep: n.RoundsStep, Calls: n.Sums.Calls, ComputeNs: n.Sums.ComputeNs, InCallsNs: n.Sums.InCallsNs(), BytesOut: n.Sums.BytesOut, BytesIn: n.Sums.BytesIn,
			Place: n.Place, RoundsAreLowerBound: n.RoundsAreLowerBound, EntriesAreLowerBound: n.EntriesAreLowerBound, RoundsByProgram: n.RoundsByProgramText(), BranchNs: n.AllArmsNs, EntryNote: strings.TrimPrefix(n.EntryNote(), ", "),
		})
	}
	for i := range out {
		out[i].Body = s.nodes(list[i].ShownBody(), left)
	}
	return out
}
