package reduce

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/when"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A Selection selects calls of a trace. All fields that are set must hold.
type Selection struct {
	FromNs, UntilNs              *int64    // calls that end after FromNs and begin before UntilNs, in ns after the run's first call
	Phase                        string    // calls in marked phases of this name; "": all
	Loop                         string    // calls in iterations of a loop: "main", or the call that begins an iteration; "": all
	FirstIteration, EndIteration uint64    // if Loop is set: iterations, from 0, without EndIteration itself
	WithoutInit                  bool      // calls after MPI_Init and before MPI_Finalize
	SiteNamer                    SiteNamer // names call sites, for Loop
	// IterationSites are the calls that begin iterations, if Loop names a loop's place or function.
	IterationSites map[trace.FunctionSite]bool

	found      bool                  // some thread has iterations of the loop
	begins     *trace.Call           // the call that begins an iteration, on the first rank with the loop
	iterations *when.IterationFinder // iterations of the main loop
}

// A SiteNamer returns the text by which users name a call site.
type SiteNamer func(function string, s trace.Site) string

// IsWholeRun reports whether the selection is the whole run.
func (w *Selection) IsWholeRun() bool {
	return w.FromNs == nil && w.UntilNs == nil && w.Phase == "" && w.Loop == "" && !w.WithoutInit
}

func (w *Selection) String() string {
	var list []string
	if w.FromNs != nil {
		list = append(list, "from "+show.FormatDuration(float64(*w.FromNs)))
	}
	if w.UntilNs != nil {
		list = append(list, "until "+show.FormatDuration(float64(*w.UntilNs)))
	}
	if w.Phase != "" {
		list = append(list, "phase "+w.Phase)
	}
	if w.Loop != "" {
		list = append(list, w.whichRounds())
	}
	if w.WithoutInit {
		list = append(list, "between MPI_Init and MPI_Finalize")
	}
	return strings.Join(list, ", ")
}

func (w *Selection) whichRounds() string {
	if w.FirstIteration == 0 && w.EndIteration == math.MaxUint64 {
		return "all iterations of loop " + w.Loop
	}
	end := ""
	if w.EndIteration != math.MaxUint64 {
		end = strconv.FormatUint(w.EndIteration, 10)
	}
	return fmt.Sprintf("iterations %d:%s of loop %s", w.FirstIteration, end, w.Loop)
}

// spans returns the selected spans by rank and stream, in rising order.
func (w *Selection) spans(r *trace.Reader) ([][][]ops.CallRange, error) {
	if w.FromNs != nil || w.UntilNs != nil {
		if err := r.RequireTimes(); err != nil {
			return nil, err
		}
	}
	var zero int64
	if r.HasTimes() {
		var err error
		if zero, _, err = r.TimeExtent(); err != nil {
			return nil, err
		}
	}
	all := make([][][]ops.CallRange, r.Ranks())
	rounds := false
	for k, err := range r.RanksWithTrack() {
		if err != nil {
			return nil, err
		}
		for stream := range k.Streams() {
			list, found, err := w.of(r, k, stream, zero)
			if err != nil {
				return nil, err
			}
			rounds = rounds || found
			all[k.Number()] = append(all[k.Number()], list)
		}
	}
	if w.Loop != "" && !rounds {
		if w.Loop == MainLoop {
			return nil, errors.New("no rank has a loop")
		}
		return nil, errors.New("no rank has such a loop; spoor calltree shows which there are")
	}
	return all, nil
}

// CallRangesOf returns the selected spans of a thread, in rising order.
func (w *Selection) CallRangesOf(r *trace.Reader, k *trace.Rank, stream int) ([]ops.CallRange, error) {
	zero := int64(0)
	if w.FromNs != nil || w.UntilNs != nil {
		var err error
		if err = r.RequireTimes(); err == nil {
			zero, _, err = r.TimeExtent()
		}
		if err != nil {
			return nil, err
		}
	}
	list, _, err := w.of(r, k, stream, zero)
	return list, err
}

// LoopFound reports whether a thread passed to SpansOf so far has iterations of Loop.
func (w *Selection) LoopFound() bool { return w.Loop == "" || w.found }

// of returns the selected part of a thread, and whether the thread has the loop.
func (w *Selection) of(r *trace.Reader, k *trace.Rank, stream int, zero int64) (list []ops.CallRange, found bool, err error) {
	list = []ops.CallRange{{End: k.CallCount(stream)}}
	if w.WithoutInit {
		list = both(list, []ops.CallRange{inner(k, stream)})
	}
	if w.FromNs != nil || w.UntilNs != nil {
		s, err := w.timed(k, stream, zero)
		if err != nil {
			return nil, false, err
		}
		list = both(list, []ops.CallRange{s})
	}
	if w.Phase != "" {
		p, err := ops.PhasesOf(k, stream, w.Phase)
		if err != nil {
			return nil, false, err
		}
		list = both(list, slices.Collect(p.All()))
	}
	if w.Loop != "" {
		var s ops.CallRange
		if s, found, err = w.rounds(r, k, stream); err != nil {
			return nil, false, err
		}
		list = both(list, []ops.CallRange{s})
	}
	return list, found, nil
}

// both returns the intersection of two lists of spans.
func both(a, b []ops.CallRange) (out []ops.CallRange) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if s := (ops.CallRange{First: max(a[i].First, b[j].First), End: min(a[i].End, b[j].End)}); s.First < s.End {
			out = append(out, s)
		}
		if a[i].End < b[j].End {
			i++
		} else {
			j++
		}
	}
	return out
}

// inner returns the calls of a thread after the last MPI_Init and before the first MPI_Finalize.
func inner(k *trace.Rank, stream int) ops.CallRange {
	are := func(a mpi.Attr) *trace.Occurrences {
		return k.Occurrences(stream, func(t int) bool {
			c := k.CallWithoutParams(t)
			def, known := mpi.CallNamed(c.Name())
			return known && def.Has(a)
		})
	}
	s := ops.CallRange{End: k.CallCount(stream)}
	if x := are(mpi.AttrInitialises); x.Total() > 0 {
		at, _ := x.Nth(x.Total() - 1)
		s.First = at + 1
	}
	if x := are(mpi.AttrFinalises); x.Total() > 0 {
		s.End, _ = x.Nth(0)
	}
	return s
}

// timed finds the calls of a stream that end after FromNs and begin before UntilNs.
func (w *Selection) timed(k *trace.Rank, stream int, zero int64) (ops.CallRange, error) {
	s := ops.CallRange{End: k.CallCount(stream)}
	if w.FromNs != nil {
		m, err := k.MomentAt(stream, zero+*w.FromNs)
		if err != nil {
			return s, err
		}
		if c := m.LastBegunCall; c.Call != nil {
			s.First = c.Index
			if c.EndNs() <= zero+*w.FromNs {
				s.First++
			}
		}
	}
	if w.UntilNs != nil {
		m, err := k.MomentAt(stream, zero+*w.UntilNs-1)
		if err != nil {
			return s, err
		}
		s.End = 0
		if c := m.LastBegunCall; c.Call != nil {
			s.End = c.Index + 1
		}
	}
	s.End = max(s.End, s.First)
	return s, nil
}
