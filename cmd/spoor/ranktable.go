package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/show"
)

// rankWidth is about how wide a column with a time is.
const rankWidth = 10

// printRanks writes a row for each rank: what it computed, what it spent in MPI, and as many
// of the places with most time as there is room for, up to top.
func printRanks(w io.Writer, list []efficiency.RankTotals, top, width int) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no rank left a track")
		return
	}
	hosts := slices.ContainsFunc(list, func(r efficiency.RankTotals) bool { return r.Host != list[0].Host })
	cols := efficiency.Columns(list)
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
	time := func(t efficiency.RankTime) string { return known(show.Duration(t.Ns), t.Known) }
	show.Text(w, list, 0, func(c *show.Row, r efficiency.RankTotals) {
		c.Value("rank", r.Rank)
		if hosts {
			c.Text("host", r.Host)
		}
		c.Value("compute", time(r.Compute)).Value("in MPI", time(r.MPI))
		for _, name := range values {
			text := "-"
			for _, v := range r.Values {
				if v.Function == "" && v.Name == name {
					text = known(strconv.FormatFloat(v.Sum, 'g', 4, 64), v.Known)
				}
			}
			c.Value(name, text)
		}
		for i, col := range cols {
			text := "-"
			if t, ok := col.Of[r.Rank]; ok {
				text = time(t)
			}
			c.Value(fmt.Sprintf("[%d]", i+1), text)
		}
	})
	fmt.Fprintln(w)
	for i, c := range cols {
		what := "compute before"
		if c.MPI {
			what = "in"
		}
		fmt.Fprintf(w, "[%d] %s %s at %s\n", i+1, what, c.Function, c.Place)
	}
	if guessed {
		fmt.Fprintln(w, "~ not known of the rank: its part in what ranks like it spent")
	}
}

// valueNames lists what was attached on some rank.
func valueNames(list []efficiency.RankTotals) (names []string) {
	for i := range list {
		for _, v := range list[i].Values {
			if v.Function == "" && !slices.Contains(names, v.Name) {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// rankTable has a row for each rank and time, in ns, or name of attached values: first its
// totals, then by place.
func rankTable(list []efficiency.RankTotals) func(io.Writer, show.View) error {
	type row struct {
		rank                       int
		host, what, function, site string
		efficiency.RankTime
	}
	var rows []row
	for _, r := range list {
		rows = append(rows, row{r.Rank, r.Host, "compute", "", "", r.Compute}, row{r.Rank, r.Host, "mpi", "", "", r.MPI})
		for _, s := range r.Sites {
			rows = append(rows, row{r.Rank, r.Host, "compute", s.Function, s.Place, s.Compute}, row{r.Rank, r.Host, "mpi", s.Function, s.Place, s.MPI})
		}
		for _, v := range r.Values {
			rows = append(rows, row{r.Rank, r.Host, v.Name, v.Function, v.Place, efficiency.RankTime{Ns: v.Sum, Within: v.Within, Known: v.Known}})
		}
	}
	return tableOf(rows, func(c *show.Row, r row) {
		c.Value("rank", r.rank).Text("host", r.host).Text("what", r.what).Text("function", r.function).Text("site", r.site)
		c.Decimal("value", r.Ns, 0).Decimal("within", r.Within, 0).Value("known", r.Known)
	})
}
