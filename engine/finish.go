//go:build cgo

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/sites/sums"

	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"

	"github.com/spoor-hpc/spoor/trace"
)

// finish ends the recording together with all other ranks. A rank with an error takes part, too, as the others wait
// for it. whole reports whether everything recorded is in the trace.
func (r *recorder) finish() (whole bool, err error) {
	r.finished = true
	began := time.Now()
	if r.capture != nil {
		r.capture.SetAllArrivedTicks(r.host.ticks()) // the shim calls finish only after an exchange with all ranks
	}
	table, err := r.clocks.finish(r.host)
	if err != nil {
		// Without compared clocks the trace is still useful, so go on.
		fmt.Fprintf(os.Stderr, "spoor: rank %d: %v\n", r.host.Rank(), err)
	}
	var own *track.Track
	trouble := attempt(func() (err error) {
		own, err = r.track()
		return err
	})
	timed := own
	if own != nil && own.TimeLog == nil {
		timed = nil // the track isn't needed after the merge, which can then free it early, as it may be large
	}
	s, g, err := merge.MergeAndPlanGathering(r.host, own, trouble)
	giveBack()
	if err != nil {
		trouble = errors.Join(trouble, err)
		g = &merge.SeriesGathering{}
	}
	closing := func() error { return nil }
	k := &deliver.RankPart{Transport: r.host, SeriesGathering: g, Host: clockID(r.host.Rank())}
	if g.HasOwnTimes {
		k.MissingTimesReason = attempt(func() (err error) {
			var file io.Closer
			if k.Times, file, err = r.piece(timed); err == nil {
				closing = file.Close
			}
			return err
		})
	}
	defer closing()
	if r.host.Rank() > 0 {
		if whole, err = deliver.DeliverOnRank(k); whole && err == nil {
			r.findWaits(nil, nil)
		}
		return whole, errors.Join(trouble, err)
	}
	var content *sections.Content
	places := r.places()
	d := deliver.DeliverOnRoot(k, func(times *sections.Series) (c *sections.Content, all bool, err error) {
		err = attempt(func() (err error) {
			c, err = r.content(s)
			return err
		})
		if err == nil {
			if c.Series = times; !oneHost(table, &c.Processes) {
				c.Clocks = table
			}
			c.MergeNs = int64(time.Since(began))
			if r.tellable(c) {
				content = c
			}
		}
		return c, err == nil && len(s.Problems) == 0, err
	}, places)
	if d.Complete {
		r.findWaits(&d, content)
	}
	r.tell(d, places)
	return d.Complete, trouble
}

// attempt calls f and returns its error. It converts a panic to an error: this rank must go on, as other ranks wait for
// its messages.
func attempt(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("engine: %v at %s", p, whence(debug.Stack()))
		}
	}()
	return f()
}

func (r *recorder) track() (*track.Track, error) {
	if err := r.drain(); err != nil {
		return nil, err
	}
	r.capture.Calibrate(r.host.clockPair())
	if r.timing.Mode.NeedsLog() {
		return r.capture.Track(track.EndFinished) // not TrackSavingMemory: it may free the distinct calls, which writing the times of single calls needs
	}
	return r.capture.TrackSavingMemory(track.EndFinished)
}

// content makes the content of the trace from the merged tracks s, with metadata on rank 0's program and MPI.
func (r *recorder) content(s *merge.MergedBlock) (*sections.Content, error) {
	meta := map[string]string{
		trace.MetaCommand:           show.QuoteCommand(r.context.Args),
		trace.MetaMPIFlavour:        r.context.Flavour.String(),
		trace.MetaMPILibraryVersion: r.context.Library,
		trace.MetaClock:             r.host.clock(),
		trace.MetaStart:             strconv.FormatInt(r.context.StartNs, 10),
		trace.MetaProducer:          show.Version,
	}
	if scratch := os.Getenv("SPOOR_SCRATCH"); scratch != "" && os.Getenv("SPOOR_LINK") == "" {
		meta[deliver.MetaRun] = deliver.RunName(scratch)
	}
	if e := os.Getenv(timing.ErrorsVariable); e != "" {
		meta[trace.MetaTimingError] = e
	}
	if options := spoorOptions(os.Environ()); options != "" {
		meta[trace.MetaRecorderOptions] = options
	}
	if len(r.context.Layers) > 0 {
		meta[trace.MetaWrapperLibraries] = strings.Join(r.context.Layers, "\n")
	}
	for name, value := range deliver.DecodeTags(os.Getenv(deliver.TagsVariable)) {
		meta[trace.MetaRunTagPrefix+name] = value
	}
	if s == nil {
		return nil, errors.New("engine: nothing was merged")
	}
	c, err := s.Content(meta)
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	c.NoTimes = r.timing.Mode == timing.ModeNone
	giveBack()
	return c, nil
}

// summarise prints a line about the trace, unless a spoor run process is waiting to do it. None is waiting if a
// launcher started spoor run for each rank: these processes became the ranks.
func summarise(name string) {
	if os.Getenv("SPOOR_TELL") != "1" {
		return
	}
	t, err := trace.Open(name)
	if err != nil {
		fmt.Fprintf(os.Stderr, "spoor: %v\n", err)
		return
	}
	defer t.Close()
	s, err := sums.SummariseBriefly(t)
	if err != nil {
		fmt.Fprintf(os.Stderr, "spoor: %s: %v\n", name, err)
		return
	}
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, name); err == nil && !strings.HasPrefix(rel, "..") {
			name = rel
		}
	}
	fmt.Fprintf(os.Stderr, "spoor: %s: %s, %s, %s; see: spoor info %s\n", name, show.FormatPlural(int64(s.Ranks), "rank"),
		show.FormatPlural(s.Calls, "call"), show.FormatBytes(s.FileBytes), name)
}

// wanted returns the trace's file name: SPOOR_OUT, else the program's name with .spoor.
func (r *recorder) wanted() string {
	if name := os.Getenv("SPOOR_OUT"); name != "" {
		return name
	}
	return filepath.Base(r.context.Exe) + ".spoor"
}

// scratch returns the path of this run's scratch folder: SPOOR_SCRATCH, else a folder named after the process id. It
// may not exist.
func (r *recorder) scratch() string {
	named := os.Getenv("SPOOR_SCRATCH")
	if named != "" && filepath.IsAbs(named) {
		return named
	}
	dir := "/tmp"
	if r.host.dir() != "" {
		dir = filepath.Dir(r.host.dir())
	}
	return filepath.Join(dir, fmt.Sprintf("spoor-%d", r.context.PID))
}

// places lists possible locations of the trace. SPOOR_OUT is first; an existing file there is kept unless
// SPOOR_FORCE is 1. If a recorded program started this one, SPOOR_OUT is left to that program, and this
// trace's name gets a number.
func (r *recorder) places() []deliver.Destination {
	wanted := r.wanted()
	if abs, err := filepath.Abs(wanted); err == nil {
		wanted = abs
	}
	nested := deliver.StartedByRecordedProgram(r.host.dir())
	list := deliver.Destinations(wanted, os.Getenv("SPOOR_FORCE") == "1" && !nested, r.scratch())
	for i := range list {
		list[i].NumberedNameOnly = nested
	}
	return list
}

// probe checks on rank 0, at the start of the run, that the trace can be written, and prints if it can't. It is not
// needed if spoor run has checked that on this host.
func (r *recorder) probe() {
	if host, err := os.Hostname(); r.host.Rank() > 0 || err == nil && os.Getenv(deliver.ProbingHostVariable) == host {
		return
	}
	places := r.places()
	if err := deliver.ProbeDestinations(places[0].Name); err != nil {
		fmt.Fprintf(os.Stderr, "spoor: %v; the trace will be %s\n", err, places[1].Name)
	}
}

// tell completes a written trace: reduces it or adds the code's functions and loops. It prints where the trace is, or
// why there is no trace and where the records are.
func (r *recorder) tell(d deliver.Delivery, places []deliver.Destination) {
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, "spoor: "+format+"\n", args...) }
	wanted := places[0].Name
	if d.MissingTimesReason != nil {
		say("times of calls are missing in the trace, the ranks' records are kept: %v", d.MissingTimesReason)
	}
	if d.Path != "" && thinned(d.Path) {
		return
	}
	switch {
	case d.Path == "":
		for _, err := range d.DestinationErrors {
			say("no trace: %v", err)
		}
		dir := filepath.Dir(r.host.dir())
		if r.host.dir() == "" {
			say("what the ranks recorded is lost, as there was no room for scratch directories either")
			break
		}
		say("what the ranks recorded is kept in %s on their nodes; make a trace of it: %s", dir, show.QuoteCommand([]string{"spoor", "recover", "-o", wanted, dir}))
	case d.DestinationIndex > 0:
		say("can't write %s: %v; the trace is %s", wanted, deliver.CauseWithoutTempNames(d.DestinationErrors[0]), d.Path)
		say("bring it home: %s", deliver.MoveTraceCommand(d.Path, wanted))
	case d.Path != wanted && places[0].NumberedNameOnly:
		say("%s is for the program that started %s, whose trace is %s", wanted, filepath.Base(r.context.Exe), d.Path)
	case d.Path != wanted:
		say("%s exists, the trace is %s", wanted, d.Path)
	}
	if d.Path != "" {
		addCode(d.Path)
		summarise(d.Path)
	}
}

// spoorOptions lists the environment variables in env that affect what is recorded, with their values.
func spoorOptions(env []string) string {
	var list []string
	for _, v := range env {
		for _, name := range []string{"SPOOR_ALLOC_MIN=", "SPOOR_START_OFF=", "SPOOR_RING=", "SPOOR_STACK=", "SPOOR_LOOP_COUNTERS=", "SPOOR_PLUGIN=", "SPOOR_COUNTERS=", "SPOOR_TIMING", "SPOOR_CLOCK_SKEW="} {
			if strings.HasPrefix(v, name) {
				list = append(list, v)
			}
		}
	}
	return strings.Join(list, " ")
}
