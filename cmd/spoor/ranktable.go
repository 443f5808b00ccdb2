package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spoor-hpc/spoor/internal/analyse/imbalance"
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
	cols = cols[:max(0, min(room-len(valueNames(list)), len(cols)))]
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := []string{"rank"}
	if hosts {
		head = append(head, "host")
	}
	head = append(head, "compute", "in MPI")
	values := valueNames(list)
	head = append(head, values...)
	for i := range cols {
		head = append(head, fmt.Sprintf("[%d]", i+1))
	}
	fmt.Fprintln(tw, strings.Join(head, "\t")+"\t")
	guessed := false
	for i := range list {
		r := &list[i]
		row := []string{strconv.Itoa(r.Rank)}
		if hosts {
			row = append(row, r.Host)
		}
		text := func(t imbalance.RankTime) string {
			if !t.Known {
				guessed = true
				return "~" + units.Duration(t.Ns)
			}
			return units.Duration(t.Ns)
		}
		row = append(row, text(r.Compute), text(r.MPI))
		sums := make(map[string]string)
		for _, v := range r.Values {
			if v.Function == "" {
				if sums[v.Name] = strconv.FormatFloat(v.Sum, 'g', 4, 64); !v.Known {
					guessed = true
					sums[v.Name] = "~" + sums[v.Name]
				}
			}
		}
		for _, name := range values {
			row = append(row, cmp.Or(sums[name], "-"))
		}
		for _, c := range cols {
			t, ok := c.of[r.Rank]
			if !ok {
				row = append(row, "-")
				continue
			}
			row = append(row, text(t))
		}
		fmt.Fprintln(tw, strings.Join(row, "\t")+"\t")
	}
	if err := tw.Flush(); err != nil {
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
	out := csv.NewWriter(w)
	out.Write([]string{"rank", "host", "what", "function", "site", "value", "within", "known"})
	for i := range list {
		r := &list[i]
		row := func(what, function, site string, t imbalance.RankTime) {
			out.Write([]string{
				strconv.Itoa(r.Rank), r.Host, what, function, site,
				strconv.FormatFloat(t.Ns, 'f', 0, 64), strconv.FormatFloat(t.Within, 'f', 0, 64), strconv.FormatBool(t.Known),
			})
		}
		row("compute", "", "", r.Compute)
		row("mpi", "", "", r.MPI)
		for j := range r.Sites {
			s := &r.Sites[j]
			row("compute", s.Function, s.Place, s.Compute)
			row("mpi", s.Function, s.Place, s.MPI)
		}
		for _, v := range r.Values {
			row(v.Name, v.Function, v.Place, imbalance.RankTime{Ns: v.Sum, Within: v.Within, Known: v.Known})
		}
	}
	out.Flush()
	return out.Error()
}
