//go:build cgo

package main

// #include "../shim/engine.h"
//
// static void host_apart(const struct spoor_host *h) { h->apart(); }
import "C"

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spoor-hpc/spoor/internal/analyse/waits"
	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/trace"
)

// Limits for traces that ranks analyse for waits at the end of the run: larger ones take too long. Sizes are in bytes
// without compression and without times of single calls.
const (
	mostTold       = 1 << 20  // largest size that is sent to all ranks
	mostToldAlways = 64 << 20 // largest size that is sent with --waits always
	mostDistinct   = 20_000   // largest number of distinct calls, summed over classes; no limit with --waits always
)

// findWaits has all ranks find waits and the times of iterations, which rank 0 adds to the trace. If there are
// none, rank 0 adds only the reason. d and c are used on rank 0 only.
func (r *recorder) findWaits(d *deliver.Delivery, c *sections.Content) {
	if r.timing.Waits == timing.WaitsNever && r.timing.WhenSectionBytes <= 0 || r.timing.Mode == timing.ModeNone || os.Getenv("SPOOR_MODEL") != "" {
		return
	}
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt)) // the analysis makes garbage for each call of the trace
	C.host_apart(r.host.c)
	file, left := []byte(nil), trace.WaitsKnown
	if r.host.Rank() == 0 {
		if file, left = r.toTell(d, c); left != trace.WaitsKnown {
			file = nil
		}
	}
	var w *trace.Waits
	var found *trace.When
	err := attempt(func() (err error) {
		w, found, err = r.waits(file, left)
		return err
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "spoor: rank %d: no wait states: %v\n", r.host.Rank(), err)
		w, found = &trace.Waits{Status: trace.WaitsAnalysisFailed}, nil
	}
	if r.host.Rank() > 0 || w == nil && found == nil || d.Path == "" {
		return
	}
	if w != nil && r.timing.Waits != timing.WaitsNever {
		err = trace.AddWaits(d.Path, w)
	}
	if err == nil && found != nil {
		err = trace.AddWhen(d.Path, found)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "spoor: %v\n", err)
	}
}

// tellable reports whether a trace has few enough distinct calls to be sent to all ranks. If not, its content need not
// be kept after writing.
func (r *recorder) tellable(c *sections.Content) bool {
	distinct := 0
	for i := range c.Classes {
		distinct += c.Classes[i].Terminals.Len()
	}
	return r.timing.Waits == timing.WaitsAlways || distinct <= mostDistinct
}

// toTell encodes the trace that is sent to all ranks, without the times of single calls. If it isn't sent, left says
// why, else left is trace.WaitsKnown. c is nil if the trace isn't tellable.
func (r *recorder) toTell(d *deliver.Delivery, c *sections.Content) (file []byte, left trace.WaitsStatus) {
	if c == nil {
		return nil, trace.WaitsTooManyDistinct
	}
	limit := mostTold
	if r.timing.Waits == timing.WaitsAlways {
		limit = mostToldAlways
	}
	err := attempt(func() (err error) {
		file, err = sections.EncodeFileWithoutSeries(c)
		return err
	})
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "spoor: %v\n", err)
		return nil, trace.WaitsAnalysisFailed
	case len(file) > limit:
		return nil, trace.WaitsTooManyDistinct
	}
	return file, trace.WaitsKnown
}

// waits sends file, rank 0's encoded trace, to all ranks, and runs this rank's part of the analysis. If file is empty,
// there is no analysis, because of left.
func (r *recorder) waits(file []byte, left trace.WaitsStatus) (*trace.Waits, *trace.When, error) {
	file, err := waits.BroadcastFromRoot(r.host, file)
	if err != nil {
		return nil, nil, err
	}
	if len(file) == 0 {
		return &trace.Waits{Status: left}, nil, nil
	}
	f := waits.RunEndInput{Log: r.capture.TimeLog()}
	err = attempt(func() (err error) {
		f.Trace, err = trace.ReadBytes(file, "the trace")
		return err
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "spoor: rank %d: %v\n", r.host.Rank(), err)
		f.Trace = nil
	}
	return when.AnalyseRun(r.host, f, r.timing)
}
