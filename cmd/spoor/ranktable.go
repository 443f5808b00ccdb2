package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/analyse/imbalance"
	"github.com/spoor-hpc/spoor/internal/columns"
	"github.com/spoor-hpc/spoor/internal/units"
)

// A rankColumn is one of the columns behind a rank's totals: the time before or in the calls
// from one place.
type rankColumn struct {
	function, place string
	mpi             bool
	sum             float64
	of              map[int]imbalance.RankTime // by rank
}

// rankColumns lists the columns of a table, those of most time first.
func rankColumns(list []imbalance.RankTotals) []*rankColumn {
	type key struct {
		function, place string
		mpi             bool
	}
	known := make(map[key]*rankColumn)
	var cols []*rankColumn
	for i := range list {
		for j := range list[i].Sites {
			s := &list[i].Sites[j]
			for _, mpi := range []bool{false, true} {
				t := s.Compute
				if mpi {
					t = s.MPI
				}
				c := known[key{s.Function, s.Place, mpi}]
				if c == nil {
					c = &rankColumn{function: s.Function, place: s.Place, mpi: mpi, of: make(map[int]imbalance.RankTime)}
					known[key{s.Function, s.Place, mpi}] = c
					cols = append(cols, c)
				}
				before := c.of[list[i].Rank]
				c.of[list[i].Rank] = imbalance.RankTime{Ns: before.Ns + t.Ns, Within: before.Within + t.Within, Known: t.Known}
				c.sum += t.Ns
			}
		}
	}
	slices.SortStableFunc(cols, func(a, b *rankColumn) int { return cmp.Compare(b.sum, a.sum) })
	return cols
}

// rankWidth is about how wide a column with a time is.
const rankWidth = 10

// printRanks writes a row for each rank: what it computed, what it spent in MPI, and as many
// of the places with most time as there is room for, up to top.
func printRanks(w io.Writer, list []imbalance.RankTotals, top, width int) error {
	if len(list) == 0 {
		fmt.Fprintln(w, "no rank left a track")
		return nil
	}
	hosts := slices.ContainsFunc(list, func(r imbalance.RankTotals) bool { return r.Host != list[0].Host })
	cols := rankColumns(list)
	room := (width - 3*rankWidth) / rankWidth
	if hosts {
		room -= 2
	}
	if top > 0 {
		room = min(room, top)
	}
	values := valueNames(list)
	cols = cols[:max(0, min(room-len(values), len(cols)))]
	guessed := false
	known := func(text string, known bool) string {
		if known {
			return text
		}
		guessed = true
		return "~" + text
	}
	time := func(t imbalance.RankTime) string { return known(units.Duration(t.Ns), t.Known) }
	table := columns.Table[imbalance.RankTotals]{
		{Head: "rank", Value: func(r imbalance.RankTotals) any { return r.Rank }},
		{Head: "host", Value: func(r imbalance.RankTotals) any { return r.Host }, Left: true, Hide: !hosts},
		{Head: "compute", Value: func(r imbalance.RankTotals) any { return time(r.Compute) }},
		{Head: "in MPI", Value: func(r imbalance.RankTotals) any { return time(r.MPI) }},
	}
	for _, name := range values {
		table = append(table, columns.Column[imbalance.RankTotals]{Head: name, Value: func(r imbalance.RankTotals) any {
			text := "-"
			for _, v := range r.Values {
				if v.Function == "" && v.Name == name {
					text = known(strconv.FormatFloat(v.Sum, 'g', 4, 64), v.Known)
				}
			}
			return text
		}})
	}
	for i, c := range cols {
		table = append(table, columns.Column[imbalance.RankTotals]{Head: fmt.Sprintf("[%d]", i+1), Value: func(r imbalance.RankTotals) any {
			if t, ok := c.of[r.Rank]; ok {
				return time(t)
			}
			return "-"
		}})
	}
	if err := table.Text(w, list, 0); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for i, c := range cols {
		what := "compute before"
		if c.mpi {
			what = "in"
		}
		fmt.Fprintf(w, "[%d] %s %s at %s\n", i+1, what, c.function, c.place)
	}
	if guessed {
		fmt.Fprintln(w, "~ not known of the rank: its part in what ranks like it spent")
	}
	return nil
}

// valueNames lists what was attached on some rank.
func valueNames(list []imbalance.RankTotals) (names []string) {
	for i := range list {
		for _, v := range list[i].Values {
			if v.Function == "" && !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// writeRanksCSV writes a row for each rank and time, in ns, or name of attached values: first its
// totals, then by place.
func writeRanksCSV(w io.Writer, list []imbalance.RankTotals) error {
	type row struct {
		of                   *imbalance.RankTotals
		what, function, site string
		imbalance.RankTime
	}
	var rows []row
	for i := range list {
		r := &list[i]
		rows = append(rows, row{r, "compute", "", "", r.Compute}, row{r, "mpi", "", "", r.MPI})
		for _, s := range r.Sites {
			rows = append(rows, row{r, "compute", s.Function, s.Place, s.Compute}, row{r, "mpi", s.Function, s.Place, s.MPI})
		}
		for _, v := range r.Values {
			rows = append(rows, row{r, v.Name, v.Function, v.Place, imbalance.RankTime{Ns: v.Sum, Within: v.Within, Known: v.Known}})
		}
	}
	return columns.Table[row]{
		{Key: "rank", Value: func(r row) any { return r.of.Rank }},
		{Key: "host", Value: func(r row) any { return r.of.Host }},
		{Key: "what", Value: func(r row) any { return r.what }},
		{Key: "function", Value: func(r row) any { return r.function }},
		{Key: "site", Value: func(r row) any { return r.site }},
		{Key: "value", Value: func(r row) any { return r.Ns }},
		{Key: "within", Value: func(r row) any { return r.Within }},
		{Key: "known", Value: func(r row) any { return r.Known }},
	}.CSV(w, rows)
}
