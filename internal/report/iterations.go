package report

import (
	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/trace"
)

// Iterations is the ranks' times in the iterations of the run's main loop.
type Iterations struct {
	BeginCall           string   `json:"begins"` // the call that begins an iteration
	Count               uint64   `json:"count"`
	ColumnsPerIteration int      `json:"parts"` // columns of equal duration into which each iteration is divided
	IterationsPerColumn uint64   `json:"each"`  // iterations that share a column; above 1 if there are many iterations
	ColumnWidthsNs      []int64  `json:"widths"`
	RowRankRanges       [][2]int `json:"rows"` // of each row: its first rank, and number of ranks
	// For each row and column six times in ns: computing, waiting, in calls on files, in the recorder or untraced,
	// ready without a processor, and the rest, in MPI; packed.
	PackedCells string     `json:"cells"`
	SlowRanks   []SlowRank `json:"highest"`
	MaxErrorNs  int64      `json:"level"` // approximate error, in ns, of the times in Cells
}

// A SlowRank is a rank that computes, in one column, much longer than its row shows: by Ns.
type SlowRank struct {
	Column   int   `json:"column"`
	Rank     int   `json:"rank"`
	ExcessNs int64 `json:"ns"`
}

// iterationsOf converts the data on iterations for the page; nil without such data.
func iterationsOf(r *trace.Reader, w *trace.When, o Options) (*Iterations, error) {
	if w == nil || w.Loop == nil {
		return nil, nil
	}
	x, err := waits.NewPlaces(r)
	if err != nil {
		return nil, err
	}
	at := x.Site(w.Loop.BeginsAt)
	d := &Iterations{BeginCall: at.Function + " at " + o.called(at.Function, at.Site), Count: w.Loop.Iterations, ColumnsPerIteration: w.ColumnsPerIteration, IterationsPerColumn: w.IterationsPerColumn, MaxErrorNs: w.LevelNs, SlowRanks: []SlowRank{}}
	end := len(w.ColumnWidthNs) - w.ColumnsAfterLoop
	d.ColumnWidthsNs = w.ColumnWidthNs[w.ColumnsBeforeLoop:end]
	var cells []byte
	for i, row := range w.Rows {
		d.RowRankRanges = append(d.RowRankRanges, [2]int{row.FirstRank, row.RankCount})
		for column := w.ColumnsBeforeLoop; column < end; column++ {
			left := w.ColumnWidthNs[column]
			for state := range trace.WhenStateCount {
				ns := max(0, w.StateNs(i, state, column))
				cells = appendUvarint(cells, uint64(ns))
				left -= ns
			}
			cells = appendUvarint(cells, uint64(max(0, left)))
		}
	}
	for _, h := range w.Outliers {
		if w.InLoop(h.Column) {
			d.SlowRanks = append(d.SlowRanks, SlowRank{h.Column - w.ColumnsBeforeLoop, h.Rank, h.ExcessNs})
		}
	}
	d.PackedCells = packed(cells)
	return d, nil
}

// A PageFinding is a finding about where the run loses time.
type PageFinding struct {
	efficiency.Finding
	ShownAt *PagePosition `json:"seen,omitempty"` // nil: it concerns the whole run
}

// PagePosition is where the page shows the iterations of a finding.
type PagePosition struct {
	Column  int   `json:"column"` // index of a column of Iterations
	Row     int   `json:"row"`
	StartNs int64 `json:"from"` // ns since the start of the timeline
	EndNs   int64 `json:"to"`
}

// seenIn returns where the page shows the iterations of a finding: on the row of its rank or, without a rank, of the
// first rank with iterations. It returns nil if the finding isn't about iterations.
func seenIn(r *trace.Reader, w *trace.When, f *efficiency.Finding, t *Timeline) (*PagePosition, error) {
	if w == nil || w.Loop == nil || f.LastIteration <= f.FirstIteration || t == nil {
		return nil, nil
	}
	x, err := when.NewIterationFinder(r)
	if err != nil {
		return nil, err
	}
	wide := f.LastIteration - f.FirstIteration // how many iterations are shown before, and after, those of the finding
	rank, ns, err := x.BeginTimes(f.Rank, f.FirstIteration-min(f.FirstIteration, wide), f.LastIteration+wide)
	if err != nil || len(ns) < 2 {
		return nil, err
	}
	return &PagePosition{int(f.FirstIteration/max(1, w.IterationsPerColumn)) * max(1, w.ColumnsPerIteration), max(0, w.RowOf(rank)), ns[0] - t.StartNs, ns[1] - t.StartNs}, nil
}

// iterations adds the data on iterations, and the findings.
func (d *Data) iterations(r *trace.Reader, waited *waits.Report, o Options) error {
	d.Findings = []PageFinding{}
	if d.EfficiencyReport == nil {
		return nil
	}
	w, err := when.FromTraceOrAnalyse(r, d.Summary.Calls)
	if err != nil {
		return err
	}
	changes, err := efficiency.IterationFindings(r, w, o.called)
	if err != nil {
		return err
	}
	firsts, err := efficiency.FirstCallFindings(r, d.EfficiencyReport, o.called)
	if err != nil {
		return err
	}
	for _, f := range efficiency.Findings(d.EfficiencyReport, waited, append(changes, firsts...)...) {
		seen, err := seenIn(r, w, &f, d.Timeline)
		if err != nil {
			return err
		}
		d.Findings = append(d.Findings, PageFinding{f, seen})
	}
	if d.Timeline != nil {
		if d.Timeline.KeptIterations, err = d.Timeline.kept(r, w, d, o); err != nil {
			return err
		}
	}
	d.Iterations, err = iterationsOf(r, w, o)
	return err
}
