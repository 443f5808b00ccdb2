package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spoor-hpc/spoor/internal/analyse/efficiency"
	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/convert"
	"github.com/spoor-hpc/spoor/internal/convert/otf2"

	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/trace"
)

type exportOptions struct {
	to, out, ranks string
	from, until    string
	phase          string
	paths          []string
	force, json    bool
}

func newExport() *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export --to FORMAT [flags] [TRACE]",
		Short: "Write a trace in the format of another tool: OTF2, Perfetto, Paraver, CSV, …",
		Long: `  otf2          a folder for Vampir, Scalasca, Score-P's tools and Python's otf2
  perfetto      a file for ui.perfetto.dev
  chrome        JSON for Chrome's trace viewer and others
  csv, parquet  folders of tables: calls, operations, communicators
  paraver       a folder for Paraver
  dimemas       a file for Dimemas
  smpi          a folder for SimGrid's smpirun -replay

The output takes 20 to 200 bytes a call. spoor lists what a format cannot
express. Without --timing lossless times are means or drawn from histograms, and
the output says so.
More: docs/export.md`,
		Example: `  spoor export --to otf2 app.spoor -o app-otf2
  spoor export --to perfetto app.spoor          open app.pftrace at ui.perfetto.dev
  spoor export --to otf2 --rank 0-15 --from 10s --until 12s app.spoor
  spoor export --to parquet app.spoor`,
		Args: aTrace,
		RunE: oneTrace(func(cmd *cobra.Command, r *trace.Reader) error {
			if o.to == goalFormat {
				return &usageError{cmd, errors.New("--to goal: use spoor papers goal")}
			}
			return runExport(cmd, o, r)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.to, "to", "", "the `format`: "+strings.Join(formatNames(), ", "))
	f.StringVarP(&o.out, "output", "o", "", "write to this `path` (default NAME-FORMAT, or NAME.FORMAT)")
	f.StringVarP(&o.ranks, "rank", "r", "", "only these `ranks`: 0,4-7,10-")
	f.StringVar(&o.from, "from", "", "from this `time` of the run on (12.5s, 300ms); calls that cross it count")
	f.StringVar(&o.until, "until", "", "up to this `time` of the run")
	phaseFlag(f, &o.phase)
	inGroup(f, partGroup, "from", "until", "phase")
	debugPathFlag(f, &o.paths)
	forceFlag(f, &o.force)
	f.BoolVar(&o.json, "json", false, "print what was written as JSON")
	return cmd
}

// A format is an output format of spoor export.
type format struct {
	folder   bool   // the output is a folder
	values   bool   // the output includes values attached to calls
	messages bool   // the output says which receive got which message
	shares   bool   // the output says how much each member of a collective call sends and gets
	whole    bool   // only whole runs can be exported: programs that read the format replay it
	ending   string // what the output's default name has after the trace's name
	most     int64  // largest size in bytes that programs which read the format accept; 0: no limit
	write    func(s *ops.Source, path string, about convert.Options) error
}

var formats = map[string]format{
	"otf2":     {values: true, folder: true, ending: "-otf2", write: writeOTF2},
	"perfetto": {values: true, messages: true, ending: ".pftrace", most: 2 << 30, write: writePerfetto},
	"csv":      {values: true, folder: true, messages: true, ending: "-csv", write: writeCSV},
	"parquet":  {values: true, folder: true, messages: true, ending: "-parquet", write: writeParquet},
	"chrome":   {values: true, messages: true, ending: ".chrome.json", most: 512 << 20, write: writeChrome},
	"paraver":  {values: true, folder: true, messages: true, ending: "-paraver", write: writeParaver},
	goalFormat: {shares: true, whole: true, ending: ".goal", write: writeGOAL},
	"dimemas":  {whole: true, ending: ".dim", write: writeDimemas},
	"smpi":     {folder: true, shares: true, whole: true, ending: "-smpi", write: writeSMPI},
}

// goalFormat is the name of the format GOAL, which only spoor papers goal writes, not spoor export.
const goalFormat = "goal"

func formatNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(formats)), func(name string) bool { return name == goalFormat })
}

func runExport(cmd *cobra.Command, o exportOptions, r *trace.Reader) error {
	f, ok := formats[o.to]
	if !ok {
		return &usageError{cmd, fmt.Errorf("--to %q: one of %s", o.to, strings.Join(formatNames(), ", "))}
	}
	opts, err := o.source(r)
	if err != nil {
		return &usageError{cmd, err}
	}
	if f.whole && o.ranks+o.from+o.until+o.phase != "" {
		return &usageError{cmd, fmt.Errorf("--to %s takes all ranks from the beginning to the end: in a replay of a part, ranks would wait for what is missing", o.to)}
	}
	opts.ReadAttachedValues, opts.NumberMessages, opts.FindBytesPerMember = f.values, f.messages, f.shares
	o.out = cmp.Or(o.out, traceName(strings.TrimSuffix(filepath.Base(r.Name()), ".spoor"))+f.ending)
	if err := mayWrite(o.out, o.force); err != nil {
		return err
	}
	var p *progress
	opts.AddProgress = func(calls uint64) { p.steps(int(calls)) }
	s, err := ops.NewSource(r, opts)
	if err != nil {
		return err
	}
	calls, err := s.Calls()
	if err != nil {
		return err
	}
	if o.to == "otf2" && len(s.Ranks) > manyFiles {
		fmt.Fprintf(cmd.ErrOrStderr(), "spoor: export: otf2 has two files for each rank, and there are %s; --ranks takes fewer\n", show.FormatGrouped(len(s.Ranks)))
	}
	where := newPlaces(o.paths)
	about := aboutTrace(s, where)
	if about.Marks, err = marks(s, where); err != nil {
		return err
	}
	p = newProgress(cmd.ErrOrStderr(), "calls", int(calls))
	err = writeAside(o.out, f.folder, func(path string) error { return f.write(s, path, about) })
	p.end()
	if err != nil {
		return err
	}
	where.complain(cmd)
	bytes, err := sizeOf(o.out)
	if err != nil {
		return err
	}
	if f.most > 0 && bytes > f.most {
		fmt.Fprintf(cmd.ErrOrStderr(), "spoor: export: %s is %s; viewers tend to fail from %s on; take a part: --ranks, --from, --until, --phase\n",
			o.out, show.FormatBytes(bytes), show.FormatBytes(f.most))
	}
	if names, err := r.AttachedNames(); err == nil && !f.values && len(names) > 0 {
		s.Losses.Add("names of numbers that were attached to calls: "+strings.Join(names, ", "), uint64(len(names)))
	}
	losses := s.Losses.List()
	if o.json {
		return writeJSON(cmd.OutOrStdout(), map[string]any{
			"output": o.out, "format": o.to, "ranks": len(s.Ranks), "calls": s.CallsRead, "bytes": bytes, "times": about.Metadata["TIMES"], "left_out": losses,
		})
	}
	for _, x := range losses {
		fmt.Fprintf(cmd.ErrOrStderr(), "spoor: export: left out: %s %s\n", show.FormatGrouped(x.Count), x.Reason)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s: %s of %s, %s; times: %s\n", o.out, show.FormatPlural(s.CallsRead, "call"), show.FormatPlural(len(s.Ranks), "rank"), show.FormatBytes(bytes), about.Metadata["TIMES"])
	return nil
}

// manyFiles is the number of ranks above which spoor export --to otf2 warns that it makes two files for each.
const manyFiles = 4096

// source checks the flags that choose what is exported, and returns the choice: ranks, time range and marked phase.
func (o *exportOptions) source(r *trace.Reader) (x ops.Options, err error) {
	x.FromNs, x.ToNs = ops.MinTime, ops.MaxTime
	if o.ranks != "" {
		if x.Ranks, err = parseList(o.ranks, r.Ranks()); err != nil {
			return x, fmt.Errorf("--rank: %w", err)
		}
	}
	if o.from+o.until != "" {
		if err := r.RequireTimes(); err != nil {
			return x, err
		}
	}
	from, until, err := moments(o.from, o.until)
	if err != nil {
		return x, err
	}
	if from != nil {
		x.FromNs = *from
	}
	if until != nil {
		x.ToNs = *until
	}
	x.Phase = o.phase
	return x, checkPhase(o.phase, r, x.Ranks)
}

// aboutRun returns properties of the run as a whole, by key (e.g. COMMAND).
func aboutRun(s *ops.Source) map[string]string {
	about := make(map[string]string)
	for key, name := range map[string]string{
		trace.MetaCommand: "COMMAND", trace.MetaMPILibraryVersion: "MPI", trace.MetaRecorderOptions: "OPTIONS", trace.MetaTimingError: "TIMING_ERROR", trace.MetaClock: "CLOCK",
	} {
		if text := s.Reader.Meta()[key]; text != "" {
			about[name] = text
		}
	}
	kind, err := s.TimeKind()
	if err != nil {
		kind = trace.NoSample
	}
	about["TIMES"] = map[trace.SampleKind]string{
		trace.NoSample: "none: the order of each thread's calls, no more", trace.MeanSample: "approximate: means of calls like it",
		trace.HistogramSample: "approximate: drawn from histograms of calls like it", trace.BoundedSample: "within the error of the recording",
		trace.ExactSample: "exact",
	}[kind]
	return about
}

// through passes the calls of s to writer x and closes the writer. err is the error with which x was made, if any.
func through(s *ops.Source, x interface {
	ops.Sink
	Close() error
}, err error) error {
	if err != nil {
		return err
	}
	if err := s.Run(x); err != nil {
		return err
	}
	return x.Close()
}

func writeOTF2(s *ops.Source, dir string, about convert.Options) error {
	x, err := otf2.NewWriter(s, dir, about)
	return through(s, x, err)
}

// toFile makes a file and has write write it. A second goroutine passes the output on to the file in large pieces.
func toFile(path string, write func(w io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := convert.NewBackgroundWriter(f)
	if err := errors.Join(write(w), w.Close()); err != nil {
		return err
	}
	return f.Close()
}

func writePerfetto(s *ops.Source, path string, about convert.Options) error {
	return toFile(path, func(w io.Writer) error {
		x, err := convert.NewPerfettoWriter(s, w, about)
		if err != nil {
			return err
		}
		return s.Run(x)
	})
}

func writeChrome(s *ops.Source, path string, about convert.Options) error {
	return toFile(path, func(w io.Writer) error {
		x, err := convert.NewChromeWriter(s, w, about)
		return through(s, x, err)
	})
}

func writeCSV(s *ops.Source, dir string, about convert.Options) error {
	f, err := convert.NewCSVWriter(dir)
	return through(s, convert.NewTableWriter(s, f, about), err)
}

func writeParquet(s *ops.Source, dir string, about convert.Options) error {
	f, err := convert.NewParquetWriter(dir)
	return through(s, convert.NewTableWriter(s, f, about), err)
}

func writeParaver(s *ops.Source, dir string, about convert.Options) error {
	x, err := convert.NewParaverWriter(s, dir, about)
	return through(s, x, err)
}

func writeGOAL(s *ops.Source, path string, _ convert.Options) error {
	return toFile(path, func(w io.Writer) error { return traced.WriteGOAL(s, w) })
}

func writeDimemas(s *ops.Source, path string, about convert.Options) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	x, err := convert.NewDimemasWriter(s, f, about.Metadata["COMMAND"])
	return through(s, x, err)
}

func writeSMPI(s *ops.Source, dir string, _ convert.Options) error {
	x, err := convert.NewSMPIWriter(s, dir)
	return through(s, x, err)
}

// marks lists what was found about iterations of the main loop, each with the time at which its first iteration begins.
func marks(s *ops.Source, where *places) (list []convert.TimeMark, err error) {
	w, err := s.Reader.When()
	if err != nil || w == nil || w.Loop == nil {
		return nil, err
	}
	found, err := efficiency.IterationFindings(s.Reader, w, where.atCall)
	if err != nil {
		return nil, err
	}
	x, err := when.NewIterationFinder(s.Reader)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		_, ns, err := x.BeginTimes(f.Rank, f.FirstIteration)
		if err != nil {
			return nil, err
		}
		if f.LastIteration > 0 && len(ns) > 0 && s.InTimeRange(ns[0]) {
			list = append(list, convert.TimeMark{Ns: ns[0] - s.StartNs, Text: f.Text})
		}
	}
	slices.SortStableFunc(list, func(a, b convert.TimeMark) int { return cmp.Compare(a.Ns, b.Ns) })
	return list, nil
}

// aboutTrace returns what output formats include besides calls: properties of the run, and source lines of call sites.
func aboutTrace(s *ops.Source, where *places) convert.Options {
	return convert.Options{Metadata: aboutRun(s), SourceLine: func(s trace.Site) (file string, line int) {
		p := where.of(s)
		if p.Precision == symbolise.PrecisionLine {
			return p.Frames[0].File, p.Frames[0].Line
		}
		return p.ModuleOffset(), 0
	}}
}

// writeAside has write make a file or folder under a temporary name beside path. When that is complete, it takes the
// place of what was at path.
func writeAside(path string, folder bool, write func(path string) error) (err error) {
	path = filepath.Clean(path)
	dir, err := os.MkdirTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "made")
	if folder {
		if err := os.Mkdir(made, 0o777); err != nil {
			return err
		}
	}
	if err := write(made); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		if err := os.Rename(path, filepath.Join(dir, "old")); err != nil {
			return err
		}
	}
	return os.Rename(made, path)
}

// sizeOf returns the size of a file, or the sum of the sizes of all files in a folder.
func sizeOf(path string) (bytes int64, err error) {
	err = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	return bytes, err
}
