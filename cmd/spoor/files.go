package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/files"
	"github.com/spoor-hpc/spoor/internal/units"
	"github.com/spoor-hpc/spoor/trace"
)

func newFiles() *cobra.Command {
	var asJSON, asCSV, each, ranks, system bool
	var top int
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "files [flags] TRACE",
		Short: "Show what the program did with files: bytes, calls, order, bandwidth",
		Long: `Show what the program did with each file: how many ranks used it, how often it was
opened, what was read and written, in which order, and how long that took. Files
with most time come first. Every trace has the calls of MPI-IO; one that was
recorded with "spoor run --io" has those of POSIX's and C's functions, too.

Names are as they are from the folder in which the ranks were started: the calls
that change the working folder are followed. Files in the system's folders
(/usr, /etc, /opt, …) and what interpreters import are left out, and counted;
--system shows them.

seq: accesses where the last one of the same open file ended; strided: as far behind
the last one as that was behind the one before; random: others. off 4 KB: at no
multiple of 4096. meta: calls that move no data. bandwidth: all bytes by the time
of the rank that was in calls longest.

Where each rank has a file with its number in the name, these are one line (out.%05d),
unless --each wants them apart. --ranks shows each rank's part. JSON and CSV have
that too, histograms of sizes, failures, and the slowest call.`,
		Example: `  spoor files app.spoor
  spoor files app.spoor --ranks --each
  spoor files app.spoor --json | jq '.files[] | [.path, .total.writes.bytes]'`,
		Args: exactly(1, "one trace"),
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error {
			rep, err := files.Compute(r, files.Options{Each: each, System: system})
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case asJSON:
				return writeJSON(out, filesJSON(rep))
			case asCSV:
				return filesCSV(out, rep)
			case len(rep.Files) == 0:
				fmt.Fprintf(cmd.ErrOrStderr(), "spoor: no calls that work on files are in %s; record it with: spoor run --io\n", r.Name())
				return printLeftOut(out, rep)
			}
			return printFiles(out, rep, top, ranks, r.HasTimes())
		}),
	}
	f := cmd.Flags()
	window.add(f)
	f.BoolVar(&each, "each", false, "don't put files together that differ in the rank's number")
	f.BoolVar(&system, "system", false, "show files in the system's folders and what interpreters import, too")
	f.BoolVar(&ranks, "ranks", false, "show each rank's part")
	f.IntVar(&top, "top", 20, "show so many files; 0: all")
	f.BoolVar(&asJSON, "json", false, "print JSON, of all files and ranks")
	f.BoolVar(&asCSV, "csv", false, "print CSV, of all files and ranks")
	cmd.MarkFlagsMutuallyExclusive("csv", "json")
	return cmd
}

func printFiles(w io.Writer, rep *files.Report, top int, ranks, timed bool) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	// One kind of calls needs no name, unless it isn't the one that readers expect.
	several := slices.ContainsFunc(rep.Files, func(f *files.File) bool { return f.By != files.Posix })
	by := func(text string) string {
		if several {
			return "\t" + text
		}
		return ""
	}
	fmt.Fprintf(tw, "ranks\topens\treads\tread\twrites\twritten\tseq\tstrided\trandom\toff 4 KB\tmeta\tin data\tin meta\tbandwidth%s\t  file\n", by("by"))
	row := func(who string, u *files.Use, bandwidth float64, kind, name string) {
		accesses := float64(u.Sequential + u.Strided + u.Random)
		share := func(n uint64) string {
			if accesses == 0 {
				return "-"
			}
			return units.Share(float64(n), accesses)
		}
		data, meta, speed := "-", "-", "-"
		if timed {
			data, meta = units.Duration(u.DataTime), units.Duration(u.MetaTime)
			if bandwidth > 0 {
				speed = units.Bytes(int64(bandwidth)) + "/s"
			}
		}
		fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s%s\t%s\n", who, u.Opens, u.Reads.Calls, units.Bytes(u.Reads.Bytes),
			u.Writes.Calls, units.Bytes(u.Writes.Bytes), share(u.Sequential), share(u.Strided), share(u.Random), share(u.Unaligned),
			u.Meta, data, meta, speed, by(kind), name)
	}
	for i, f := range rep.Files {
		if top > 0 && i == top {
			break
		}
		row(strconv.Itoa(len(f.Ranks)), &f.Total, f.Bandwidth(), f.By, "  "+f.Path)
		if !ranks {
			continue
		}
		for _, rank := range ranksOf(f) {
			u := f.Ranks[rank]
			one := files.File{Total: *u, Ranks: map[int]*files.Use{rank: u}}
			row(fmt.Sprintf("[%d]", rank), u, one.Bandwidth(), "", "")
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if top > 0 && len(rep.Files) > top {
		fmt.Fprintf(w, "%s more: --top 0\n", units.Plural(len(rep.Files)-top, "file"))
	}
	if err := printLeftOut(w, rep); err != nil {
		return err
	}
	return printSlowest(w, rep, timed)
}

// printLeftOut counts what is not shown.
func printLeftOut(w io.Writer, rep *files.Report) error {
	if rep.LeftCalls == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "left out: %s on %s in system folders and of what is imported; --system shows them\n",
		units.Plural(int64(rep.LeftCalls), "call"), units.Plural(int64(rep.LeftFiles), "file"))
	return err
}

// printSlowest says which single call took longest, and what failed.
func printSlowest(w io.Writer, rep *files.Report, timed bool) error {
	var slow files.Slow
	failed := uint64(0)
	for _, f := range rep.Files {
		failed += f.Total.Failed
		if s := f.Total.Slowest; s.Ns > slow.Ns {
			slow = s
		}
	}
	if timed && slow.Ns > 0 {
		about := ""
		if !rep.Kind.Own() {
			about = "about "
		}
		fmt.Fprintf(w, "\nslowest: %s%s on rank %d: %s\n", about, units.Duration(slow.Ns), slow.Rank, slow.Call)
	}
	if failed > 0 {
		fmt.Fprintf(w, "%s failed: --json says where\n", units.Plural(failed, "call"))
	}
	return nil
}

func ranksOf(f *files.File) []int {
	var list []int
	for rank := range f.Ranks {
		list = append(list, rank)
	}
	slices.Sort(list)
	return list
}

type rankUse struct {
	Rank int `json:"rank"`
	*files.Use
}

type fileJSON struct {
	*files.File
	Shared    int       `json:"shared_by"`
	Bandwidth float64   `json:"bytes_per_s"`
	Ranks     []rankUse `json:"ranks"`
}

func filesJSON(rep *files.Report) any {
	out := struct {
		Bounds    []int64    `json:"size_bounds"`
		Times     string     `json:"times"`
		Folder    string     `json:"folder"`
		LeftFiles int        `json:"left_out_files"`
		LeftCalls uint64     `json:"left_out_calls"`
		Files     []fileJSON `json:"files"`
	}{files.Bounds, rep.Kind.String(), rep.Folder, rep.LeftFiles, rep.LeftCalls, []fileJSON{}}
	for _, f := range rep.Files {
		x := fileJSON{File: f, Shared: f.Shared(), Bandwidth: f.Bandwidth()}
		for _, rank := range ranksOf(f) {
			x.Ranks = append(x.Ranks, rankUse{rank, f.Ranks[rank]})
		}
		out.Files = append(out.Files, x)
	}
	return out
}

func filesCSV(w io.Writer, rep *files.Report) error {
	c := csv.NewWriter(w)
	c.Write(strings.Split("file,rank,opens,reads,read_bytes,read_ns,writes,written_bytes,write_ns,meta,meta_ns,sequential,strided,random,unaligned,extent,failed,library_calls,by", ","))
	n := func(v uint64) string { return strconv.FormatUint(v, 10) }
	d := func(v int64) string { return strconv.FormatInt(v, 10) }
	t := func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }
	for _, f := range rep.Files {
		for _, rank := range ranksOf(f) {
			u := f.Ranks[rank]
			c.Write([]string{f.Path, strconv.Itoa(rank), n(u.Opens), n(u.Reads.Calls), d(u.Reads.Bytes), t(u.Reads.Time), n(u.Writes.Calls),
				d(u.Writes.Bytes), t(u.Writes.Time), n(u.Meta), t(u.MetaTime), n(u.Sequential), n(u.Strided), n(u.Random), n(u.Unaligned),
				d(u.Extent), n(u.Failed), n(u.Library), f.By})
		}
	}
	c.Flush()
	return c.Error()
}
