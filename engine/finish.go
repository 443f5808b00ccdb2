//go:build cgo

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"spoor/internal/launch"
	"spoor/internal/merge"
	"spoor/internal/timing"
	"spoor/internal/track"
	"spoor/internal/version"
	"spoor/trace"
)

// finish ends the recording with all other ranks. A rank in trouble takes part
// all the same: the others wait for it.
func (r *recorder) finish() error {
	table, err := r.clocks.finish(r.host)
	if err != nil {
		// Everything else can still be kept, unless MPI is broken.
		fmt.Fprintf(os.Stderr, "spoor: rank %d: %v\n", r.host.Rank(), err)
	}
	own, trouble := r.track()
	timed := own
	if own != nil && own.Log == nil {
		timed = nil // the merge is through with it at once, and it may be large
	}
	s, g, err := merge.MergeFirst(r.host, own)
	if err != nil {
		return errors.Join(trouble, err)
	}
	var series *trace.Series
	if g.Needed() {
		if series, err = r.gather(g, timed); err != nil {
			// The rest of the trace is whole.
			fmt.Fprintf(os.Stderr, "spoor: rank %d: the times of its calls are lost: %v\n", r.host.Rank(), err)
		}
	}
	if trouble != nil {
		return trouble
	}
	if s != nil {
		if err := r.write(s, series, table); err != nil {
			return err
		}
	}
	r.done = true
	return nil
}

func (r *recorder) track() (*track.Track, error) {
	if err := r.drain(); err != nil {
		return nil, err
	}
	r.capture.Calibrate(r.host.clockPair())
	// What is large must not be in memory twice. Should the merge fail, it is in the
	// process directory.
	large := r.capture.Held() > muchHeld
	if large {
		r.capture.Checkpoint()
	}
	t, err := r.capture.Track(track.Finished)
	if large && err == nil {
		r.capture.Release()
	}
	return t, err
}

// muchHeld is how many bytes a capture may hold on to while ranks are merged.
const muchHeld = 4 << 20

// write makes the trace file. SPOOR_OUT names it; a file that is there is kept
// unless SPOOR_FORCE is 1.
func (r *recorder) write(s *merge.State, series *trace.Series, clocks *trace.Clocks) error {
	meta := map[string]string{
		trace.MetaCommand:  launch.Quote(r.context.Args),
		trace.MetaMPI:      r.context.Flavour.String(),
		trace.MetaLibrary:  r.context.Library,
		trace.MetaClock:    r.host.clock(),
		trace.MetaStart:    strconv.FormatInt(r.context.StartNs, 10),
		trace.MetaProducer: version.Number,
	}
	if e := os.Getenv(timing.ErrorsVariable); e != "" {
		meta[trace.MetaTimingError] = e
	}
	if options := spoorOptions(os.Environ()); options != "" {
		meta[trace.MetaOptions] = options
	}
	c, err := s.Content(meta)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	c.Series, c.Clocks = series, clocks
	wanted := r.wanted()
	if os.Getenv("SPOOR_FORCE") == "1" {
		return trace.WriteFile(wanted, c, true)
	}
	for n := 1; ; n++ {
		name := numbered(wanted, n)
		err := trace.WriteFile(name, c, false)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err == nil && n > 1 {
			fmt.Fprintf(os.Stderr, "spoor: %s exists, the trace is %s\n", wanted, name)
		}
		return err
	}
}

// wanted is the name that the trace should have.
func (r *recorder) wanted() string {
	if name := os.Getenv("SPOOR_OUT"); name != "" {
		return name
	}
	return filepath.Base(r.context.Exe) + ".spoor"
}

// numbered is app.spoor, app-2.spoor, app-3.spoor, ….
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ext), n, ext)
}

// spoorOptions lists the settings that decide what is recorded.
func spoorOptions(env []string) string {
	var list []string
	for _, v := range env {
		for _, name := range []string{"SPOOR_ALLOC_MIN=", "SPOOR_START_OFF=", "SPOOR_RING=", "SPOOR_STACK=", "SPOOR_PLUGIN=", "SPOOR_COUNTERS=", "SPOOR_TIMING", "SPOOR_CLOCK_SKEW="} {
			if strings.HasPrefix(v, name) {
				list = append(list, v)
			}
		}
	}
	return strings.Join(list, " ")
}
