package codecs

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/trace"
)

// Text prints the results as a table with a row for each codec.
func Text(w io.Writer, o *timing.Options, ranks int, results []*Result) {
	values := int64(0)
	for _, r := range results {
		values = r.Values
	}
	fmt.Fprintf(w, "%s of %s on %s, bound %s", show.FormatPlural(values, "time"), show.FormatPlural(values/2, "call"), show.FormatPlural(ranks, "rank"), o.Bound(""))
	for _, name := range slices.Sorted(maps.Keys(o.FunctionErrorBounds)) {
		fmt.Fprintf(w, ", %s %s", name, o.FunctionErrorBounds[name])
	}
	fmt.Fprint(w, "\n\n")
	show.WriteText(w, results, 0, func(c *show.Row, r *Result) {
		c.Text("codec", r.Codec).Count("bytes", r.EncodedBytes).Decimal("ratio", r.Ratio(), 2)
		c.Decimal("gaps", r.Gaps.Ratio(r), 2).Value("PSNR", decibels(r.Gaps.PSNR(r)))
		c.Decimal("durations", r.Durations.Ratio(r), 2).Value("PSNR", decibels(r.Durations.PSNR(r)))
		c.Value("max error", worstShare(r.MaxRelativeError)).Ns("", r.MaxErrorNs)
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
	if v > 1 { // infinite: a time of 0 was decoded as another value
		return "> 100 %"
	}
	return show.Percentage(v, 1)
}

// throughput returns the uncompressed size of r's times divided by d, in MB per second.
func throughput(r *Result, d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", RawBytesPerTime*float64(r.Values)/1e6/d.Seconds())
}

// JSON returns the results for JSON output.
func JSON(r *trace.Reader, o *timing.Options, results []*Result) any {
	type list struct {
		Bytes int64    `json:"bytes"`
		Ratio float64  `json:"ratio"`
		PSNR  *float64 `json:"psnr"` // in decibels; null: all decoded times are exact
	}
	type row struct {
		Codec        string   `json:"codec"`
		Values       int64    `json:"values"`
		Bytes        int64    `json:"bytes"`
		Ratio        float64  `json:"ratio"`
		Gaps         list     `json:"gaps"`
		Durations    list     `json:"durations"`
		MaxError     *float64 `json:"max_relative_error"` // null: a time of 0 was decoded as another value
		MaxErrorNs   float64  `json:"max_error_ns"`
		EncodeNs     float64  `json:"encode_ns_per_value"`
		DecodeNs     float64  `json:"decode_ns_per_value"`
		EncodeMBperS float64  `json:"encode_mb_per_s"`
		DecodeMBperS float64  `json:"decode_mb_per_s"`
		WriteNs      int64    `json:"write_ns"`
	}
	part := func(l *ListResult, r *Result) list {
		p := list{Bytes: l.EncodedBytes, Ratio: l.Ratio(r)}
		if v := l.PSNR(r); !math.IsInf(v, 0) && !math.IsNaN(v) {
			p.PSNR = &v
		}
		return p
	}
	speed := func(r *Result, d time.Duration) float64 {
		return RawBytesPerTime * float64(r.Values) / 1e6 / max(d.Seconds(), 1e-9)
	}
	rows := []row{}
	for _, r := range results {
		rows = append(rows, row{r.Codec, r.Values, r.EncodedBytes, r.Ratio(), part(&r.Gaps, r), part(&r.Durations, r), finite(r.MaxRelativeError), r.MaxErrorNs,
			r.NsPerValue(r.Encode), r.NsPerValue(r.Decode), speed(r, r.Encode), speed(r, r.Decode), int64(r.Write)})
	}
	errors := map[string]string{}
	for name, bound := range o.FunctionErrorBounds {
		errors[name] = bound.String()
	}
	return struct {
		Trace   string            `json:"trace"`
		Error   float64           `json:"error"`    // relative bound of an error; 0 if the bound is absolute
		ErrorNs int64             `json:"error_ns"` // absolute bound of an error; 0 if the bound is relative
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

// Measure tries codecs on the times of the given ranks. To measure how long writing takes, it writes the encoded times
// to temporary files in folder. step is called after each rank.
func Measure(r *trace.Reader, ranks []int, list []series.Codec, o *timing.Options, folder string, step func()) ([]*Result, error) {
	results := make([]*Result, len(list))
	for i, c := range list {
		results[i] = New(c)
		defer results[i].Close() // removes the temporary file if Measure returns early, after an error
		if err := results[i].SetWriteFolder(folder); err != nil {
			return nil, fmt.Errorf("%w; name a folder to write to by --write-to", err)
		}
	}
	for _, rank := range ranks {
		k, err := r.Rank(rank)
		if err != nil {
			return nil, err
		}
		for stream := range k.Streams() {
			for block, err := range Blocks(k, stream, o) {
				if err != nil {
					return nil, err
				}
				for i, c := range list {
					if err := results[i].Add(c, block); err != nil {
						return nil, fmt.Errorf("%s: rank %d: %w", r.Name(), rank, err)
					}
				}
			}
		}
		step()
	}
	for _, x := range results {
		if err := x.Close(); err != nil {
			return nil, err
		}
	}
	return results, nil
}
