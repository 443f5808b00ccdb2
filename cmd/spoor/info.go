package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

func newInfo() *cobra.Command {
	var o output
	var top show.Limit
	var storage bool
	var paths []string
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "info [flags] [TRACE]",
		Short: "Show where a run lost its time, and what ran",
		Long: `The first lines say where time is lost, each with its share of the run time of
all ranks, at most five. With wait states they name the ranks that waited, the
rank that was late, and what it did. Then: command, MPI, ranks, hosts, time, and
the functions with most time. Time counts from rank 0's first call to the end of
the last rank; spoor's own time has a line of its own and is not part of MPI's.

--storage adds how the trace is stored: bytes by section, the classes of ranks
with equal calls, and which parameters take most bytes.`,
		Example: `  spoor info app.spoor
  spoor info --top 0 app.spoor        every function
  spoor info --storage app.spoor
  spoor info --json app.spoor | jq .calls`,
		Args: aTrace,
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			x, err := infoOf(r, paths)
			if err != nil {
				return err
			}
			return o.print(cmd, x, func(w io.Writer) {
				printFindings(w, x.Summary, x.Findings)
				x.print(w)
				printFunctions(w, x.Summary, top)
				if storage {
					printStorage(w, x.Summary, top.Rows)
				}
			}, nil)
		}),
	}
	f := cmd.Flags()
	topFlag(f, &top, 10, "functions, and rows of --storage")
	f.BoolVar(&storage, "storage", false, "add how the trace is stored")
	jsonFlag(f, &o.json)
	debugPathFlag(f, &paths)
	window.add(f)
	return cmd
}

// An infoAnswer is what spoor info prints.
type infoAnswer struct {
	Findings []efficiency.Finding `json:"findings"`
	*sums.Summary
	Merged   []mergedSizes   `json:"merged,omitempty"`
	Drawn    []drawnRounds   `json:"drawn,omitempty"`
	Partners []drawnMessages `json:"partners,omitempty"`
	NoWaits  string          `json:"no_waits,omitempty"`

	iterations string // one line about how long iterations of the main loop take; "": not known
}

func infoOf(r *trace.Reader, paths []string) (x *infoAnswer, err error) {
	x = &infoAnswer{}
	if x.Summary, err = sums.Summarise(r); err != nil {
		return nil, err
	}
	iterations, err := when.FromTraceOrAnalyse(r, x.Calls)
	if err != nil {
		return nil, err
	}
	x.iterations = iterationsText(iterations)
	if x.Findings, err = findingsOf(r, x.Summary, iterations, paths); err != nil {
		return nil, err
	}
	thinned, err := r.MergedSizes()
	if err != nil {
		return nil, err
	}
	x.Merged = mergedOf(thinned)
	if x.Drawn, err = drawnOf(r, newPlaces(paths)); err != nil {
		return nil, err
	}
	partners, err := r.SyntheticMessages()
	if err != nil {
		return nil, err
	}
	x.Partners = drawnMessagesOf(partners)
	x.NoWaits, err = waits.MissingReason(r)
	return x, err
}

// expandable is up to how many calls a trace with the time of each call is searched for losses. Larger traces take too
// long, as every call is processed.
const expandable = 2_000_000

// findingsOf lists where the run loses time. The list is empty if the trace has no times, or more than expandable calls
// with a time each.
func findingsOf(r *trace.Reader, s *sums.Summary, iterations *trace.When, paths []string) ([]efficiency.Finding, error) {
	if s.Timeless {
		return []efficiency.Finding{}, nil
	}
	kind, err := r.TimeKind()
	if err != nil || kind.OfTheCallItself() && s.Calls > expandable {
		return []efficiency.Finding{}, err
	}
	where, named, err := sitesOf(r, paths, false)
	if err != nil {
		return nil, err
	}
	rep, err := efficiency.Analyse(r, efficiency.Options{AllFunctions: true, NameSite: where.text, SiteNaming: named})
	if err != nil {
		return nil, err
	}
	w, err := waits.FromTraceOrAnalyse(r, s.Calls, where.atCall)
	if err != nil {
		return nil, err
	}
	if w != nil {
		w.MergeSites()
	}
	others, err := efficiency.IterationFindings(r, iterations, where.atCall)
	if err != nil {
		return nil, err
	}
	firsts, err := efficiency.FirstCallFindings(r, rep, where.atCall)
	return efficiency.Findings(rep, w, append(others, firsts...)...), err
}

func printFindings(w io.Writer, s *sums.Summary, list []efficiency.Finding) {
	if len(list) == 0 {
		return
	}
	for _, f := range list {
		fmt.Fprintln(w, f.TextLine(fmt.Sprintf("%-10s ", show.Percentage(f.Share, 1))))
	}
	fmt.Fprintf(w, "%-10s spoor efficiency --all-calls %s\n\n", "more", s.File)
}

// fields prints lines, each with a name and a value.
type fields struct{ io.Writer }

func (w fields) add(name, format string, args ...any) {
	fmt.Fprintf(w, "%-10s %s\n", name, fmt.Sprintf(format, args...))
}

// addIf prints a line with a value, formatted from text, unless text is "".
func (w fields) addIf(name, format, text string) {
	if text != "" {
		w.add(name, format, text)
	}
}

// print writes the lines of spoor info that come after the findings and before the table of functions.
func (x *infoAnswer) print(out io.Writer) {
	w := fields{out}
	w.printRun(x.Summary)
	w.printMachine(x.Summary)
	w.add("time", "%s", timeText(x.Summary))
	w.addIf("spoor", "%s", spoorText(x.Summary))
	w.addIf("waits", "not known: %s", x.NoWaits)
	w.printCalls(x.Summary, x.iterations)
	w.printCaveats(x)
}

// printRun writes the lines about the trace file, the program, its MPI and the recorder.
func (w fields) printRun(s *sums.Summary) {
	w.add("trace", "%s, %s", s.File, show.FormatBytes(s.FileBytes))
	w.add("command", "%s", show.ElideMiddle(cmp.Or(s.Command, "unknown")))
	library, _, _ := strings.Cut(s.Library, "\n")
	family := "unknown"
	if flavour, ok := mpi.FlavourNamed(s.MPI); ok {
		family = flavour.FamilyText()
	}
	w.add("MPI", "%s", joinNonEmpty(", ", family, strings.Join(strings.Fields(library), " ")))
	if s.Producer != "" {
		options := slices.DeleteFunc(strings.Fields(s.Options), func(word string) bool { return word == fmt.Sprint("SPOOR_STACK=", defaultStack) })
		w.add("recorder", "spoor %s", joinNonEmpty(", ", s.Producer, strings.Join(options, " ")))
	}
	for _, l := range s.WrapperLibraries {
		w.add("layer", "%s wraps MPI functions, too", l)
	}
	w.addIf("imported", "from %s", s.ImportFormat)
	for _, name := range slices.Sorted(maps.Keys(s.Tags)) {
		w.add("tag", "%s=%s", name, s.Tags[name])
	}
}

// printMachine writes when the program ran, and on which hosts, with how many ranks and threads.
func (w fields) printMachine(s *sums.Summary) {
	if s.StartWallClockNs != 0 {
		w.add("started", "%s", wallClock(s.StartWallClockNs))
	}
	w.add("ranks", "%s", ranksText(s))
	w.add("hosts", "%s", hostsText(s.Hosts))
	w.addIf("clocks", "%s", clocksText(s))
	if s.MaxThreads > 1 {
		w.add("threads", "up to %d a rank", s.MaxThreads)
	}
}

// clocksText describes by how much the hosts' clocks differ; "" if there is one host.
func clocksText(s *sums.Summary) string {
	c := s.Clocks
	switch {
	case c != nil && c.Count == 1:
		return "one: the hosts share a kernel"
	case c == nil && len(s.Hosts) > 1 && !s.Timeless:
		return "not compared: ranks are put together by the hosts' wall clocks"
	case c == nil:
		return ""
	}
	drift := "no drift seen"
	if c.DriftPPM > 0 {
		format := "drift up to %.3g ppm"
		if c.DriftPPM >= 999.5 {
			format = "drift up to %.0f ppm" // %.3g would print a large drift as, for example, 1e+03
		}
		drift = fmt.Sprintf(format, c.DriftPPM)
	}
	return fmt.Sprintf("%d, up to %s apart, %s, compared within %s", c.Count, show.FormatDuration(float64(c.MaxDifferenceNs)), drift,
		show.FormatDuration(float64(c.MaxErrorNs)))
}

// printCalls writes the lines about calls: their number, the loops they lie in, and the duration of iterations.
func (w fields) printCalls(s *sums.Summary, iterations string) {
	w.add("calls", "%s; %s", show.FormatGrouped(s.Calls), density(s))
	if x := s.Structure; x != nil {
		w.add("structure", "%s of calls lie in %s and %s; see: spoor calltree",
			show.Percentage(float64(x.ExplainedCalls), float64(s.Calls)), show.FormatPlural(x.Functions, "function"), show.FormatPlural(x.Loops, "loop"))
	}
	w.addIf("iterations", "%s; see: spoor waits --iteration", iterations)
	if len(s.CountedLoops) > 0 {
		sum := int64(0)
		for _, x := range s.CountedLoops {
			sum += x.Rounds
		}
		w.add("counted", "%s iterations of %s, counted by the program; most, %s, at %s", show.FormatGrouped(sum), show.FormatPlural(len(s.CountedLoops), "loop"), show.FormatGrouped(s.CountedLoops[0].Rounds), s.CountedLoops[0].Loop)
	}
}

// printCaveats writes in what the trace differs from the run: lost calls, problems, merged and synthetic values.
func (w fields) printCaveats(x *infoAnswer) {
	if x.LostRecords > 0 {
		w.add("lost", "%s that the trace lacks", show.FormatPlural(x.LostRecords, "call"))
	}
	for _, p := range x.Problems {
		w.add("problem", "%s", p)
	}
	for _, n := range x.ImportNotes {
		w.add("note", "%s", n)
	}
	for i := range x.Merged {
		w.add("merged", "%s", x.Merged[i].text())
	}
	for i := range x.Drawn {
		w.add("synthetic", "%s", x.Drawn[i].text())
	}
	for i := range x.Partners {
		w.add("synthetic", "%s", x.Partners[i].text())
	}
}

// printStorage writes how many bytes of the file each section and each value takes, and how large the classes are.
func printStorage(w io.Writer, s *sums.Summary, top int) {
	fmt.Fprintf(w, "\nstored as %s of %s, %s, in:\n", show.FormatPlural(len(s.Classes), "class"), show.FormatPlural(s.Signatures, "signature"),
		show.FormatPlural(s.Sites, "call site"))
	total := int64(0)
	for _, x := range s.Sections {
		total += x.Bytes
	}
	parts := slices.Clone(s.Sections)
	if head := s.FileBytes - total; head > 0 {
		parts = append(parts, sums.SectionSize{Name: "header and directory", Bytes: head})
	}
	show.WriteText(w, parts, 0, func(c *show.Row, x sums.SectionSize) {
		c.Count("", x.Bytes).Share("", x.Bytes, s.FileBytes).Text("", x.Name)
	})
	printCosts(w, s, top)
	printClasses(w, s, top)
}

// timeText describes the run time and which part of it was spent in MPI and in calls on files.
func timeText(s *sums.Summary) string {
	if s.Timeless {
		return trace.ErrNoTimes.Error()
	}
	of, each := "", "a rank"
	if s.MaxThreads > 1 {
		of, each = " of its threads' time", "a rank, all its threads together"
	}
	time := show.FormatDuration(float64(s.EndNs))
	if s.FirstCallNs < -s.EndNs/1000 {
		time += fmt.Sprintf(" since rank 0's first call (the first came %s before)", show.FormatDuration(float64(-s.FirstCallNs)))
	}
	text := fmt.Sprintf("%s, in MPI %s%s (%s to %s %s)", time, show.Percentage(float64(s.MPINs), float64(s.TotalThreadNs)), of,
		show.FormatDuration(float64(s.MinRankMPINs)), show.FormatDuration(float64(s.MaxRankMPINs)), each)
	if s.PosixIONs > 0 {
		text += fmt.Sprintf(", in files %s (%s)", show.Percentage(float64(s.PosixIONs), float64(s.TotalThreadNs)), show.FormatDuration(float64(s.PosixIONs)))
	}
	return text
}

// spoorText describes how much of the ranks' time the recorder took, and for what.
func spoorText(s *sums.Summary) string {
	var list []string
	n := float64(max(1, s.Ranks-s.RanksByEnd[sums.EndMissing]))
	if s.RecorderNs > 0 {
		whole := float64(s.TotalSpanNs + s.RecorderNs + s.TracingOffNs)
		parts := show.FormatDuration(float64(s.RecorderStartNs)/n) + " to start"
		if rest := s.RecorderNs - s.RecorderStartNs; rest > 0 {
			parts += fmt.Sprintf(", %s to take in records", show.FormatDuration(float64(rest)/n))
		}
		list = append(list, fmt.Sprintf("%s a rank during the run, %s of its time (%s)", show.FormatDuration(float64(s.RecorderNs)/n), show.Percentage(float64(s.RecorderNs), whole), parts))
	}
	if s.FinalizeToTraceNs > 0 { // the time of the merge isn't part of RecorderNs
		text := show.FormatDuration(float64(s.FinalizeToTraceNs)) + " in MPI_Finalize, after the program's last call"
		if len(list) > 0 {
			text = list[0] + ", and " + text
		}
		list = []string{text}
	}
	if s.TracingOffNs > 0 {
		list = append(list, fmt.Sprintf("not traced for %s a rank", show.FormatDuration(float64(s.TracingOffNs)/n)))
	}
	return strings.Join(list, "; ")
}

// printCosts prints how many bytes of the file the values of each parameter take.
func printCosts(w io.Writer, s *sums.Summary, top int) {
	fmt.Fprintln(w)
	show.WriteText(w, s.Costs, top, func(c *show.Row, x sums.StorageCost) {
		c.Decimal("bytes", x.CompressedBytes, 1).Count("for", x.Occurrences).Text("section", x.Section)
		c.Text("call", cmp.Or(x.Function, "-")).Text("value", x.Parameter).Text("stored as", x.Form)
	})
}

func joinNonEmpty(sep string, list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), sep)
}

func ranksText(s *sums.Summary) string {
	text := show.FormatGrouped(s.Ranks)
	if n := s.RanksByEnd[sums.EndUnfinished]; n > 0 {
		text += fmt.Sprintf("; %s did not reach MPI_Finalize", show.FormatGrouped(n))
	}
	if n := s.RanksByEnd[sums.EndMissing]; n > 0 {
		text += fmt.Sprintf("; %s left no track", show.FormatGrouped(n))
	}
	return text
}

// hostsText writes the number of hosts, and up to four of them with their numbers of ranks.
func hostsText(hosts []sums.Host) string {
	list := several(hosts, 4, "more", func(h sums.Host) string { return fmt.Sprintf("%s (%s)", h.Name, show.FormatPlural(h.Ranks, "rank")) })
	return joinNonEmpty(" ", show.FormatPlural(len(hosts), "host")+":", strings.Join(list, ", "))
}

// several returns texts of the first elements of a list, at most most, then "and N MORE" if the list has N others.
func several[T any](list []T, most int, more string, text func(T) string) (texts []string) {
	shown, n := show.TopRows(list, most)
	for _, x := range shown {
		texts = append(texts, text(x))
	}
	if n > 0 {
		texts = append(texts, fmt.Sprintf("and %d %s", n, more))
	}
	return texts
}

// density describes how many bytes of the trace file there are per call.
func density(s *sums.Summary) string {
	if s.Calls == 0 {
		return "none recorded"
	}
	return fmt.Sprintf("%.3g bytes a call", float64(s.FileBytes)/float64(s.Calls))
}

func printFunctions(w io.Writer, s *sums.Summary, top show.Limit) {
	fmt.Fprintln(w)
	of := "of MPI"
	if s.PosixIONs > 0 {
		of = "of calls"
	}
	top.UserChosen = top.UserChosen || s.Timeless
	share := func(f sums.FunctionSummary) float64 { return float64(f.Ns) / max(1, float64(s.TotalThreadNs)) }
	show.PrintWithinLimit(w, s.Functions, top, share, func(c *show.Row, f sums.FunctionSummary) {
		c.Count("calls", f.Calls)
		if !s.Timeless {
			c.Ns("time", f.Ns).Share(of, f.Ns, s.MPINs+s.PosixIONs).Ns("mean", float64(f.Ns)/float64(max(1, f.Calls)))
			c.Ns("deviation", f.DeviationNs).Ns("min", f.MinNs).Ns("max", f.MaxNs).Value("on rank", f.MaxRank)
		}
		c.Text("function", f.Name)
	})
}

func printClasses(w io.Writer, s *sums.Summary, top int) {
	fmt.Fprintln(w)
	order := slices.Clone(s.Classes)
	slices.SortStableFunc(order, func(a, b sums.ClassSummary) int { return cmp.Compare(len(b.Ranks), len(a.Ranks)) })
	show.WriteText(w, order, top, func(c *show.Row, x sums.ClassSummary) {
		c.Count("ranks", len(x.Ranks)).Value("calls each", span(x.MinRankCalls, x.MaxRankCalls)).Count("distinct", x.DistinctCalls).Text("class of ranks", shortRanges(x.Ranks))
	})
}

// shortRanges writes a list of ranks as ranges, in at most 48 bytes. If it is cut, it ends with "…".
func shortRanges(list []int) string {
	const room = 48
	s := show.FormatRanges(list)
	if len(s) <= room {
		return s
	}
	return s[:strings.LastIndexByte(s[:room], ',')+1] + "…"
}
