package recover

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/merge"
	"github.com/spoor-hpc/spoor/internal/record/capture"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/trace"
)

// ErrNoRecords is returned if no process of a world left readable records.
var ErrNoRecords = errors.New("no records that can be read")

// Content merges the records of a world's processes into a trace's content. producer names the program's version.
func (w *World) Content(producer string) (*sections.Content, error) {
	var tracks []*track.Track
	var first *capture.Context
	for _, p := range w.Processes {
		if p.Track == nil {
			continue
		}
		if first == nil {
			first = p.Context
		}
		tracks = append(tracks, p.Track)
	}
	if first == nil {
		return nil, ErrNoRecords
	}
	s, err := merge.MergeAll(tracks, w.Ranks)
	if err != nil {
		return nil, err
	}
	c, err := s.Content(w.meta(first, producer))
	if err != nil {
		return nil, err
	}
	c.NoTimes = !slices.ContainsFunc(tracks, func(tr *track.Track) bool { return !tr.Timeless })
	var errs timing.Options
	for _, tr := range tracks {
		if tr.TimeLog != nil {
			errs = tr.TimeLog.Options
		}
	}
	for _, v := range errs.Environment() {
		if v[0] == timing.ErrorsVariable {
			c.Meta[trace.MetaTimingError] = v[1]
		}
	}
	c.Series, err = seriesOf(tracks, c.Ranks)
	return c, err
}

// seriesOf combines the times of all calls of the tracks, in rank order; nil without any. They are in a temporary
// file without a name.
func seriesOf(tracks []*track.Track, ranks int) (*sections.Series, error) {
	byRank := make([]*track.Track, ranks)
	any := false
	for _, tr := range tracks {
		byRank[tr.Rank] = tr
		any = any || tr.TimeLog != nil
	}
	if !any {
		return nil, nil
	}
	f, err := sections.CreateSeriesTempFile()
	if err != nil {
		return nil, err
	}
	s := &sections.Series{Data: f, Sizes: make([]int64, ranks)}
	for rank, tr := range byRank {
		if s.Sizes[rank], err = merge.WriteCallTimes(tr, f); err != nil {
			return nil, fmt.Errorf("rank %d: %w", rank, err)
		}
	}
	return s, nil
}

// AddAnalyses analyses the waits and the iterations up to the processes' end, from the recorded times, and adds the
// results to the world's trace.
func (w *World) AddAnalyses(r *trace.Reader) error {
	logs, some := make([]*track.TimeLog, r.Ranks()), false
	for _, p := range w.Processes {
		if p.Track != nil && p.Track.Rank < len(logs) {
			logs[p.Track.Rank] = p.Track.AnalysisTimeLog
			some = some || p.Track.AnalysisTimeLog != nil
		}
	}
	if !some {
		return nil
	}
	waited, found, err := when.AnalyseLogs(r, logs)
	if err == nil && waited != nil {
		err = trace.AddWaits(r.Name(), waited)
	}
	if err == nil && found != nil {
		err = trace.AddWhen(r.Name(), found)
	}
	return err
}

func (w *World) meta(c *capture.Context, producer string) map[string]string {
	m := map[string]string{
		trace.MetaCommand:           show.QuoteCommand(c.Args),
		trace.MetaMPIFlavour:        c.Flavour.String(),
		trace.MetaMPILibraryVersion: c.Library,
		trace.MetaStart:             strconv.FormatInt(c.StartNs, 10),
		trace.MetaProducer:          producer,
	}
	if len(c.Layers) > 0 {
		m[trace.MetaWrapperLibraries] = strings.Join(c.Layers, "\n")
	}
	if c.SessionsOnly && c.Library == "" { // a program that never used MPI
		delete(m, trace.MetaMPIFlavour)
		delete(m, trace.MetaMPILibraryVersion)
	}
	n := 0
	problem := func(format string, args ...any) {
		m[fmt.Sprintf("%s.recover.%d", trace.MetaProblemPrefix, n)] = fmt.Sprintf(format, args...)
		n++
	}
	for _, p := range w.Processes {
		if p.Damage != nil {
			problem("rank %d: %v", p.Context.Rank, p.Damage)
		}
	}
	switch missing := w.Missing(); len(missing) {
	case 0:
	case 1:
		problem("rank %d: no process directory", missing[0])
	default:
		problem("ranks %s: no process directories", show.FormatRanges(missing))
	}
	return m
}
