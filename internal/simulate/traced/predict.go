package traced

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/trace"
)

// A Prediction is what a trace's run would take elsewhere.
type Prediction struct {
	Machine    string          `json:"machine"`
	Source     string          `json:"source"` // of the machine's figures
	Mapping    string          `json:"mapping"`
	CPU        float64         `json:"cpu"`
	Gaps       string          `json:"gaps"`
	Calls      uint64          `json:"calls"`
	Operations uint64          `json:"operations"`
	EndPs      int64           `json:"end_ps"`    // of the last rank
	TracedNs   int64           `json:"traced_ns"` // of the traced run
	Ranks      []dataflow.Time `json:"ranks"`
	Unmodelled []Unmodelled    `json:"not_modelled"`

	Short dataflow.ShortCuts `json:"short_cuts"`

	Sites [][]dataflow.Time `json:"-"` // by class and terminal, over all ranks of the class, if they were asked for

	Path        *Path        `json:"critical_path,omitempty"`
	Sensitivity *Sensitivity `json:"sensitivity,omitempty"`
}

// Mean is the mean of the ranks' times.
func (p *Prediction) Mean() (t dataflow.Time) {
	n := int64(max(1, len(p.Ranks)))
	for i := range p.Ranks { // each divided first, as sums may be too large
		r := &p.Ranks[i]
		t.End += r.End / n
		t.Compute += r.Compute / n
		t.Overhead += r.Overhead / n
		t.Wait += r.Wait / n
		t.Transfer += r.Transfer / n
		t.Recorded += r.Recorded / n
	}
	return t
}

// Predict simulates a trace.
func Predict(r *trace.Reader, o Options) (*Prediction, error) {
	s, err := New(r, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	p := &Prediction{Machine: o.Machine.Name, Source: o.Machine.Source, Mapping: o.mapping(), CPU: s.cpu, TracedNs: s.Traced()}
	if p.Gaps, err = s.gaps(); err != nil {
		return nil, err
	}
	if p.Calls, err = s.Calls(); err != nil {
		return nil, err
	}
	programs, err := s.Programs()
	if err != nil {
		return nil, err
	}
	var sites *dataflow.Sites
	if o.Sites {
		sites = &dataflow.Sites{GroupOf: make([]int, len(programs)), Times: make([][]dataflow.Time, r.Classes())}
		for i := range sites.GroupOf {
			sites.GroupOf[i] = r.ClassOf(s.of[i].rank)
		}
	}
	result, err := dataflow.Run(programs, s.Placement, dataflow.Options{EachRank: o.EachRank, EachRound: o.EachRound, Sites: sites, Calls: s.each()})
	if err != nil {
		return nil, s.explained(err)
	}
	p.Ranks, p.Operations, p.EndPs, p.Unmodelled, p.Short = s.folded(result.Ranks), result.Ops, result.End(), s.Unmodelled(), result.Short
	if sites != nil {
		p.Sites = sites.Times
	}
	return p, nil
}

// each reports calls in whole ns.
func (s *Source) each() func(program int32, begin, end int64) {
	if s.o.Calls == nil {
		return nil
	}
	return func(program int32, begin, end int64) {
		of := &s.of[program]
		s.o.Calls(of.rank, of.stream, uint64(begin/1000), uint64(end/1000))
	}
}

// gaps says what is taken as the time between calls.
func (s *Source) gaps() (string, error) {
	if s.o.Median {
		return "medians of places", nil
	}
	if s.o.Mean {
		return "means of places", nil
	}
	if own, err := s.timesKept(); err != nil || !own {
		if by, err := s.byIteration(); err != nil || by {
			return "means of places by iteration", err
		}
		return "means of places", err
	}
	return "each call's own", nil
}

// explained says where the order of calls may be to blame for an error.
func (s *Source) explained(err error) error {
	if len(s.of) == s.r.Ranks() && len(s.locks) == 0 {
		return err
	}
	return fmt.Errorf("%w (threads and locks take turns as in the trace: its times have to be exact, as with --timing lossless, and clocks of hosts near each other)", err)
}

// timesKept reports whether the trace has the times of single calls on all ranks.
func (s *Source) timesKept() (bool, error) {
	for rank := range s.r.Ranks() {
		k, err := s.r.Rank(rank)
		if err != nil {
			return false, err
		}
		if own, err := k.TimesKept(); err != nil || !own {
			return false, err
		}
	}
	return true, nil
}

func (o *Options) mapping() string {
	if o.Nodes != nil {
		return "as listed"
	}
	return o.Mapping.String()
}
