package profile

import (
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// Head writes the first line of the answer, and what ranks have of it.
func (f *Flat) Head(out io.Writer) {
	if f.Timeless {
		fmt.Fprintf(out, "%s: %s, %s calls, %v\n\n", f.Trace, show.Plural(f.Ranks, "rank"), show.Grouped(f.Calls), trace.ErrNoTimes)
	} else {
		inside := show.Duration(float64(f.MPINs)) + " of MPI"
		if f.FilesNs > 0 {
			inside += " and " + show.Duration(float64(f.FilesNs)) + " of files"
		}
		fmt.Fprintf(out, "%s: %s, %s calls, %s in %s%s\n\n", f.Trace, show.Plural(f.Ranks, "rank"), show.Grouped(f.Calls),
			inside, show.Duration(float64(f.TimeNs)), f.ofThreads())
		f.extremes(out)
	}
}

// Worth returns the rows within a limit, and the rest; without times all are worth printing.
func (f *Flat) Worth(l show.Limit) ([]Row, show.Rest) {
	l.Asked = l.Asked || f.Timeless
	return show.Worth(f.Rows, l, func(x Row) float64 { return float64(x.Ns) / max(1, float64(f.TimeNs)) })
}

// Text writes the rows of the table within a limit.
func (f *Flat) Text(out io.Writer, top show.Limit, width int) {
	f.Head(out)
	shown, rest := f.Worth(top)
	cells, _ := show.Only(f.fitting(width), f.Cells) // which are among them
	for i, line := range show.Lines(shown, cells) {
		if i == 0 { // the head
			fmt.Fprintln(out, cut(line+" and place", width))
			continue
		}
		x := &shown[i-1]
		line += " " + fit(x.Place, width-utf8.RuneCountInString(line)-1)
		fmt.Fprintln(out, cut(line, width))
		for _, v := range x.Values {
			fmt.Fprintln(out, cut(fmt.Sprintf("          %s: mean %s, %d to %d", v.Name, calltree.Number(v.Mean), v.Min, v.Max), width))
		}
	}
	rest.Print(out)
	if slices.ContainsFunc(f.Rows, func(x Row) bool { return x.Deep }) {
		fmt.Fprintln(out, "What called the functions around these calls: spoor calltree --functions")
	}
}

// fitting are the columns for which there is room, the function last.
func (f *Flat) fitting(width int) (list []string) {
	if f.Timeless {
		return []string{"calls", "ranks", "bytes_out", "bytes_in", "function"}
	}
	all := width >= wide
	most := all && (f.WaitedNs == nil || width >= wide+20)
	for _, x := range []struct {
		room bool
		name string
	}{
		{true, "time"}, {true, "of_run"}, {f.WaitedNs != nil, "waited"}, {true, "calls"}, {most, "ranks"}, {true, "mean"}, {most, "max"},
		{true, "imbalance"}, {all, "bytes_out"}, {all, "bytes_in"}, {true, "function"},
	} {
		if x.room {
			list = append(list, x.name)
		}
	}
	return list
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
		return fmt.Sprintf("%.1f %% (rank %d: %s of %s)", 100*part(t), t.Rank, show.Duration(float64(t.MPINs)), show.Duration(float64(t.TimeNs)))
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

// Cells are all that is known of a row; without times there are no columns of them.
func (f *Flat) Cells(c *show.Row, x Row) {
	c.Text("function", x.Function).Text("place", x.Place).Text("module", x.Module).Value("offset", fmt.Sprintf("0x%x", x.Offset))
	c.Count("calls", x.Calls).Count("ranks", x.Ranks)
	if !f.Timeless {
		c.Ns("time", x.Ns).Share("of run", x.Ns, f.TimeNs).Ns("mean", x.MeanNs).Ns("deviation", x.Deviation)
		c.Ns("max", x.MaxNs).Value("max rank", x.MaxRank).Ns("compute", x.ComputeNs)
	}
	c.Bytes("bytes", x.BytesOut+x.BytesIn).Bytes("bytes out", c.Some(x.BytesOut)).Bytes("bytes in", c.Some(x.BytesIn))
	if !f.Timeless {
		c.Ns("most", x.MostNs).Value("most rank", x.MostRank).Number("imbalance", x.Imbalance, f.imbalance(&x))
		c.Ns("lost", max(0, float64(x.MostNs)-float64(x.Ns)/float64(max(1, x.Ranks))))
	}
	if f.WaitedNs != nil {
		c.Ns("waited", c.Some(x.WaitedNs))
	}
}

// imbalance writes how unevenly the ranks share the time of a row.
func (f *Flat) imbalance(x *Row) string {
	switch {
	case x.Ranks < 2:
		return ""
	case x.Estimated:
		return fmt.Sprintf("≥ %.2f", x.Imbalance)
	}
	return fmt.Sprintf("%.2f", x.Imbalance)
}

// RankCells are what a rank did.
func (f *Flat) RankCells(c *show.Row, t RankTotal) {
	c.Value("rank", t.Rank)
	if !f.Timeless {
		c.Ns("time"+f.ofThreads(), t.TimeNs).Ns("in MPI", t.MPINs).Share("of it", t.MPINs, t.TimeNs)
		if f.FilesNs > 0 {
			c.Ns("in files", t.FilesNs)
		}
	}
	c.Count("calls", t.Calls).Bytes("bytes out", t.BytesOut).Bytes("bytes in", t.BytesIn).Text("host", t.Host)
}
