package sums

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/trace"
)

// A Structure is how many of the calls the program's functions and loops, as found in its machine code, explain. A
// function or loop that is reached from several places counts once for each.
type Structure struct {
	Functions      int   `json:"functions"`
	Loops          int   `json:"loops"`
	ExplainedCalls int64 `json:"placed_calls"`
}

// structure counts the functions and loops of section code, and the calls that have a place in it. Without this
// section it does nothing.
func (s *Summary) structure(r *trace.Reader, table *Table) error {
	code, err := r.Code()
	if code == nil || err != nil {
		return err
	}
	s.Structure = &Structure{}
	for i := range code.Vertices {
		switch code.Vertices[i].Kind {
		case trace.FunctionVertex:
			s.Structure.Functions++
		case trace.LoopVertex:
			s.Structure.Loops++
		}
	}
	for i := range table.Classes {
		c := &table.Classes[i]
		k, err := r.Rank(c.Members[0])
		if err != nil {
			return err
		}
		for terminal, count := range c.CallsByTerminal {
			if k.VertexOf(code, terminal) >= 0 {
				s.Structure.ExplainedCalls += int64(count)
			}
		}
	}
	return nil
}

// A CountedLoop is a loop of the program and how many iterations it had, as counted by the program and over all
// ranks.
type CountedLoop struct {
	Loop   string `json:"loop"` // file:line function
	Rounds int64  `json:"rounds"`
}

// roundsLibrary is the file name of the plugin that attaches the program's iteration counts to calls.
const roundsLibrary = "libspoor-rounds.so"

// ListCountedLoops lists the loops whose iterations the program counted (papers pass), most iterations first. It is
// empty if the trace has no such counts.
func ListCountedLoops(r *trace.Reader) ([]CountedLoop, error) {
	counts := false
	for word := range strings.FieldsSeq(r.Meta()[trace.MetaRecorderOptions]) {
		plugin, is := strings.CutPrefix(word, "SPOOR_PLUGIN=")
		counts = counts || is && path.Base(plugin) == roundsLibrary
	}
	if !counts {
		return nil, nil
	}
	sums := make(map[string]int64)
	for class := range r.Classes() {
		values, err := r.AttachedStats(class)
		if err != nil {
			return nil, err
		}
		for name, list := range values {
			for _, v := range list {
				sums[name] += v.Sum
			}
		}
	}
	var list []CountedLoop
	for name, n := range sums {
		list = append(list, CountedLoop{name, n})
	}
	slices.SortFunc(list, func(a, b CountedLoop) int {
		return cmp.Or(cmp.Compare(b.Rounds, a.Rounds), cmp.Compare(a.Loop, b.Loop))
	})
	return list, nil
}
