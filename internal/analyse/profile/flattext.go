package profile

import (
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
)

// WriteHead writes the first line of the answer, and what ranks have of it.
func (f *Flat) WriteHead(out io.Writer) {
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

// WithinLimit returns the rows within a limit, and the rest; without times all are worth printing.
func (f *Flat) WithinLimit(l show.Limit) ([]sites.Site, show.Rest) {
	l.Asked = l.Asked || f.Timeless
	return show.WithinLimit(f.Rows, l, func(x sites.Site) float64 { return float64(x.Time.Sum) / max(1, float64(f.TimeNs)) })
}

// Text writes the rows of the table within a limit: the columns for which there is room, function and place last.
func (f *Flat) Text(out io.Writer, top show.Limit, width int) {
	f.WriteHead(out)
	shown, rest := f.WithinLimit(top)
	var places []string
	for i := range shown {
		places = append(places, shown[i].Place)
	}
	names := show.OfPlaces(places)
	columns := append(sites.Measures(f.known()).Fitting(width), sites.Names()[0])
	for i, line := range show.Lines(shown, columns.Cells) {
		if i == 0 { // the head
			fmt.Fprintln(out, cut(line+" and place", width))
			continue
		}
		x := &shown[i-1]
		line += " " + names.Named(x.Place, width-utf8.RuneCountInString(line)-1)
		fmt.Fprintln(out, cut(line, width))
		for _, v := range x.Attached {
			fmt.Fprintln(out, cut(fmt.Sprintf("          %s: mean %s, %d to %d", v.Name, calltree.FormatMean(v.Mean), v.Min, v.Max), width))
		}
	}
	rest.Print(out)
	if slices.ContainsFunc(f.Rows, func(x sites.Site) bool { return x.Deep }) {
		fmt.Fprintln(out, "What called the functions around these calls: spoor calltree --functions")
	}
}

// extremes says which ranks spent least and most of their time in MPI, in a few
// lines whatever the number of ranks.
func (f *Flat) extremes(w io.Writer) {
	if len(f.PerRank) == 0 {
		return
	}
	part := func(t *sums.Rank) float64 {
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
	line := func(t *sums.Rank) string {
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

// RankColumns say what a rank did.
func (f *Flat) RankColumns() show.Columns[sums.Rank] {
	list := show.Columns[sums.Rank]{{Name: "rank", Value: func(x sums.Rank) any { return x.Rank }}}
	if !f.Timeless {
		list = append(list,
			show.Column[sums.Rank]{Name: "time" + f.ofThreads(), Unit: show.Ns, Value: func(x sums.Rank) any { return x.TimeNs }},
			show.Column[sums.Rank]{Name: "in MPI", Unit: show.Ns, Value: func(x sums.Rank) any { return x.MPINs }},
			show.Column[sums.Rank]{Name: "of it", Unit: show.Fraction, Value: func(x sums.Rank) any { return float64(x.MPINs) / float64(max(1, x.TimeNs)) }})
		if f.FilesNs > 0 {
			list = append(list, show.Column[sums.Rank]{Name: "in files", Unit: show.Ns, Value: func(x sums.Rank) any { return x.FilesNs }})
		}
	}
	return append(list,
		show.Column[sums.Rank]{Name: "calls", Unit: show.Count, Value: func(x sums.Rank) any { return x.Calls }},
		show.Column[sums.Rank]{Name: "bytes out", Unit: show.Size, Value: func(x sums.Rank) any { return x.BytesOut }},
		show.Column[sums.Rank]{Name: "bytes in", Unit: show.Size, Value: func(x sums.Rank) any { return x.BytesIn }},
		show.Column[sums.Rank]{Name: "host", Unit: show.Word, Value: func(x sums.Rank) any { return x.Host }})
}
