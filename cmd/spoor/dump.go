package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/reduce"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

type dumpOptions struct {
	ranks     string
	calls     []string
	comms     []string
	span      string
	window    windowFlags
	stream    int
	json      bool
	sites     bool
	paths     []string
	times     bool
	values    bool
	structure bool
	at        string
}

func newDump() *cobra.Command {
	var o dumpOptions
	cmd := &cobra.Command{
		Use:   "dump [flags] [TRACE]",
		Short: "Print the calls of a trace with every parameter, as text or JSON",
		Long: `Calls are printed rank by rank and thread by thread, in program order:

  RANK[.THREAD]:INDEX FUNCTION(PARAMETER=VALUE, …) = RETURN CODE

An arrow separates a parameter's values before and after the call. Handles that
the program made are numbered on each rank (comm0), requests in the order of
their creation (request17). Addresses are offsets into a heap block (heap3+16),
static data or a stack. In a trace made by spoor reduce, "# count was 992..1040"
lists the sizes that became this one.
More: docs/dump.md`,
		Example: `  spoor dump app.spoor --rank 0
  spoor dump app.spoor --rank 0-3,8 --call 'MPI_Isend,MPI_*recv' --range 1000:2000
  spoor dump app.spoor --at 12.5s                    where each rank was
  spoor dump app.spoor --sites --times --rank 0
  spoor dump app.spoor --json | jq -r .call | sort | uniq -c`,
		Args: aTrace,
		RunE: oneTrace(func(cmd *cobra.Command, r *trace.Reader) error { return dump(cmd, r, o) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.ranks, "rank", "r", "", "only these `ranks`: 0,4-7,10-")
	f.IntVarP(&o.stream, "thread", "t", -1, "only this thread of each rank")
	f.StringSliceVarP(&o.calls, "call", "c", nil, "only these `functions`; * and ? match, MPI_ may be left out")
	f.StringSliceVar(&o.comms, "comm", nil, "only calls with one of these `communicators`: MPI_COMM_WORLD, comm0")
	f.StringVar(&o.span, "range", "", "only calls `i:j` of each thread, counted from 0, without j")
	f.StringVar(&o.at, "at", "", "what each thread did at this `time` of the run: 12.5s, 300ms")
	inGroup(f, "Which calls", "rank", "thread", "call", "comm", "range", "at")
	f.BoolVar(&o.sites, "sites", false, "add call sites: function, file and line")
	f.BoolVar(&o.times, "times", false, "add begin, duration and the gap before the call (without a time for every call: means of its call path)")
	f.BoolVar(&o.values, "values", false, "add what counters or a plugin attached to the call; means over its class of ranks if the trace has no time for every call")
	f.BoolVar(&o.json, "json", false, "print a JSON object per line")
	debugPathFlag(f, &o.paths)
	inGroup(f, "What to print", "sites", "times", "values", "json", "debug-path")
	o.window.add(f)
	return cmd
}

// A dumper prints the calls that pass its filters.
type dumper struct {
	o          dumpOptions
	r          *trace.Reader
	out        *bufio.Writer
	first, end uint64
	window     reduce.Selection
	at         int64 // time of --at in ns; used only if o.at isn't ""
	line       []byte
	places     *places
	names      *handles.ObjectNames   // names that the current rank gave to MPI objects
	marks      *reduce.CallReductions // merged sizes and synthetic messages in the current rank's calls
	drawn      []trace.SyntheticLoops // families of loops with synthetic trip counts
	k          *trace.Rank            // the current rank if drawn isn't nil, else nil
	values     []attachedValue        // values attached to the current call
	extras     [][]byte               // remarks printed after a call of the current rank, by terminal
	walk       *trace.Walk            // has arrived at the current call
	printed    int                    // number of printed calls
	progress   *progress
}

func dump(cmd *cobra.Command, r *trace.Reader, o dumpOptions) error {
	d := &dumper{
		o: o, r: r, out: bufio.NewWriterSize(cmd.OutOrStdout(), 1<<16), end: math.MaxUint64, places: newPlaces(o.paths),
	}
	if o.sites {
		if err := d.places.tellApart(r, true); err != nil {
			return err
		}
	}
	ranks, err := d.chosen(cmd)
	if err != nil {
		return &usageError{cmd, err}
	}
	if o.times || o.at != "" {
		if err := r.RequireTimes(); err != nil {
			return err
		}
	}
	if o.at != "" {
		if err := notPast(r, d.at); err != nil {
			return &usageError{cmd, err}
		}
	}
	if d.progress, err = d.counted(cmd, ranks); err != nil {
		return err
	}
	defer d.progress.end()
	var missing []int
	seen := make(map[int]bool)
	for _, rank := range ranks {
		k, err := r.Rank(rank)
		if errors.Is(err, trace.ErrNoTrack) {
			missing = append(missing, rank)
			continue
		}
		if err != nil {
			return errors.Join(d.out.Flush(), err)
		}
		if o.at != "" {
			err = d.moments(k)
		} else if o.structure {
			if seen[k.Class()] {
				continue
			}
			seen[k.Class()] = true
			err = d.structure(k)
		} else {
			err = d.rank(k)
		}
		if err != nil {
			return errors.Join(d.out.Flush(), err)
		}
	}
	d.places.complain(cmd)
	if len(missing) < len(ranks) && !d.window.LoopFound() {
		return errors.Join(d.out.Flush(), fmt.Errorf("%s: no rank looked at has %s", r.Name(), d.window.String()))
	}
	if len(missing) > 0 {
		complain(cmd, fmt.Errorf("%s: no track of rank %s", r.Name(), show.FormatRanges(missing)))
	}
	if err := d.out.Flush(); err != nil {
		return err
	}
	if len(missing) == len(ranks) && len(ranks) > 0 {
		return exitCode(1)
	}
	return nil
}

// manyCalls is the least number of calls that dump announces before printing.
const manyCalls = 1_000_000

// counted makes the display of how many calls are printed. It shows nothing if filters are set, as then the total isn't
// known, or if the calls go to a terminal. If there are many calls, counted announces their number.
func (d *dumper) counted(cmd *cobra.Command, ranks []int) (*progress, error) {
	quiet := newProgress(io.Discard, "", 0)
	if len(d.o.calls)+len(d.o.comms) > 0 || d.o.span != "" || !d.window.IsWholeRun() {
		return quiet, nil
	}
	calls := uint64(0)
	for _, rank := range ranks {
		k, err := d.r.Rank(rank)
		if errors.Is(err, trace.ErrNoTrack) {
			continue
		} else if err != nil {
			return nil, err
		}
		for stream := range k.Streams() {
			if d.o.stream < 0 || d.o.stream == stream {
				calls += k.CallCount(stream)
			}
		}
	}
	if calls >= manyCalls && !d.o.structure && d.o.at == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s: %s calls follow; --rank and --range print a part; spoor calltree shows the loops\n", d.r.Name(), show.FormatGrouped(calls))
	}
	if f, ok := cmd.OutOrStdout().(*os.File); ok && terminal(f) {
		return quiet, nil
	}
	return newProgress(cmd.ErrOrStderr(), "calls printed", int(min(calls, math.MaxInt))), nil
}

// chosen checks the flags' values and returns the ranks whose calls are printed.
func (d *dumper) chosen(cmd *cobra.Command) (ranks []int, err error) {
	if d.o.span != "" {
		if d.first, d.end, err = parseSpan(d.o.span); err != nil {
			return nil, fmt.Errorf("--range: %w", err)
		}
	}
	if err := parseCalls(d.o.calls); err != nil {
		return nil, err
	}
	if d.o.at != "" {
		if name := given(cmd, append(windowNames(), "call", "comm", "range", "times", "sites")...); name != "" {
			return nil, fmt.Errorf("--at shows one call of each thread; leave out --%s", name)
		}
		if d.at, err = parseMoment(d.o.at); err != nil {
			return nil, fmt.Errorf("--at: %w", err)
		}
	}
	if ranks, err = parseList(d.o.ranks, d.r.Ranks()); err != nil {
		return nil, fmt.Errorf("--rank: %w", err)
	}
	d.window, err = d.o.window.window(d.r, ranks)
	return ranks, err
}

func (d *dumper) rank(k *trace.Rank) error {
	wanted, err := d.wanted(k)
	if err != nil {
		return err
	}
	if !slices.Contains(wanted, true) {
		return nil
	}
	if d.names, err = handles.TableOf(d.r).Names(k); err != nil {
		return err
	}
	if d.drawn, err = d.r.SyntheticLoops(); err != nil {
		return err
	}
	if d.k = nil; d.drawn != nil {
		d.k = k
	}
	if d.marks, err = reduce.CallReductionsOf(d.r, k); err != nil {
		return err
	}
	var times []trace.Times
	if d.o.times {
		if times, err = k.ClassTimes(); err != nil {
			return err
		}
	}
	d.extras = make([][]byte, k.Terminals())
	for stream := range k.Streams() {
		if d.o.stream >= 0 && stream != d.o.stream {
			continue
		}
		var attached *attachedLine
		if d.o.values {
			if attached, err = newAttachedLine(k, stream); err != nil {
				return err
			}
		}
		for c, err := range d.calls(k, stream, wanted) {
			if err != nil {
				return err
			}
			if attached != nil {
				if d.values, err = attached.of(c.Call); err != nil {
					return err
				}
			}
			if err := d.print(&c, times); err != nil {
				return err
			}
			if d.printed++; d.printed%stepCalls == 0 {
				d.progress.steps(stepCalls)
			}
		}
	}
	return nil
}

// stepCalls is after how many printed calls the progress display is updated.
const stepCalls = 1 << 12

// appendText writes a call as text, with its remarks but without its rank, index and times.
func (d *dumper) appendText(b []byte, c *trace.Call) []byte {
	b = d.walk.AppendText(b)
	x := &d.extras[c.Terminal]
	if *x == nil || !d.names.Empty() {
		*x = d.appendExtras([]byte{}, c, nil)
	}
	return append(b, *x...)
}

// calls yields the wanted calls of a thread, with times if the flags ask for them.
func (d *dumper) calls(k *trace.Rank, stream int, wanted []bool) iter.Seq2[trace.TimedCall, error] {
	return func(yield func(trace.TimedCall, error) bool) {
		spans := []ops.CallRange{{First: 0, End: k.CallCount(stream)}}
		if !d.window.IsWholeRun() {
			var err error
			if spans, err = d.window.CallRangesOf(d.r, k, stream); err != nil {
				yield(trace.TimedCall{}, err)
				return
			}
		}
		found := k.Occurrences(stream, func(t int) bool { return wanted[t] })
		if found.Total()*dense >= k.CallCount(stream) {
			found = nil // wanted calls are frequent, so walking through all calls is cheaper than looking each up
		}
		for _, s := range spans {
			if s.First, s.End = max(d.first, s.First), min(d.end, s.End); s.First < s.End && !d.part(k, stream, s, wanted, found, yield) {
				return
			}
		}
	}
}

// dense is about how many times as long it takes to look up one call in a thread as to walk on from one call to the
// next.
const dense = 16

// part yields the wanted calls in a span of a thread's calls. It returns false if yield did, which ends the loop. found
// has the positions of wanted calls; nil: part walks through all calls of the span.
func (d *dumper) part(k *trace.Rank, stream int, s ops.CallRange, wanted []bool, found *trace.Occurrences, yield func(trace.TimedCall, error) bool) bool {
	if found != nil {
		for n, end := found.CountBefore(s.First), found.CountBefore(s.End); n < end; n++ {
			at, _ := found.Nth(n)
			for c, err := range d.from(k, stream, at) {
				if !yield(c, err) {
					return false
				}
				break
			}
		}
		return true
	}
	for c, err := range d.from(k, stream, s.First) {
		if err == nil && c.Index >= s.End {
			return true
		}
		if (err != nil || wanted[c.Terminal]) && !yield(c, err) {
			return false
		}
	}
	return true
}

// from yields all calls of a thread from index on.
func (d *dumper) from(k *trace.Rank, stream int, index uint64) iter.Seq2[trace.TimedCall, error] {
	return func(yield func(trace.TimedCall, error) bool) {
		walk := k.Walk
		if d.o.times {
			walk = k.TimedWalk
		}
		w, err := walk(stream, index)
		if err != nil {
			yield(trace.TimedCall{}, err)
			return
		}
		for d.walk = w; w.Next(); {
			if !yield(*w.Timed(), nil) {
				return
			}
		}
		if err := w.Err(); err != nil {
			yield(trace.TimedCall{}, err)
		}
	}
}

// wanted reports which of a rank's distinct calls pass the filters.
func (d *dumper) wanted(k *trace.Rank) ([]bool, error) {
	list := make([]bool, k.Terminals())
	for t := range list {
		c, err := k.Terminal(t)
		if err != nil {
			return nil, err
		}
		list[t] = matchesName(d.o.calls, c.Name()) && d.matchesComm(c)
	}
	return list, nil
}

// parseCalls checks patterns of function names, and converts them to the form that matchesName needs.
func parseCalls(globs []string) error {
	for i, glob := range globs {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("--call: %q: %w", glob, err)
		}
		globs[i] = strings.ToLower(glob)
	}
	return nil
}

// matchesName reports whether a function matches any of the patterns; without patterns all functions match.
func matchesName(globs []string, function string) bool {
	name := strings.ToLower(function)
	return len(globs) == 0 || slices.ContainsFunc(globs, func(glob string) bool {
		whole, _ := path.Match(glob, name)
		short, _ := path.Match(glob, strings.TrimPrefix(name, "mpi_"))
		return whole || short
	})
}

func (d *dumper) matchesComm(c *trace.Call) bool {
	if len(d.o.comms) == 0 {
		return true
	}
	for i := range c.Params {
		p := &c.Params[i]
		if p.Kind() != mpi.KindComm {
			continue
		}
		for _, v := range []*trace.Value{&p.In, &p.Out} {
			if v.Type != trace.TypeNone && slices.Contains(d.o.comms, v.Render(mpi.KindComm)) {
				return true
			}
		}
	}
	return false
}

func (d *dumper) print(c *trace.TimedCall, times []trace.Times) error {
	b := d.line[:0]
	if d.o.json {
		b = c.AppendJSON(b)
		if d.o.sites {
			where, err := json.Marshal(append([]symbolise.Frame{}, d.places.of(c.Site).Frames...))
			if err != nil {
				return err
			}
			b = append(append(append(b[:len(b)-1], `,"frames":`...), where...), '}')
		}
		if names := d.named(c.Call); len(names) > 0 {
			text, err := json.Marshal(names)
			if err != nil {
				return err
			}
			b = append(append(append(b[:len(b)-1], `,"names":`...), text...), '}')
		}
		if marks := d.marks.MergedSizesOf(c.Call); marks != nil {
			b = append(b[:len(b)-1], `,"merged":{`...)
			for i, m := range marks {
				b = fmt.Appendf(b, "%.*s%q:[%d,%d]", min(i, 1), ",", m.Param, m.Low, m.High)
			}
			b = append(b, "}}"...)
		}
		if d.k != nil && d.k.SyntheticLoopsIndex(c.Terminal) >= 0 {
			x := &d.drawn[d.k.SyntheticLoopsIndex(c.Terminal)]
			b = fmt.Appendf(b[:len(b)-1], `,"rounds_drawn":[%d,%d]}`, x.Least.Value, x.Most.Value)
		}
		if p := d.marks.SyntheticMessage(c.Call); p != nil {
			b = appendPartnersJSON(b[:len(b)-1], p)
		}
		if len(d.values) > 0 {
			b = append(appendValuesJSON(append(b[:len(b)-1], `,"values":`...), d.values), '}')
		}
		if times != nil {
			t := &times[c.Terminal]
			b = appendStartJSON(b[:len(b)-1], c)
			b = fmt.Appendf(b, `,"duration_ns":%d,"gap_ns":%d,"times":%q,"mean_ns":%.0f,"mean_gap_ns":%.0f}`,
				c.Timing.Duration.Ns, c.Timing.Gap.Ns, c.Timing.Duration.Kind, t.Duration.Mean(), t.Gap.Mean())
		}
	} else {
		b = d.appendWhich(b, c.Call)
		b = d.appendText(b, c.Call)
		if times != nil {
			duration, gap := show.FormatDuration(float64(c.Timing.Duration.Ns)), show.FormatDuration(float64(c.Timing.Gap.Ns))
			if c.Timing.Duration.Kind.OfTheCallItself() {
				b = fmt.Appendf(b, " | %s after %s", duration, gap)
			} else {
				b = fmt.Appendf(b, " ~ mean %s after mean %s", duration, gap)
			}
			b = appendStart(append(b, ", at "...), c)
		}
		b = appendValues(b, d.values)
	}
	d.line = append(b, '\n')
	_, err := d.out.Write(d.line)
	return err
}

// named returns the names that the program gave to MPI objects whose handles a call passes, by handle as text; nil:
// none has a name.
func (d *dumper) named(c *trace.Call) (names map[string]string) {
	d.names.EachNamed(c, func(handle, name string) {
		if names == nil {
			names = make(map[string]string)
		}
		names[handle] = name
	})
	return names
}

// appendStart writes when a call began, and by how much that may be wrong.
func appendStart(b []byte, c *trace.TimedCall) []byte {
	if c.StartErrorBoundNs == 0 {
		return append(b, moment(c.StartNs)...)
	}
	b = append(append(b, "about "...), moment(c.StartNs)...)
	if c.StartErrorBoundNs < math.MaxInt64 {
		b = append(append(b, ", within "...), show.FormatDuration(float64(c.StartErrorBoundNs))...)
	}
	return b
}

// appendStartJSON writes when a call began, and by how much that may be wrong, as members of a JSON object.
func appendStartJSON(b []byte, c *trace.TimedCall) []byte {
	b = fmt.Appendf(b, `,"start_ns":%d`, c.StartNs)
	if c.StartErrorBoundNs < math.MaxInt64 {
		b = fmt.Appendf(b, `,"start_within_ns":%d`, c.StartErrorBoundNs)
	}
	return b
}

// moment writes a time since the start of the run in seconds, to the nanosecond.
func moment(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 9, 64) + " s" }

// appendWhich writes which call it is: RANK:INDEX, or RANK.THREAD:INDEX for threads other than the first.
func (d *dumper) appendWhich(b []byte, c *trace.Call) []byte {
	b = strconv.AppendInt(b, int64(c.Rank), 10)
	if c.Stream > 0 {
		b = strconv.AppendInt(append(b, '.'), int64(c.Stream), 10)
	}
	return append(strconv.AppendUint(append(b, ':'), c.Index, 10), ' ')
}

func (d *dumper) appendExtras(b []byte, c *trace.Call, times []trace.Times) []byte {
	if names := d.named(c); len(names) > 0 {
		for _, handle := range slices.Sorted(maps.Keys(names)) {
			b = fmt.Appendf(b, " # %s %q", handle, names[handle])
		}
	}
	if c.ThreadStartFunction != nil {
		b = append(append(b, " # thread of "...), d.places.thread(*c.ThreadStartFunction)...)
	}
	if c.Phase != "" {
		b = fmt.Appendf(b, " # begins phase %q", c.Phase)
	}
	for _, m := range d.marks.MergedSizesOf(c) {
		b = fmt.Appendf(b, " # %s was %d..%d", m.Param, m.Low, m.High)
	}
	if d.k != nil {
		b = append(b, drawnMark(d.drawn, d.k.SyntheticLoopsIndex(c.Terminal))...)
	}
	b = append(b, reduce.SyntheticMessageText(d.marks.SyntheticMessage(c))...)
	if d.o.sites {
		b = append(append(b, " @ "...), d.places.text(c.Site)...)
		for s := c.Site.Caller; s != nil; s = s.Caller {
			b = append(append(b, " < "...), d.places.text(*s)...)
		}
	}
	if times != nil {
		t := &times[c.Terminal]
		b = fmt.Appendf(b, " ~ mean %s after mean %s", show.FormatDuration(t.Duration.Mean()), show.FormatDuration(t.Gap.Mean()))
	}
	return b
}
