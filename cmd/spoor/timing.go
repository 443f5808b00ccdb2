package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/papers/codecs"
	"github.com/spoor-hpc/spoor/trace"
)

type timingOptions struct {
	timing.Options
	errors []string
	ranks  string
	codecs []string
	folder string
	output
}

func newTiming() *cobra.Command {
	var o timingOptions
	var names []string
	for _, c := range series.Codecs() {
		names = append(names, c.Name())
	}
	cmd := &cobra.Command{
		Use:    "timing [flags] [TRACE]",
		Hidden: true,
		Short:  "Compare timing codecs on the times of a trace: bytes, errors, speed",
		Long: `The trace needs --timing lossless. raw is 8 bytes a time; zstd and lossless are
exact; place is spoor's own; cfg, hist-sig (its HIST), sz, zfp and the variants
by signature (-sig) are those of the Pilgrim paper. All lossy codecs have the
same error bound.

  ratio      compared with 8 bytes a time, of gaps and durations
  PSNR       range of the times over their root mean square error, in decibels
  max error  largest error of a time, as a share of it and as a time
  ns         processor time per value
  write      time until the coded times are on the disk, in the folder of TRACE
             or of --write-to; the file is removed again
More: docs/time-codecs.md`,
		Example: `  spoor run --timing lossless mpiexec -n 16 ./app
  spoor timing app.spoor
  spoor timing app.spoor --error 0.01 --error MPI_Waitall=0.2
  spoor timing app.spoor --error 10us --codec place,zfp
  spoor timing app.spoor --codec place,sz --json | jq '.codecs[] | [.codec, .ratio]'`,
		Args: aTrace,
		RunE: oneTrace(func(cmd *cobra.Command, r *trace.Reader) error { return runTiming(cmd, r, o) }),
	}
	f := cmd.Flags()
	f.StringSliceVarP(&o.errors, "error", "e", nil, "error `bound`: a share (5%) or a time (10us); FUNCTION=BOUND for one function (default 10%)")
	f.IntVar(&o.Bins, "bins", 0, "bins of hist-sig, 2 to 256 (default 8)")
	f.IntVar(&o.Sample, "sample", 0, "calls that choose the bins of hist-sig (default 100)")
	f.StringVarP(&o.ranks, "rank", "r", "", "only these `ranks`: 0,4-7,10-")
	f.StringSliceVar(&o.codecs, "codec", nil, "only these `codecs`: "+strings.Join(names, ", "))
	f.StringVar(&o.folder, "write-to", "", "measure writing in this `folder` (default that of TRACE)")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func runTiming(cmd *cobra.Command, r *trace.Reader, o timingOptions) error {
	chosen := series.Codecs()
	if len(o.codecs) > 0 {
		chosen = nil
		for _, name := range o.codecs {
			c, err := series.CodecNamed(name)
			if err != nil {
				return &usageError{cmd, fmt.Errorf("--codec: %w", err)}
			}
			chosen = append(chosen, c)
		}
	}
	if err := parseErrors(&o.Options, o.errors); err != nil {
		return &usageError{cmd, err}
	}
	if err := checkBins(&o.Options); err != nil {
		return &usageError{cmd, err}
	}
	if err := r.NeedTimes(); err != nil {
		return err
	}
	ranks, err := parseList(o.ranks, r.Ranks())
	if err != nil {
		return &usageError{cmd, fmt.Errorf("--rank: %w", err)}
	}
	ranks = slices.DeleteFunc(ranks, func(rank int) bool { return r.ClassOf(rank) < 0 })
	folder := cmp.Or(o.folder, filepath.Dir(r.Name()))
	results := make([]*codecs.Result, len(chosen))
	for i, c := range chosen {
		results[i] = codecs.New(c)
		defer results[i].Close() // after an error
		if err := results[i].WriteTo(folder); err != nil {
			return fmt.Errorf("%w; name a folder to write to by --write-to", err)
		}
	}
	p := newProgress(cmd.ErrOrStderr(), "ranks coded", len(ranks))
	defer p.end()
	for _, rank := range ranks {
		k, err := r.Rank(rank)
		if err != nil {
			return err
		}
		for stream := range k.Streams() {
			for block, err := range codecs.Blocks(k, stream, &o.Options) {
				if err != nil {
					return err
				}
				for i, c := range chosen {
					if err := results[i].Add(c, block); err != nil {
						return fmt.Errorf("%s: rank %d: %w", r.Name(), rank, err)
					}
				}
			}
		}
		p.step()
	}
	p.end()
	for _, x := range results {
		if err := x.Close(); err != nil {
			return err
		}
	}
	return o.print(cmd, timingJSON(r, &o.Options, results), func(w io.Writer) { printTiming(w, &o.Options, len(ranks), results) }, nil)
}

func printTiming(w io.Writer, o *timing.Options, ranks int, results []*codecs.Result) {
	values := int64(0)
	for _, r := range results {
		values = r.Values
	}
	fmt.Fprintf(w, "%s of %s on %s, bound %s", show.Plural(values, "time"), show.Plural(values/2, "call"), show.Plural(ranks, "rank"), o.Bound(""))
	for _, name := range slices.Sorted(maps.Keys(o.Errors)) {
		fmt.Fprintf(w, ", %s %s", name, o.Errors[name])
	}
	fmt.Fprint(w, "\n\n")
	show.Text(w, results, 0, func(c *show.Row, r *codecs.Result) {
		c.Text("codec", r.Codec).Count("bytes", r.Bytes).Decimal("ratio", r.Ratio(), 2)
		c.Decimal("gaps", r.Gaps.Ratio(r), 2).Value("PSNR", decibels(r.Gaps.PSNR(r)))
		c.Decimal("durations", r.Durations.Ratio(r), 2).Value("PSNR", decibels(r.Durations.PSNR(r)))
		c.Value("max error", worstShare(r.Worst)).Ns("", r.WorstNs)
		c.Decimal("encode ns", r.NsPerValue(r.Encode), 0).Value("MB/s", throughput(r, r.Encode))
		c.Decimal("decode ns", r.NsPerValue(r.Decode), 0).Value("MB/s", throughput(r, r.Decode))
		c.Ns("write", float64(r.Write))
	})
}

func decibels(v float64) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return "exact"
	}
	return fmt.Sprintf("%.1f", v)
}

func worstShare(v float64) string {
	if v > 1 { // without bound where a time of 0 came back as another
		return "> 100 %"
	}
	return show.Share(v, 1)
}

// throughput is in MB of raw times a second.
func throughput(r *codecs.Result, d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", codecs.RawBytes*float64(r.Values)/1e6/d.Seconds())
}

func timingJSON(r *trace.Reader, o *timing.Options, results []*codecs.Result) any {
	type list struct {
		Bytes int64    `json:"bytes"`
		Ratio float64  `json:"ratio"`
		PSNR  *float64 `json:"psnr"` // null: exact
	}
	type row struct {
		Codec        string   `json:"codec"`
		Values       int64    `json:"values"`
		Bytes        int64    `json:"bytes"`
		Ratio        float64  `json:"ratio"`
		Gaps         list     `json:"gaps"`
		Durations    list     `json:"durations"`
		MaxError     *float64 `json:"max_relative_error"` // null: a time of 0 came back as another
		MaxErrorNs   float64  `json:"max_error_ns"`
		EncodeNs     float64  `json:"encode_ns_per_value"`
		DecodeNs     float64  `json:"decode_ns_per_value"`
		EncodeMBperS float64  `json:"encode_mb_per_s"`
		DecodeMBperS float64  `json:"decode_mb_per_s"`
		WriteNs      int64    `json:"write_ns"`
	}
	part := func(l *codecs.List, r *codecs.Result) list {
		p := list{Bytes: l.Bytes, Ratio: l.Ratio(r)}
		if v := l.PSNR(r); !math.IsInf(v, 0) && !math.IsNaN(v) {
			p.PSNR = &v
		}
		return p
	}
	speed := func(r *codecs.Result, d time.Duration) float64 {
		return codecs.RawBytes * float64(r.Values) / 1e6 / max(d.Seconds(), 1e-9)
	}
	rows := []row{}
	for _, r := range results {
		rows = append(rows, row{r.Codec, r.Values, r.Bytes, r.Ratio(), part(&r.Gaps, r), part(&r.Durations, r), finite(r.Worst), r.WorstNs,
			r.NsPerValue(r.Encode), r.NsPerValue(r.Decode), speed(r, r.Encode), speed(r, r.Decode), int64(r.Write)})
	}
	errors := map[string]string{}
	for name, bound := range o.Errors {
		errors[name] = bound.String()
	}
	return struct {
		Trace   string            `json:"trace"`
		Error   float64           `json:"error"`    // relative; 0 if it is absolute
		ErrorNs int64             `json:"error_ns"` // absolute; 0 if it is relative
		Errors  map[string]string `json:"errors"`
		Codecs  []row             `json:"codecs"`
	}{r.Name(), o.Bound("").Relative, int64(o.Bound("").Absolute), errors, rows}
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// checkBins checks the options of histograms and of hist-sig.
func checkBins(o *timing.Options) error {
	switch {
	case o.Bins != 0 && (o.Bins < 2 || o.Bins > 256):
		return fmt.Errorf("--bins: %d; want 2 to 256", o.Bins)
	case o.Sample < 0:
		return fmt.Errorf("--sample: %d; want 1 or more", o.Sample)
	}
	return nil
}

// parseErrors adds the values of --error to the options: a bound, or one of a function
// that MPI has.
func parseErrors(o *timing.Options, list []string) error {
	for _, text := range list {
		if err := o.AddError(text); err != nil {
			return fmt.Errorf("--error: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Errors)) {
		if _, ok := mpi.Lookup(name); !ok {
			return fmt.Errorf("--error: MPI has no function %q; spoor profile lists those of a trace", name)
		}
	}
	return nil
}
