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

// WriteHead writes what comes before the table's rows: the sums over all calls, and the ranks that spent least and most
// of their time in MPI.
func (f *CallSiteTable) WriteHead(out io.Writer) {
	if f.Timeless {
		fmt.Fprintf(out, "%s: %s, %s calls, %v\n\n", f.Trace, show.FormatPlural(f.Ranks, "rank"), show.FormatGrouped(f.Calls), trace.ErrNoTimes)
	} else {
		inside := show.FormatDuration(float64(f.MPINs)) + " of MPI"
		if f.FilesNs > 0 {
			inside += " and " + show.FormatDuration(float64(f.FilesNs)) + " of files"
		}
		fmt.Fprintf(out, "%s: %s, %s calls, %s in %s%s\n\n", f.Trace, show.FormatPlural(f.Ranks, "rank"), show.FormatGrouped(f.Calls),
			inside, show.FormatDuration(float64(f.ThreadTimeNs)), f.ofThreads())
		f.extremes(out)
	}
}

// WithinLimit splits the rows into those that are printed and the others. If the user didn't choose l and the table has
// times, rows with less than 1 % of the time are among the others.
func (f *CallSiteTable) WithinLimit(l show.Limit) ([]sites.Site, show.OmittedRows) {
	l.UserChosen = l.UserChosen || f.Timeless
	return show.SplitAtLimit(f.Rows, l, func(x sites.Site) float64 { return float64(x.Duration.Sum) / max(1, float64(f.ThreadTimeNs)) })
}

// Text writes the table as text, with the rows that limit top allows. It has the columns for which width (in
// characters) has room; function and place are last.
func (f *CallSiteTable) Text(out io.Writer, top show.Limit, width int) {
	f.WriteHead(out)
	shown, rest := f.WithinLimit(top)
	var places []string
	for i := range shown {
		places = append(places, shown[i].Place)
	}
	names := show.NewPlaceShortener(places)
	columns := append(sites.MeasureColumns(f.known()).FittingColumns(width), sites.NameColumns()[0])
	for i, line := range show.TextLines(shown, columns.AddCells) {
		if i == 0 { // line 0 has the columns' names
			fmt.Fprintln(out, cut(line+" and place", width))
			continue
		}
		x := &shown[i-1]
		line += " " + names.ShortenToFunction(x.Place, width-utf8.RuneCountInString(line)-1)
		fmt.Fprintln(out, cut(line, width))
		for _, v := range x.AttachedValues {
			fmt.Fprintln(out, cut(fmt.Sprintf("          %s: mean %s, %d to %d", v.Name, calltree.FormatMean(v.Mean), v.Min, v.Max), width))
		}
	}
	rest.Print(out)
	if slices.ContainsFunc(f.Rows, func(x sites.Site) bool { return x.HasCallers }) {
		fmt.Fprintln(out, "What called the functions around these calls: spoor calltree --functions")
	}
}

// extremes writes, in one line, which rank spent the least share of its time in MPI and which the largest.
func (f *CallSiteTable) extremes(w io.Writer) {
	if len(f.RankRows) == 0 {
		return
	}
	part := func(t *sums.RankSums) float64 {
		if t.ThreadTimeNs == 0 {
			return 0
		}
		return float64(t.MPINs) / float64(t.ThreadTimeNs)
	}
	least, most := &f.RankRows[0], &f.RankRows[0]
	for i := range f.RankRows {
		if t := &f.RankRows[i]; part(t) < part(least) {
			least = t
		} else if part(t) > part(most) {
			most = t
		}
	}
	line := func(t *sums.RankSums) string {
		return fmt.Sprintf("%.1f %% (rank %d: %s of %s)", 100*part(t), t.Rank, show.FormatDuration(float64(t.MPINs)), show.FormatDuration(float64(t.ThreadTimeNs)))
	}
	fmt.Fprintf(w, "in MPI: %s", line(least))
	if least != most {
		fmt.Fprintf(w, " to %s", line(most))
	}
	fmt.Fprint(w, "\n\n")
}

// ofThreads returns " of threads", with which ThreadTimeNs is printed if ranks have several threads, else "".
func (f *CallSiteTable) ofThreads() string {
	if f.ThreadTimeNs == f.TotalSpanNs {
		return ""
	}
	return " of threads"
}

// RankColumns returns the columns of PerRank, the table with a row for each rank.
func (f *CallSiteTable) RankColumns() show.Columns[sums.RankSums] {
	list := show.Columns[sums.RankSums]{{Name: "rank", Value: func(x sums.RankSums) any { return x.Rank }}}
	if !f.Timeless {
		list = append(list,
			show.Column[sums.RankSums]{Name: "time" + f.ofThreads(), Unit: show.UnitNs, Value: func(x sums.RankSums) any { return x.ThreadTimeNs }},
			show.Column[sums.RankSums]{Name: "in MPI", Unit: show.UnitNs, Value: func(x sums.RankSums) any { return x.MPINs }},
			show.Column[sums.RankSums]{Name: "of it", Unit: show.UnitFraction, Value: func(x sums.RankSums) any { return float64(x.MPINs) / float64(max(1, x.ThreadTimeNs)) }})
		if f.FilesNs > 0 {
			list = append(list, show.Column[sums.RankSums]{Name: "in files", Unit: show.UnitNs, Value: func(x sums.RankSums) any { return x.PosixIONs }})
		}
	}
	return append(list,
		show.Column[sums.RankSums]{Name: "calls", Unit: show.UnitCount, Value: func(x sums.RankSums) any { return x.Calls }},
		show.Column[sums.RankSums]{Name: "bytes out", Unit: show.UnitSize, Value: func(x sums.RankSums) any { return x.BytesOut }},
		show.Column[sums.RankSums]{Name: "bytes in", Unit: show.UnitSize, Value: func(x sums.RankSums) any { return x.BytesIn }},
		show.Column[sums.RankSums]{Name: "host", Unit: show.UnitWord, Value: func(x sums.RankSums) any { return x.Host }})
}
