package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/hang"
	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/database"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/simulate/dataflow"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"

	"github.com/spoor-hpc/spoor/trace"
)

// A traceSimulation is the values of the flags of spoor simulate.
type traceSimulation struct {
	machines, debugPaths          []string
	mapping, gaps, tracedOn, vary string

	cpu               float64
	sensitivity, path bool
	sites             bool
	output
	whole    bool // every rank and iteration is simulated, even those that repeat others (--no-shortcuts)
	messages bool // large collective calls are simulated as messages, not by formulas
	database string
	window   windowFlags

	out   string // path of the trace with the predicted times; "": none is written
	force bool
}

// isTrace reports whether a file is a trace: by its first bytes.
func isTrace(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(container.FileMagic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == container.FileMagic
}

// options returns the simulation's options that the flags select, except the machine.
func (s *traceSimulation) options(cmd *cobra.Command, path string, r *trace.Reader) (o traced.Options, err error) {
	if cmd.Flags().Changed("cpu") && !(s.cpu > 0 && s.cpu <= 1e6) {
		return o, fmt.Errorf("--cpu is %v: the speed of a core relative to the traced machine's, more than 0", s.cpu)
	}
	o = traced.Options{CPUSpeedup: s.cpu, SimulateEachRank: s.whole, SimulateEachRound: s.whole, CollectivesAsMessages: s.messages}
	if o.Mapping, err = machine.ParseMapping(s.mapping); err != nil {
		if o.NodeOfRank, err = readNodes(s.mapping, r.Ranks(), err); err != nil {
			return o, err
		}
	}
	if s.tracedOn != "" {
		there, err := machine.LoadMachine(s.tracedOn)
		if err != nil {
			return o, err
		}
		o.TracingCost = &there.TracingCost
	}
	switch s.gaps {
	case "", "mean":
		o.UseMeanGaps = s.gaps == "mean"
	case "all", "median":
		o.UseMedianGaps = s.gaps == "median"
		kind, err := r.TimeKind()
		if err != nil {
			return o, err
		}
		if !kind.OfTheCallItself() {
			return o, fmt.Errorf("%s has no times of single calls: --compute-times mean, or trace with --timing lossless", path)
		}
	default:
		return o, fmt.Errorf("--compute-times %s: all, median or mean", s.gaps)
	}
	return o, nil
}

// readNodes reads a file whose k-th line names the node of rank k, from 0. It returns a number for each rank's node. If
// there is no such file and path has neither / nor ., path may be a misspelt --mapping: the error is unknown.
func readNodes(path string, ranks int, unknown error) (nodes []int, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(path, "/.") {
		return nil, fmt.Errorf("%w, or a file", unknown)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	numbers := make(map[string]int)
	lines := bufio.NewScanner(f)
	for line := 1; lines.Scan(); line++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		names := strings.Fields(text)
		if len(names) == 0 {
			continue
		}
		if len(names) > 1 {
			return nil, fmt.Errorf("%s:%d: %d words: the name of the node of rank %d alone", path, line, len(names), len(nodes))
		}
		if len(nodes) == ranks {
			return nil, fmt.Errorf("%s:%d: a node for rank %d, the trace has %d ranks", path, line, ranks, ranks)
		}
		n, _ := once.NumberOf(numbers, names[0])
		nodes = append(nodes, n)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(nodes) < ranks {
		return nil, fmt.Errorf("%s: nodes of %d ranks, the trace has %d", path, len(nodes), ranks)
	}
	return nodes, nil
}

func simulateTrace(cmd *cobra.Command, path string, s traceSimulation) error {
	if err := s.check(path); err != nil {
		return err
	}
	list, err := loadMachines(s.machines)
	if err != nil {
		return err
	}
	var vary traced.PropertyRange
	if s.vary != "" {
		if vary, err = traced.ParsePropertyRange(s.vary); err != nil {
			return err
		}
	}
	r, err := openTrace(path)
	if err != nil {
		return err
	}
	defer r.Close()
	r, done, err := s.window.part(cmd, r)
	if err != nil {
		return err
	}
	defer done()
	o, err := s.options(cmd, path, r)
	if err != nil {
		return err
	}
	progress := newProgress(cmd.ErrOrStderr(), "simulating calls", firstStreamCalls(r)*s.simulations(len(list), vary))
	o.Progress = func(calls uint64) { progress.steps(int(calls)) }
	o.Machine = list[0]
	var a simulationAnswer
	switch {
	case s.vary != "":
		a, err = sweep(r, o, vary)
	case len(list) > 1:
		a, err = compareMachines(r, o, list)
	default:
		a, err = s.onOneMachine(cmd, path, r, o, progress.end)
	}
	progress.end()
	if err != nil {
		return explainFailure(err, path, r)
	}
	return s.print(cmd, a.data, a.text, nil)
}

// check checks the flags that name machines and the output.
func (s *traceSimulation) check(path string) error {
	if !isTrace(path) {
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%s is no trace; spoor papers loggops simulates GOAL schedules", path)
		}
	}
	if len(s.machines) == 0 {
		return errors.New("a trace needs a machine: --machine FILE, or a name of spoor machine list")
	}
	if len(s.machines) > 1 && (s.sensitivity || s.path || s.sites || s.vary != "" || s.database != "") {
		return errors.New("several machines make a table: neither --sensitivity nor --path, --sites, --vary or --database goes with it")
	}
	return s.writable()
}

func loadMachines(names []string) (list []*machine.Machine, err error) {
	for _, name := range names {
		m, err := machine.LoadMachine(name)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

// firstStreamCalls returns the number of calls that all ranks' first threads made, for the progress display. A rank
// counts with at most 2³¹ − 1 calls.
func firstStreamCalls(r *trace.Reader) (calls int) {
	for rank := range r.Ranks() {
		if k, err := r.Rank(rank); err == nil && k.Streams() > 0 {
			calls += int(min(k.CallCount(0), math.MaxInt32))
		}
	}
	return calls
}

// simulations returns how often the run is simulated with the given flags, for the progress display.
func (s *traceSimulation) simulations(machines int, vary traced.PropertyRange) int {
	if s.vary != "" {
		return vary.PointCount
	}
	times := machines
	if s.sensitivity {
		times += 6
	}
	if s.path {
		times += 2
	}
	return times
}

// A simulationAnswer is the answer of a simulation: data is printed as JSON, or text prints it as text.
type simulationAnswer struct {
	data any
	text func(io.Writer)
}

func sweep(r *trace.Reader, o traced.Options, vary traced.PropertyRange) (simulationAnswer, error) {
	rows, err := traced.Sweep(r, o, vary)
	return simulationAnswer{rows, func(w io.Writer) { printSweep(w, vary, rows) }}, err
}

func compareMachines(r *trace.Reader, o traced.Options, list []*machine.Machine) (simulationAnswer, error) {
	all, err := predictEach(r, o, list)
	return simulationAnswer{all, func(w io.Writer) { printPredictions(w, all) }}, err
}

// onOneMachine makes all predictions for one machine that the flags ask for. done ends the progress display.
func (s *traceSimulation) onOneMachine(cmd *cobra.Command, path string, r *trace.Reader, o traced.Options, done func()) (a simulationAnswer, err error) {
	var sites *profile.CallSiteTable
	o.WithTerminalTimes = s.sites
	p, err := s.predict(cmd, path, r, o, done)
	if err == nil && s.sites {
		sites, err = s.predictedSites(cmd, r, p)
	}
	a.data = struct {
		*traced.Prediction
		CallSites *profile.CallSiteTable `json:"call_sites,omitempty"`
	}{p, sites}
	a.text = func(w io.Writer) {
		printPrediction(w, p, s.top)
		if sites != nil {
			printPredictedSites(w, sites, s.top)
		}
	}
	return a, err
}

// explainFailure adds the file's name to a simulation's error. If calls that others wait for are missing in the trace,
// it also adds which.
func explainFailure(err error, path string, r *trace.Reader) error {
	if lacks := hang.CheckMissingCalls(r, true, nil); errors.Is(lacks, hang.ErrMissingCalls) {
		err = fmt.Errorf("%w (%w)", lacks, err)
	}
	if !strings.Contains(err.Error(), path) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// predictedSites makes the table of call sites with recorded and predicted times.
func (s *traceSimulation) predictedSites(cmd *cobra.Command, r *trace.Reader, p *traced.Prediction) (*profile.CallSiteTable, error) {
	where, named, err := sitesOf(r, s.debugPaths, false)
	if err != nil {
		return nil, err
	}
	f, err := flatOf(cmd, r, named, profile.CallSiteTableOf)
	if err != nil {
		return nil, err
	}
	f.AddPrediction(func(class, terminal int) sites.Prediction {
		if terminal >= len(p.TerminalTimes[class]) {
			return sites.Prediction{}
		}
		t := &p.TerminalTimes[class][terminal]
		return sites.Prediction{Ns: float64(t.OverheadPs+t.WaitPs+t.TransferPs+t.RecordedPs) / 1000, ComputeNs: float64(t.ComputePs) / 1000}
	})
	where.complain(cmd)
	return f, nil
}

func printPredictedSites(w io.Writer, f *profile.CallSiteTable, top show.Limit) {
	fmt.Fprintln(w)
	rows, rest := f.WithinLimit(top)
	show.WriteText(w, rows, 0, func(c *show.Row, x sites.Site) {
		c.Ns("time", x.Duration.Sum).Ns("predicted", x.Predicted.Ns).Ns("compute", x.Gap.Sum).Ns("predicted", x.Predicted.ComputeNs)
		c.Count("calls", x.Calls).Text("function and place", x.FunctionSite.Function+" "+x.Place)
	})
	rest.Print(w)
}

// findPath finds the critical path of the predicted run and stores it in p.
func (s *traceSimulation) findPath(cmd *cobra.Command, r *trace.Reader, o traced.Options, p *traced.Prediction) error {
	where, err := placesOf(r, s.debugPaths)
	if err != nil {
		return err
	}
	tree, err := where.tree(r)
	if err != nil {
		return err
	}
	if p.CriticalPath, err = traced.FindCriticalPath(r, o, tree); err != nil {
		return err
	}
	for i := range p.CriticalPath.Sites {
		p.CriticalPath.Sites[i].Place = where.text(p.CriticalPath.Sites[i].Site)
	}
	where.complain(cmd)
	return nil
}

// predict predicts the run on one machine, and computes sensitivity and critical path if the flags ask for them. It
// stores the prediction in a database if --database is given.
func (s *traceSimulation) predict(cmd *cobra.Command, path string, r *trace.Reader, o traced.Options, done func()) (*traced.Prediction, error) {
	p, err := s.predicted(r, o)
	if err == nil && s.sensitivity {
		p.Sensitivity, err = traced.PredictVariations(r, o, p)
	}
	if err == nil && s.path {
		err = s.findPath(cmd, r, o, p)
	}
	done()
	if err != nil {
		return nil, err
	}
	if s.database != "" {
		err = keepPrediction(cmd, s.database, path, r, p)
	}
	return p, err
}

// writable returns an error if -o names a file that can't be written, or if other flags contradict -o.
func (s *traceSimulation) writable() error {
	switch {
	case s.out == "" && s.force:
		return errors.New("--force is for the trace that -o names")
	case s.out == "":
		return nil
	case len(s.machines) > 1 || s.vary != "":
		return errors.New("-o writes one prediction: neither several machines nor --vary go with it")
	}
	return mayWrite(s.out, s.force)
}

// predicted predicts the run. With -o, it also writes a trace with the predicted times.
func (s *traceSimulation) predicted(r *trace.Reader, o traced.Options) (*traced.Prediction, error) {
	if s.out == "" {
		return traced.Predict(r, o)
	}
	c, p, done, err := retimed(r, o)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := sections.WriteFile(s.out, c, s.force); err != nil {
		return nil, err
	}
	code, err := r.Code()
	if err != nil || code == nil {
		return p, err
	}
	return p, trace.AddCode(s.out, code, r)
}

// retimed predicts the run, and makes the content of a trace with the predicted times. The content is valid until done
// is called.
func retimed(r *trace.Reader, o traced.Options) (c *sections.Content, p *traced.Prediction, done func(), err error) {
	times, err := trackwriter.NewRetimedTrace(r)
	if err != nil {
		return nil, nil, nil, err
	}
	defer func() {
		if err != nil {
			times.Close()
		}
	}()
	o.OnEachCall = times.AddCallTimes
	if p, err = traced.Predict(r, o); err != nil {
		return nil, nil, nil, err
	}
	c, err = times.Content(map[string]string{
		trace.MetaProducer: show.Version, trace.MetaClock: "simulated",
		trace.MetaNotePrefix + ".simulate": fmt.Sprintf("times are a prediction for machine %s (%s), from the trace %s", p.Machine, p.FiguresSource, r.Name()),
	})
	return c, p, times.Close, err
}

// predictEach predicts a run on several machines.
func predictEach(r *trace.Reader, o traced.Options, list []*machine.Machine) ([]*traced.Prediction, error) {
	var options []traced.Options
	for _, m := range list {
		o.Machine = m
		options = append(options, o)
	}
	all, failed, err := traced.PredictAll(r, options)
	if err != nil {
		return nil, fmt.Errorf("on %s: %w", list[failed].Name, err)
	}
	return all, nil
}

func printPredictions(w io.Writer, all []*traced.Prediction) {
	show.WriteText(w, all, 0, func(c *show.Row, p *traced.Prediction) { predictionCells(c, "machine", p.Machine, p) })
	fmt.Fprintf(w, "traced: %s; times of parts are means of the ranks\n", show.FormatDuration(float64(all[0].TracedRunNs)))
}

// predictionCells writes the cells of a prediction's row, whose first column, what, has name.
func predictionCells(c *show.Row, what, name string, p *traced.Prediction) {
	c.Value(what, name).Ns("time", float64(p.EndPs)/1000)
	if p.TracedRunNs > 0 {
		c.Share("of traced", float64(p.EndPs)/1000/float64(p.TracedRunNs), 1)
	} else {
		c.Value("of traced", "")
	}
	t := p.MeanRankTime()
	timeCells(c, &t)
}

// timeCells writes a cell for each part of a rank's predicted time: compute, overhead, wait, transfer, as recorded.
func timeCells(c *show.Row, t *dataflow.RankTime) {
	c.Value("compute", ps(t.ComputePs)).Value("overhead", ps(t.OverheadPs)).Value("wait", ps(t.WaitPs)).Value("transfer", ps(t.TransferPs)).Value("as recorded", ps(t.RecordedPs))
}

func printSweep(out io.Writer, x traced.PropertyRange, rows []traced.VariedPrediction) {
	show.WriteText(out, rows, 0, func(c *show.Row, v traced.VariedPrediction) {
		predictionCells(c, x.Property, fmt.Sprintf("× %.4g", v.Factor), v.Prediction)
	})
	p := rows[0].Prediction
	fmt.Fprintf(out, "machine %s; traced: %s; times of parts are means of the ranks\n", p.Machine, show.FormatDuration(float64(p.TracedRunNs)))
}

// keepPrediction stores a prediction in a database together with the traced run, which it adds if it isn't there yet.
func keepPrediction(cmd *cobra.Command, to, path string, r *trace.Reader, p *traced.Prediction) error {
	d, err := database.Open(to)
	if err != nil {
		return err
	}
	defer d.Close()
	where := newPlaces(nil)
	code, err := where.code(r)
	if err != nil {
		return err
	}
	run, added, err := d.Add(path, r, database.Options{NamePlace: where.called, Code: code})
	if err != nil {
		return err
	}
	if added {
		where.complain(cmd)
	}
	return d.StorePrediction(run, p)
}

// ps formats a time given in picoseconds.
func ps(t int64) string { return show.FormatDuration(float64(t) / 1000) }

func printPrediction(w io.Writer, p *traced.Prediction, top show.Limit) {
	fmt.Fprintf(w, "machine    %s: %s\n", p.Machine, p.FiguresSource)
	cores := "cores as fast as traced"
	if p.CPUSpeedup != 1 {
		cores = fmt.Sprintf("cores %.3g times as fast", p.CPUSpeedup)
		if p.CPUSpeedup == 2 {
			cores = "cores twice as fast"
		}
	}
	fmt.Fprintf(w, "ranks      %s, %s; gaps: %s; %s\n", show.FormatPlural(len(p.Ranks), "rank"), p.Mapping, p.GapsKind, cores)
	fmt.Fprintf(w, "time       %s predicted, %s traced\n\n", ps(p.EndPs), show.FormatDuration(float64(p.TracedRunNs)))
	type line struct {
		name string
		dataflow.RankTime
	}
	var lines []line
	shown, more := show.TopRows(p.Ranks, top.Rows)
	for i, t := range shown {
		lines = append(lines, line{strconv.Itoa(i), t})
	}
	show.WriteText(w, append(lines, line{"mean", p.MeanRankTime()}), 0, func(c *show.Row, x line) {
		c.Value("rank", x.name).Value("end", ps(x.EndPs))
		timeCells(c, &x.RankTime)
	})
	show.WriteOmitted(w, more)
	if p.ShortCuts.SkippedRounds > 0 {
		fmt.Fprintf(w, "%s of the main loop repeat the %s before them: passed over\n", show.FormatPlural(int(p.ShortCuts.SkippedRounds), "iteration"), show.FormatGrouped(p.ShortCuts.PeriodRounds))
	}
	if n := len(p.Ranks) - p.ShortCuts.SimulatedRanks; n > 0 {
		fmt.Fprintf(w, "%s do what others do: %s simulated\n", show.FormatPlural(n, "rank"), show.FormatGrouped(uint64(p.ShortCuts.SimulatedRanks)))
	}
	if p.Sensitivity != nil {
		printSensitivity(w, p)
	}
	if p.CriticalPath != nil {
		printPath(w, p.CriticalPath, top)
	}
	if len(p.Unmodelled) == 0 {
		return
	}
	fmt.Fprintf(w, "\nnot modelled, with their share of the traced time of all ranks:\n")
	for _, u := range p.Unmodelled {
		took := "left out"
		if u.KeepsRecordedTime {
			took = "as recorded"
		}
		if u.RecordedNs == 0 {
			fmt.Fprintf(w, "  %s: %s\n", u.Description, show.FormatGrouped(u.Calls))
			continue
		}
		fmt.Fprintf(w, "  %7s  %s: %s, %s, %s\n", show.Percentage(u.RecordedShare, 1), u.Description, show.FormatPlural(u.Calls, "call"), show.FormatDuration(u.RecordedNs), took)
	}
}

func printSensitivity(w io.Writer, p *traced.Prediction) {
	fmt.Fprintln(w)
	show.WriteText(w, p.Sensitivity.Variations, 0, func(c *show.Row, v traced.Variation) {
		change := 0.0
		if p.EndPs > 0 && v.EndPs != p.EndPs {
			change = 100 * (float64(v.EndPs)/float64(p.EndPs) - 1)
		}
		c.Text("", v.Description).Value("", ps(v.EndPs)).Value("", fmt.Sprintf("%.2f %%", change))
	})
	s := p.Sensitivity
	fmt.Fprintf(w, "\ntransfer efficiency %s, serialisation efficiency %s, load balance %s\n",
		show.Percentage(s.TransferEfficiency, 1), show.Percentage(s.SerialisationEfficiency, 1), show.Percentage(s.LoadBalance, 1))
}

func printPath(w io.Writer, p *traced.CriticalPath, top show.Limit) {
	fmt.Fprintf(w, "\ncritical path: %s on rank %d at the end, %s over what ranks waited for\n", ps(p.EndPs), p.EndRank, show.FormatPlural(p.Hops, "hop"))
	cells := func(c *show.Row, x *traced.PathTimes) {
		c.Share("share", x.SumPs(), p.EndPs).Value("compute", ps(x.ComputePs)).Value("overhead", ps(x.OverheadPs))
		c.Value("transfer", ps(x.TransferPs)).Value("as recorded", ps(x.RecordedPs))
	}
	share := func(x *traced.PathTimes) float64 { return float64(x.SumPs()) / max(1, float64(p.EndPs)) }
	show.PrintWithinLimit(w, p.Sites, top, func(x traced.PathSite) float64 { return share(&x.PathTimes) }, func(c *show.Row, x traced.PathSite) {
		cells(c, &x.PathTimes)
		c.Text("call", x.Function+" "+x.Place)
	})
	if len(p.Loops) > 0 {
		fmt.Fprintln(w, "\nby loop:")
		show.PrintWithinLimit(w, p.Loops, top, func(x traced.PathLoop) float64 { return share(&x.PathTimes) }, func(c *show.Row, x traced.PathLoop) {
			c.Share("", x.SumPs(), p.EndPs).Text("", strings.Repeat("  ", x.Depth)+x.Loop.String())
		})
	}
	fmt.Fprintln(w)
	show.PrintWithinLimit(w, p.Ranks, top, func(x traced.PathRank) float64 { return share(&x.PathTimes) }, func(c *show.Row, x traced.PathRank) {
		cells(c, &x.PathTimes)
		c.Value("rank", x.Rank)
	})
}
