package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/files"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

func newIO() *cobra.Command {
	var o output
	var each, ranks, system bool
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "io [flags] [TRACE]",
		Short: "Show what the program did with files: bytes, calls, access order, bandwidth",
		Long: `Each row is a file, those with most time first. Every trace has the calls of
MPI-IO; with spoor run --io it also has those of POSIX and C. Files whose names
differ in the rank alone share a row (out.%05d).

seq: accesses that begin where the last one ended; strided: at equal distances;
random: others. off 4 KB: not at a multiple of 4096. meta: calls that move no
data. bandwidth: bytes divided by the time of the rank that spent most.
More: docs/io.md`,
		Example: `  spoor run --io mpirun -n 4 ./app && spoor io app.spoor
  spoor run --io=all mpirun -n 4 ./app         calls of the MPI library as well
  spoor run --io --io-include '/scratch/' --io-exclude '*.log' mpirun -n 4 ./app
  spoor io app.spoor --by-rank --no-grouping
  spoor io app.spoor --json | jq '.files[] | [.path, .total.writes.bytes]'`,
		Args: aTrace,
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			rep, err := files.Analyse(r, files.Options{SeparateRankFiles: each, IncludeSystem: system})
			if err != nil {
				return err
			}
			return o.print(cmd, filesJSON(rep, r.HasTimes()), nil, func(w io.Writer, v show.View) error {
				none := len(rep.Files) == 0 && !v.CSV
				if none {
					fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s has no calls that work on files; record them with: spoor run --io\n", r.Name())
				} else if err := printFiles(w, rep, v, ranks, r.HasTimes()); err != nil || v.CSV {
					return err
				}
				printLeftOut(w, rep)
				if !none {
					printSlowest(w, rep, r.HasTimes())
				}
				return nil
			})
		}),
	}
	f := cmd.Flags()
	window.add(f)
	f.BoolVar(&each, "no-grouping", false, "a row for each file, also where names differ in the rank alone")
	f.BoolVar(&system, "system", false, "also files in system folders (/usr, /etc, …) and what interpreters import")
	f.BoolVar(&ranks, "by-rank", false, "the part of each rank")
	o.tableFlags(cmd, 20, "files")
	return cmd
}

// A fileRow is a row of spoor io's table: what one rank, or all ranks, did with a file.
type fileRow struct {
	files.Usage
	who, by, name string
	bandwidth     float64
}

// rowsOf returns a row for each rank that used a file.
func rowsOf(f *files.File) (rows []fileRow) {
	for _, rank := range slices.Sorted(maps.Keys(f.UseByRank)) {
		one := files.File{Total: *f.UseByRank[rank], UseByRank: map[int]*files.Usage{rank: f.UseByRank[rank]}}
		rows = append(rows, fileRow{Usage: one.Total, who: strconv.Itoa(rank), by: f.API, name: f.Path, bandwidth: one.Bandwidth()})
	}
	return rows
}

// fileColumns returns the columns of a table of fileRows. timed says whether the trace has times; without them, columns
// of times stay empty.
func fileColumns(timed bool) show.Columns[fileRow] {
	share := func(n func(r fileRow) uint64) func(r fileRow) any {
		return func(r fileRow) any {
			all := r.SequentialAccesses + r.StridedAccesses + r.RandomAccesses
			if all == 0 {
				return nil
			}
			return float64(n(r)) / float64(all)
		}
	}
	time := func(value func(r fileRow) float64) func(r fileRow) any {
		return func(r fileRow) any {
			if !timed {
				return nil
			}
			return value(r)
		}
	}
	return show.Columns[fileRow]{
		{Name: "ranks", KeyOverride: "shared_by", MinTerminalWidth: 1, Doc: "ranks that worked on it", Value: func(r fileRow) any { return r.who }},
		{Name: "opens", MinTerminalWidth: 1, Doc: "how often it was opened", Value: func(r fileRow) any { return r.Opens }},
		{Name: "reads", MinTerminalWidth: 1, Doc: "calls that read", Value: func(r fileRow) any { return r.Reads.Calls }},
		{Name: "read", Unit: show.UnitSize, MinTerminalWidth: 1, Doc: "bytes read", Value: func(r fileRow) any { return r.Reads.Bytes }},
		{Name: "writes", MinTerminalWidth: 1, Doc: "calls that wrote", Value: func(r fileRow) any { return r.Writes.Calls }},
		{Name: "written", Unit: show.UnitSize, MinTerminalWidth: 1, Doc: "bytes written", Value: func(r fileRow) any { return r.Writes.Bytes }},
		{Name: "seq", Unit: show.UnitFraction, MinTerminalWidth: 1, Doc: "accesses where the last one ended", Value: share(func(r fileRow) uint64 { return r.SequentialAccesses })},
		{Name: "strided", Unit: show.UnitFraction, MinTerminalWidth: 1, Doc: "at the distance of the one before", Value: share(func(r fileRow) uint64 { return r.StridedAccesses })},
		{Name: "random", Unit: show.UnitFraction, MinTerminalWidth: 1, Doc: "elsewhere", Value: share(func(r fileRow) uint64 { return r.RandomAccesses })},
		{Name: "off 4 KB", Unit: show.UnitFraction, MinTerminalWidth: 1, Doc: "not at a multiple of 4 KB", Value: share(func(r fileRow) uint64 { return r.UnalignedAccesses })},
		{Name: "meta", MinTerminalWidth: 1, Doc: "other calls, such as opening", Value: func(r fileRow) any { return r.MetaCalls }},
		{Name: "in data", Unit: show.UnitNs, MinTerminalWidth: 1, Doc: "time of reading and writing", Value: time(func(r fileRow) float64 { return r.TransferNs })},
		{Name: "in meta", Unit: show.UnitNs, MinTerminalWidth: 1, Doc: "time of other calls", Value: time(func(r fileRow) float64 { return r.MetaNs })},
		{Name: "bandwidth", Unit: show.UnitBytesPerSecond, MinTerminalWidth: 1, Doc: "of reading and writing", Value: func(r fileRow) any {
			if !timed || r.bandwidth <= 0 {
				return nil
			}
			return r.bandwidth
		}},
		{Name: "extent", Unit: show.UnitSize, Doc: "furthest byte", Value: func(r fileRow) any { return r.FurthestByte }},
		{Name: "failed", Doc: "calls that failed", Value: func(r fileRow) any { return r.FailedCalls }},
		{Name: "library calls", Doc: "calls that the MPI library made for itself", Value: func(r fileRow) any { return r.MPILibraryCalls }},
		{Name: "by", MinTerminalWidth: 1, Doc: "interface", Value: func(r fileRow) any { return r.by }},
		{Name: "file", Unit: show.UnitWord, MinTerminalWidth: 1, Doc: "path", Value: func(r fileRow) any { return r.name }},
	}
}

// printFiles writes a row for each file. With ranks set, rows of the file's ranks follow it. In CSV, in sorted tables
// and in tables of chosen columns, rows of ranks then replace the file's row.
func printFiles(w io.Writer, rep *files.Report, v show.View, ranks, timed bool) error {
	// The column "by", the interface (e.g. POSIX), is left out if all files were used through POSIX.
	several := slices.ContainsFunc(rep.Files, func(f *files.File) bool { return f.API != files.APIPosix })
	who, list, more := "ranks", rep.Files, 0
	plain := v.CSV || v.Sort != "" || v.Columns != nil
	if ranks && plain {
		who = "rank"
	} else if !plain {
		list, more = show.TopRows(list, v.MaxRows)
		v.MaxRows = 0
	}
	var rows []fileRow
	for _, f := range list {
		if !ranks || !plain {
			rows = append(rows, fileRow{f.Total, strconv.Itoa(len(f.UseByRank)), f.API, f.Path, f.Bandwidth()})
		}
		for _, r := range rowsOf(f) {
			switch {
			case ranks && plain:
				rows = append(rows, r)
			case ranks:
				rows = append(rows, fileRow{Usage: r.Usage, who: "[" + r.who + "]", bandwidth: r.bandwidth})
			}
		}
	}
	columns := fileColumns(timed)
	columns[0].Name = who
	if who == "rank" {
		columns[0].KeyOverride = who
	}
	if !plain {
		columns = slices.DeleteFunc(columns, func(c show.Column[fileRow]) bool { return c.MinTerminalWidth == 0 || c.Name == "by" && !several })
	}
	if err := show.PrintRows(w, rows, v, columns.AddCells); err != nil {
		return err
	}
	show.WriteOmitted(w, more)
	return nil
}

// printLeftOut prints how many files of the system, and calls on them, are left out of the table.
func printLeftOut(w io.Writer, rep *files.Report) {
	if rep.OmittedCalls > 0 {
		fmt.Fprintf(w, "left out: %s on %s in system folders and of what is imported; --system shows them\n",
			show.FormatPlural(int64(rep.OmittedCalls), "call"), show.FormatPlural(int64(rep.OmittedFiles), "file"))
	}
}

// printSlowest prints the slowest single call on a file, and the number of failed calls.
func printSlowest(w io.Writer, rep *files.Report, timed bool) {
	var slow files.SlowestCall
	failed := uint64(0)
	for _, f := range rep.Files {
		failed += f.Total.FailedCalls
		if s := f.Total.Slowest; s.Ns > slow.Ns {
			slow = s
		}
	}
	if timed && slow.Ns > 0 {
		about := ""
		if !rep.TimesKind.OfTheCallItself() {
			about = "about "
		}
		fmt.Fprintf(w, "\nslowest: %s%s on rank %d: %s\n", about, show.FormatDuration(slow.Ns), slow.Rank, slow.Call)
	}
	if failed > 0 {
		fmt.Fprintf(w, "%s failed: --json says where\n", show.FormatPlural(failed, "call"))
	}
}

type rankUse struct {
	Rank int `json:"rank"`
	*files.Usage
}

type fileJSON struct {
	*files.File
	Shared    int       `json:"shared_by"`
	Bandwidth float64   `json:"bytes_per_s"`
	Ranks     []rankUse `json:"ranks"`
}

func filesJSON(rep *files.Report, timed bool) any {
	rows := []fileJSON{}
	for _, f := range rep.Files {
		x := fileJSON{File: f, Shared: f.SharingRanks(), Bandwidth: f.Bandwidth()}
		for _, rank := range slices.Sorted(maps.Keys(f.UseByRank)) {
			x.Ranks = append(x.Ranks, rankUse{rank, f.UseByRank[rank]})
		}
		rows = append(rows, x)
	}
	var columns show.Columns[fileJSON]
	for _, c := range fileColumns(timed)[1:] { // without the first column, whose content is fileJSON's shared_by
		columns = append(columns, show.Column[fileJSON]{Name: c.Name, Unit: c.Unit, Doc: c.Doc, Value: func(x fileJSON) any {
			return c.Value(fileRow{x.Total, "", x.API, x.Path, x.Bandwidth})
		}})
	}
	return struct {
		Bounds    []int64              `json:"size_bounds"`
		Times     string               `json:"times"`
		Folder    string               `json:"folder"`
		LeftFiles int                  `json:"left_out_files"`
		LeftCalls uint64               `json:"left_out_calls"`
		Files     show.Table[fileJSON] `json:"files"`
	}{files.AccessSizeBounds, rep.TimesKind.String(), rep.StartFolder, rep.OmittedFiles, rep.OmittedCalls, show.Table[fileJSON]{Rows: rows, Columns: columns}}
}
