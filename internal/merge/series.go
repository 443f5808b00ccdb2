package merge

import (
	"bufio"
	"io"

	"github.com/spoor-hpc/spoor/internal/timing/series"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
)

// WriteSeries writes the times of every call of a track, and what was attached to it, for sections.Series. It
// returns how many bytes it wrote; nothing if the track has no such times.
func WriteSeries(tr *track.Track, to io.Writer) (int64, error) {
	if tr == nil || tr.Log == nil {
		return 0, nil
	}
	buffer := bufio.NewWriterSize(to, 1<<16)
	l := tr.Log
	w, err := series.NewWriter(buffer, series.Rank{Mode: l.Options.Mode, TicksPerNs: l.TicksPerNs, StartNs: l.StartNs})
	if err != nil {
		return 0, err
	}
	names, sigs := make([]string, len(tr.Sigs)), make([]series.Signature, len(tr.Sigs))
	for t, s := range tr.Sigs {
		if c, ok := mpi.ByID(s.Call); ok {
			names[t] = c.Name
		}
		sigs[t] = series.Signature{Call: uint64(s.Call), Site: s.Site, Vals: s.Vals}
	}
	of, kinds := series.KindsOf(l.Options, l.TicksPerNs, names, sigs)
	// next returns a function that gives the kinds of a stream's next calls.
	next := func(stream int) func(n int) series.Kinds {
		c := tr.Streams[stream].Grammar.Cursor()
		return func(n int) series.Kinds {
			k := kinds
			k.Of = make([]uint32, n)
			for j := range k.Of {
				t, _ := c.Next()
				k.Of[j] = of[t]
			}
			return k
		}
	}
	for i := range tr.Streams {
		if err := w.Stream(l.Streams[i], next(i)); err != nil {
			return 0, err
		}
	}
	if l.Values != nil {
		if err := w.Names(l.Names); err != nil {
			return 0, err
		}
		for i := range tr.Streams {
			if err := w.Attached(i, l.Values[i], next(i)); err != nil {
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

// A SeriesGathering is what is left to do after a merge: bringing the times of calls, which
// are too large for states, into the trace. It knows which ranks have some; see package deliver.
type SeriesGathering struct {
	Own      bool
	Children []Child // that have some in their blocks
}

// A Child is a block of ranks that a message comes from, that of the first of them.
type Child struct{ From, Width int }

// Needed reports whether the rank has anything to do with it.
func (g *SeriesGathering) Needed() bool { return g.Own || len(g.Children) > 0 }
