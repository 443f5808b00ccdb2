package merge

import (
	"bufio"
	"io"

	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
)

// WriteCallTimes writes the times of every call of a track, and the values attached to it, for sections.Series. It
// returns how many bytes it wrote; 0 if the track has no such times.
func WriteCallTimes(tr *track.Track, to io.Writer) (int64, error) {
	if tr == nil || tr.TimeLog == nil {
		return 0, nil
	}
	buffer := bufio.NewWriterSize(to, 1<<16)
	l := tr.TimeLog
	w, err := series.NewWriter(buffer, series.RankInfo{Mode: l.Options.Mode, TicksPerNs: l.TicksPerNs, StartNs: l.StartNs})
	if err != nil {
		return 0, err
	}
	names, sigs := make([]string, len(tr.Signatures)), make([]series.CallIdentity, len(tr.Signatures))
	for t, s := range tr.Signatures {
		if c, ok := mpi.CallByID(s.FunctionID); ok {
			names[t] = c.Name
		}
		sigs[t] = series.CallIdentity{FunctionID: uint64(s.FunctionID), SiteID: s.Site, Vals: s.Values}
	}
	of, kinds := series.CallKindsOf(l.Options, l.TicksPerNs, names, sigs)
	// next returns a function that gives the kinds of a stream's next calls.
	next := func(stream int) func(n int) series.SimilarCallKinds {
		c := tr.Streams[stream].Grammar.Cursor()
		return func(n int) series.SimilarCallKinds {
			k := kinds
			k.KindOfCall = make([]uint32, n)
			for j := range k.KindOfCall {
				t, _ := c.Next()
				k.KindOfCall[j] = of[t]
			}
			return k
		}
	}
	for i := range tr.Streams {
		if err := w.WriteStream(l.Streams[i], next(i)); err != nil {
			return 0, err
		}
	}
	if l.AttachedNumbers != nil {
		if err := w.WriteAttachedNames(l.AttachedNames); err != nil {
			return 0, err
		}
		for i := range tr.Streams {
			if err := w.WriteAttached(i, l.AttachedNumbers[i], next(i)); err != nil {
				return 0, err
			}
		}
	}
	n, err := w.Close()
	if err != nil {
		return 0, err
	}
	return n, buffer.Flush()
}

// A SeriesGathering is the work that remains after a merge: moving the times of calls, which are too large for
// states, into the trace. It records which ranks have such times; see package deliver.
type SeriesGathering struct {
	HasOwnTimes bool
	Children    []ChildBlock // children with such times in their blocks
}

// A ChildBlock is the block of ranks that a message covers. Its first rank sends the message.
type ChildBlock struct{ FirstRank, RankCount int }

// IsNeeded reports whether the rank takes part in gathering.
func (g *SeriesGathering) IsNeeded() bool { return g.HasOwnTimes || len(g.Children) > 0 }
