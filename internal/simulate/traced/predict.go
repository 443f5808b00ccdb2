package traced

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/trace"
)

// A Prediction is the predicted time of a trace's run on a machine.
type Prediction struct {
	Machine       string              `json:"machine"`
	FiguresSource string              `json:"source"` // source of the machine's figures
	Mapping       string              `json:"mapping"`
	CPUSpeedup    float64             `json:"cpu"`
	GapsKind      string              `json:"gaps"`
	Calls         uint64              `json:"calls"`
	Operations    uint64              `json:"operations"`
	EndPs         int64               `json:"end_ps"`    // predicted end of the last rank
	TracedRunNs   int64               `json:"traced_ns"` // run time of the traced run
	Ranks         []dataflow.RankTime `json:"ranks"`
	Unmodelled    []Unmodelled        `json:"not_modelled"`

	ShortCuts dataflow.ShortCuts `json:"short_cuts"`

	// By class and terminal, summed over the ranks of the class; nil without Options.WithTerminalTimes.
	TerminalTimes [][]dataflow.RankTime `json:"-"`

	CriticalPath *CriticalPath `json:"critical_path,omitempty"`
	Sensitivity  *Sensitivity  `json:"sensitivity,omitempty"`
}

// MeanRankTime returns the mean of the ranks' times, in ps.
func (p *Prediction) MeanRankTime() (t dataflow.RankTime) {
	n := int64(max(1, len(p.Ranks)))
	for i := range p.Ranks { // divided before adding, as a sum may overflow
		r := &p.Ranks[i]
		t.EndPs += r.EndPs / n
		t.ComputePs += r.ComputePs / n
		t.OverheadPs += r.OverheadPs / n
		t.WaitPs += r.WaitPs / n
		t.TransferPs += r.TransferPs / n
		t.RecordedPs += r.RecordedPs / n
	}
	return t
}

// Predict simulates the run of a trace on a machine.
func Predict(r *trace.Reader, o Options) (*Prediction, error) {
	s, err := NewProgramSource(r, o)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	p := &Prediction{Machine: o.Machine.Name, FiguresSource: o.Machine.FiguresSource, Mapping: o.mapping(), CPUSpeedup: s.cpu, TracedRunNs: s.TracedRunNs()}
	if p.GapsKind, err = s.gaps(); err != nil {
		return nil, err
	}
	if p.Calls, err = s.Calls(); err != nil {
		return nil, err
	}
	programs, err := s.Programs()
	if err != nil {
		return nil, err
	}
	var sites *dataflow.CallTimes
	if o.WithTerminalTimes {
		sites = &dataflow.CallTimes{GroupOfRank: make([]int, len(programs)), TimesByGroupAndCall: make([][]dataflow.RankTime, r.Classes())}
		for i := range sites.GroupOfRank {
			sites.GroupOfRank[i] = r.ClassOf(s.of[i].rank)
		}
	}
	result, err := dataflow.Simulate(programs, s.Placement, dataflow.Options{SimulateEachRank: o.SimulateEachRank, SimulateEachRound: o.SimulateEachRound, CallTimes: sites, OnEachCall: s.each()})
	if err != nil {
		return nil, s.explained(err)
	}
	p.Ranks, p.Operations, p.EndPs, p.Unmodelled, p.ShortCuts = s.folded(result.Ranks), result.Ops, result.EndPs(), s.Unmodelled(), result.ShortCuts
	if sites != nil {
		p.TerminalTimes = sites.TimesByGroupAndCall
	}
	return p, nil
}

// each returns dataflow.Options.OnEachCall: it passes each call's rank, stream and times in whole ns to s.o.OnEachCall;
// nil if that is nil.
func (s *ProgramSource) each() func(program int32, begin, end int64) {
	if s.o.OnEachCall == nil {
		return nil
	}
	return func(program int32, begin, end int64) {
		of := &s.of[program]
		s.o.OnEachCall(of.rank, of.stream, uint64(begin/1000), uint64(end/1000))
	}
}

// gaps returns a description of the gaps that the simulation uses, for people.
func (s *ProgramSource) gaps() (string, error) {
	if s.o.UseMedianGaps {
		return "medians of places", nil
	}
	if s.o.UseMeanGaps {
		return "means of call paths", nil
	}
	if own, err := s.timesKept(); err != nil || !own {
		if by, err := s.byIteration(); err != nil || by {
			return "means of call paths by iteration", err
		}
		return "means of call paths", err
	}
	return "each call's own", nil
}

// explained adds to an error of the simulation that the recorded order of calls may be the reason, if threads or
// locks are simulated.
func (s *ProgramSource) explained(err error) error {
	if len(s.of) == s.r.Ranks() && len(s.locks) == 0 {
		return err
	}
	return fmt.Errorf("%w (threads and locks take turns as in the trace: its times have to be exact, as with --timing lossless, and clocks of hosts near each other)", err)
}

// timesKept reports whether the trace has the times of single calls on all ranks.
func (s *ProgramSource) timesKept() (bool, error) {
	for rank := range s.r.Ranks() {
		k, err := s.r.Rank(rank)
		if err != nil {
			return false, err
		}
		if own, err := k.HasTimeOfEachCall(); err != nil || !own {
			return false, err
		}
	}
	return true, nil
}

func (o *Options) mapping() string {
	if o.NodeOfRank != nil {
		return "as listed"
	}
	return o.Mapping.String()
}
