package profile

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
)

// Text writes the table, its first rows if top is positive, and what ranks have
// of it.
func (f *Flat) Text(w io.Writer, top, width int) error {
	out := &watched{w: w}
	if f.Timeless {
		fmt.Fprintf(out, "%s: %s, %s calls, %v\n\n", f.Trace, ranksText(f.Ranks), units.Grouped(f.Calls), trace.ErrNoTimes)
	} else {
		inside := units.Duration(float64(f.MPINs)) + " of MPI"
		if f.FilesNs > 0 {
			inside += " and " + units.Duration(float64(f.FilesNs)) + " of files"
		}
		fmt.Fprintf(out, "%s: %s, %s calls, %s in %s%s\n\n", f.Trace, ranksText(f.Ranks), units.Grouped(f.Calls),
			inside, units.Duration(float64(f.TimeNs)), f.ofThreads())
		f.extremes(out)
	}
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(time, run, calls, ranks, mean, most, imbalance, out, in, what string) {
		if f.Timeless {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t  %s\n", calls, ranks, out, in, what)
			return
		}
		if width < wide { // the others are in --csv and --json
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t  %s\n", time, run, calls, mean, imbalance, what)
			return
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t  %s\n", time, run, calls, ranks, mean, most, imbalance, out, in, what)
	}
	unequal := "imbalance"
	if width < wide {
		unequal = "imb."
	}
	line("time", "of run", "calls", "ranks", "mean", "max", unequal, "bytes out", "in", "function and place")
	for i := range f.Rows {
		if top > 0 && i == top {
			break
		}
		x := &f.Rows[i]
		imbalance := fmt.Sprintf("%.2f", x.Imbalance)
		if x.Estimated {
			imbalance = "≥ " + imbalance
		}
		if x.Ranks < 2 {
			imbalance = ""
		}
		line(units.Duration(float64(x.Ns)), units.Share(float64(x.Ns), float64(f.TimeNs)), units.Grouped(x.Calls), units.Grouped(uint64(x.Ranks)),
			units.Duration(x.MeanNs), units.Duration(float64(x.MaxNs)), imbalance, bytesOrNothing(x.BytesOut), bytesOrNothing(x.BytesIn), x.Function)
	}
	tw.Flush()
	i := -1 // the first line is the head
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, " \n")
		if i >= 0 {
			line += " " + fit(f.Rows[i].Place, width-utf8.RuneCountInString(line)-1)
		}
		fmt.Fprintln(out, cut(line, width))
		if i >= 0 {
			for _, v := range f.Rows[i].Values {
				fmt.Fprintln(out, cut(fmt.Sprintf("          %s: mean %s, %s to %s", v.Name, number(v.Mean),
					strconv.FormatInt(v.Min, 10), strconv.FormatInt(v.Max, 10)), width))
			}
		}
		i++
	}
	if n := len(f.Rows) - top; top > 0 && n > 0 {
		fmt.Fprintf(out, "%s more places: --top 0\n", units.Grouped(uint64(n)))
	}
	if slices.ContainsFunc(f.Rows, func(x Row) bool { return x.deep }) {
		fmt.Fprintln(out, "What called the functions around these calls: --callers")
	}
	return out.err
}

func ranksText(n int) string {
	if n == 1 {
		return "1 rank"
	}
	return units.Grouped(uint64(n)) + " ranks"
}

func bytesOrNothing(n uint64) string {
	if n == 0 {
		return ""
	}
	return units.Bytes(n)
}

// extremes says which ranks spent least and most of their time in MPI, in a few
// lines whatever the number of ranks.
func (f *Flat) extremes(w io.Writer) {
	if len(f.PerRank) == 0 {
		return
	}
	part := func(t *RankTotal) float64 {
		if t.TimeNs == 0 {
			return 0
		}
		return float64(t.MPINs) / float64(t.TimeNs)
	}
	least, most := &f.PerRank[0], &f.PerRank[0]
	for i := range f.PerRank {
		if t := &f.PerRank[i]; part(t) < part(least) {
			least = t
		} else if part(t) > part(most) {
			most = t
		}
	}
	line := func(t *RankTotal) string {
		return fmt.Sprintf("%.1f %% (rank %d: %s of %s)", 100*part(t), t.Rank, units.Duration(float64(t.MPINs)), units.Duration(float64(t.TimeNs)))
	}
	fmt.Fprintf(w, "in MPI: %s", line(least))
	if least != most {
		fmt.Fprintf(w, " to %s", line(most))
	}
	fmt.Fprint(w, "\n\n")
}

// ofThreads says that times of ranks are those of their threads, where these are not the same.
func (f *Flat) ofThreads() string {
	if f.TimeNs == f.SpanNs {
		return ""
	}
	return " of threads"
}

// RanksText writes what each rank did.
func (f *Flat) RanksText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	if f.Timeless {
		fmt.Fprintf(tw, "rank\tcalls\tbytes out\tbytes in\t   host\n")
		for i := range f.PerRank {
			t := &f.PerRank[i]
			fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t   %s\n", t.Rank, units.Grouped(t.Calls), units.Bytes(t.BytesOut), units.Bytes(t.BytesIn), t.Host)
		}
		return tw.Flush()
	}
	head, files := "", func(*RankTotal) string { return "" }
	if f.FilesNs > 0 {
		head, files = "in files\t", func(t *RankTotal) string { return units.Duration(float64(t.FilesNs)) + "\t" }
	}
	fmt.Fprint(tw, "rank\ttime"+f.ofThreads()+"\tin MPI\tof it\t"+head+"calls\tbytes out\tbytes in\t   host\n")
	for i := range f.PerRank {
		t := &f.PerRank[i]
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s%s\t%s\t%s\t   %s\n", t.Rank, units.Duration(float64(t.TimeNs)), units.Duration(float64(t.MPINs)),
			units.Share(float64(t.MPINs), float64(t.TimeNs)), files(t), units.Grouped(t.Calls), units.Bytes(t.BytesOut), units.Bytes(t.BytesIn), t.Host)
	}
	return tw.Flush()
}

// A timedCSV writes a table; of a trace without times it leaves out columns of times.
type timedCSV struct {
	*csv.Writer
	timeless bool
	out      []bool // by column: it is left out
}

func timelessCSV(w io.Writer, timeless bool) *timedCSV {
	return &timedCSV{Writer: csv.NewWriter(w), timeless: timeless}
}

// Write writes a line; the first is the header.
func (c *timedCSV) Write(line []string) {
	if c.out == nil {
		for _, name := range line {
			ofTime := name == "ns" || strings.HasSuffix(name, "_ns") || name == "max_call_rank" || name == "max_rank_total_rank" || name == "imbalance"
			c.out = append(c.out, c.timeless && ofTime)
		}
	}
	var kept []string
	for i, field := range line {
		if !c.out[i] {
			kept = append(kept, field)
		}
	}
	c.Writer.Write(kept)
}

// CSV writes the rows with a header, times in nanoseconds.
func (f *Flat) CSV(w io.Writer) error {
	out := timelessCSV(w, f.Timeless)
	out.Write([]string{"function", "place", "module", "offset", "calls", "ranks", "ns", "mean_ns", "deviation_ns", "max_call_ns", "max_call_rank",
		"compute_ns", "bytes_out", "bytes_in", "max_rank_total_ns", "max_rank_total_rank", "imbalance"})
	u := func(n uint64) string { return strconv.FormatUint(n, 10) }
	d := func(n int) string { return strconv.Itoa(n) }
	g := func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
	for i := range f.Rows {
		x := &f.Rows[i]
		out.Write([]string{x.Function, x.Place, x.Module, fmt.Sprintf("0x%x", x.Offset), u(x.Calls), d(x.Ranks), u(x.Ns), g(x.MeanNs),
			g(x.Deviation), u(x.MaxNs), d(x.MaxRank), u(x.ComputeNs), u(x.BytesOut), u(x.BytesIn), u(x.MostNs), d(x.MostRank), g(x.Imbalance)})
	}
	out.Flush()
	return out.Error()
}

// RanksCSV writes what each rank did, with a header.
func (f *Flat) RanksCSV(w io.Writer) error {
	out := timelessCSV(w, f.Timeless)
	out.Write([]string{"rank", "host", "span_ns", "mpi_ns", "calls", "bytes_out", "bytes_in", "files_ns", "time_ns"})
	for i := range f.PerRank {
		t := &f.PerRank[i]
		out.Write([]string{strconv.Itoa(t.Rank), t.Host, strconv.FormatInt(t.SpanNs, 10), strconv.FormatInt(t.MPINs, 10),
			strconv.FormatUint(t.Calls, 10), strconv.FormatUint(t.BytesOut, 10), strconv.FormatUint(t.BytesIn, 10), strconv.FormatInt(t.FilesNs, 10), strconv.FormatInt(t.TimeNs, 10)})
	}
	out.Flush()
	return out.Error()
}
