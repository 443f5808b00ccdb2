// Package codecs tries timing codecs on times of real calls: how many bytes
// each makes, how far off the values come back, and how long that takes.
//
// It gets the times from traces that have them exactly. How these were recorded
// it does not know.
package codecs

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/trace"
)

// A ListResult is a codec's result for the gaps or the durations.
type ListResult struct {
	EncodedBytes int64 `json:"bytes"` // encoded size of the gaps alone, or of the durations alone
	sum          float64
	least        float64
	most         float64
}

// A Result is a codec's result for all blocks that were added so far.
type Result struct {
	Codec            string     `json:"codec"`
	Values           int64      `json:"values"` // number of gaps and durations
	EncodedBytes     int64      `json:"bytes"`  // size of the gaps and durations, encoded together
	Gaps             ListResult `json:"gaps"`
	Durations        ListResult `json:"durations"`
	MaxRelativeError float64    `json:"max_relative_error"`
	MaxErrorNs       float64    `json:"max_error_ns"`

	Encode time.Duration `json:"encode_ns"`
	Decode time.Duration `json:"decode_ns"`
	Write  time.Duration `json:"write_ns"` // wall time until all encoded times are on the disk

	file *os.File
}

// SetWriteFolder makes Add also write the encoded times to a temporary file in a folder, to measure how long writing takes.
// Close removes the file.
func (r *Result) SetWriteFolder(folder string) (err error) {
	r.file, err = os.CreateTemp(folder, ".spoor-timing-*")
	return err
}

// Close adds to Write the time until the temporary file's data is on the disk, and removes the file.
func (r *Result) Close() error {
	if r.file == nil {
		return nil
	}
	start := time.Now()
	err := r.file.Sync()
	r.Write += time.Since(start)
	err = errors.Join(err, r.file.Close(), os.Remove(r.file.Name()))
	r.file = nil
	return err
}

// RawBytesPerTime is the size of an uncompressed time, for ratios.
const RawBytesPerTime = 8

// Ratio is the compression ratio of gaps and durations together: uncompressed bytes per encoded byte.
func (r *Result) Ratio() float64 {
	return RawBytesPerTime * float64(r.Values) / float64(max(r.EncodedBytes, 1))
}

// Ratio is the compression ratio of one list, which has half of the values of r.
func (l *ListResult) Ratio(r *Result) float64 {
	return RawBytesPerTime * float64(r.Values) / 2 / float64(max(l.EncodedBytes, 1))
}

// PSNR is the peak signal-to-noise ratio in decibels: the range of the values
// over the root of the mean square error. It is infinite without errors.
func (l *ListResult) PSNR(r *Result) float64 {
	return 20 * math.Log10((l.most-l.least)/math.Sqrt(l.sum/(float64(r.Values)/2)))
}

// NsPerValue divides the processor time d by the number of values.
func (r *Result) NsPerValue(d time.Duration) float64 {
	return float64(d.Nanoseconds()) / float64(max(r.Values, 1))
}

// New returns a codec's result to which no block was added yet.
func New(c series.Codec) *Result {
	none := ListResult{least: math.Inf(1), most: math.Inf(-1)}
	return &Result{Codec: c.Name(), Gaps: none, Durations: none}
}

// Add encodes and decodes one more block. It returns an error if the block can't be encoded, decoded or written, or if
// a decoded time differs from the original one by more than its error bound.
func (r *Result) Add(c series.Codec, block Block) error {
	calls, b := block.Calls, block.Batch
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := processor()
	data, err := c.Append(nil, b, &calls)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	middle := processor()
	got, err := c.Decode(data, series.TimeListBoth, &calls)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	r.Encode += middle - start
	r.Decode += processor() - middle
	if r.file != nil {
		begin := time.Now()
		if _, err := r.file.Write(data); err != nil {
			return err
		}
		r.Write += time.Since(begin)
	}
	r.Values += 2 * int64(len(calls.Keys))
	r.EncodedBytes += int64(len(data))
	for _, one := range []struct {
		list      *ListResult
		batch     series.Batch
		want, got []uint64
	}{
		{&r.Gaps, series.Batch{Gaps: b.Gaps}, b.Gaps, got.Gaps},
		{&r.Durations, series.Batch{Durations: b.Durations}, b.Durations, got.Durations},
	} {
		if data, err = c.Append(data[:0], one.batch, &calls); err != nil {
			return fmt.Errorf("%s: %w", c.Name(), err)
		}
		one.list.EncodedBytes += int64(len(data))
		for i, x := range one.want {
			v := float64(x)
			off := math.Abs(float64(one.got[i]) - v)
			one.list.least, one.list.most = min(one.list.least, v), max(one.list.most, v)
			one.list.sum += off * off
			if off > 0 {
				r.MaxRelativeError = max(r.MaxRelativeError, off/v) // +Inf if v is 0
				r.MaxErrorNs = max(r.MaxErrorNs, off/block.TicksPerNs)
			}
			bound := calls.Bound
			if calls.KeyBounds != nil {
				bound = calls.KeyBounds[calls.Keys[i]]
			}
			if off > float64(bound.MaxError(x))*(1+1e-12) {
				return fmt.Errorf("%s: %d came back as %d, bound %+v", c.Name(), x, one.got[i], bound)
			}
		}
	}
	return nil
}

// A Block is the times of consecutive calls that a codec encodes together. Its size is that of recording.
type Block struct {
	Calls      series.CallInfo
	Batch      series.Batch
	TicksPerNs float64
}

// Blocks yields the times of one thread of a rank, in clock ticks. It yields an error if the trace lacks the exact
// times of all calls.
func Blocks(k *trace.Rank, stream int, o *timing.Options) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		for raw, err := range k.RawTimes(stream) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			b := Block{
				Calls:      series.CallInfo{Keys: raw.CallKinds, KindOfKey: raw.KindGroups, Bins: o.Bins, SampleCalls: o.SampleCalls},
				Batch:      series.Batch{Gaps: raw.GapTicks, Durations: raw.DurationTicks},
				TicksPerNs: raw.TicksPerNs,
			}
			for _, name := range raw.KindFunctions {
				b.Calls.KeyBounds = append(b.Calls.KeyBounds, series.TicksBound(o.Bound(name), raw.TicksPerNs))
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}
