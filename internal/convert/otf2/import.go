package otf2

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace/model"
)

// ImportOptions control an import.
type ImportOptions struct {
	Timing   timing.Options  // times to keep
	Producer string          // version of the program that imports
	Progress func(ranks int) // called with 1 after each of the two passes over a rank's events
	Begin    func(ranks int) // called with the number of ranks
}

// An Import is the result of an import.
type Import struct {
	Content *sections.Content
	Calls   uint64
	Notes   ops.Losses // what the archive lacks, and what was assumed
	close   func()
}

// Close closes the files that the content is read from.
func (i *Import) Close() { i.close() }

// Read reads an archive of the Open Trace Format 2: its anchor file, or the folder that it is in.
func Read(path string, o ImportOptions) (*Import, error) {
	w, err := newWorld(path)
	if err != nil {
		return nil, err
	}
	if err := w.findComms(); err != nil {
		return nil, fmt.Errorf("%s: %w", w.a.Path, err)
	}
	if o.Begin != nil {
		o.Begin(len(w.ranks))
	}
	if o.Progress == nil {
		o.Progress = func(int) {}
	}
	all, err := w.scanAll(func() { o.Progress(1) })
	if err != nil {
		return nil, err
	}
	w.assignComms()
	return w.write(all, o)
}

func (w *world) write(all *outcomes, o ImportOptions) (x *Import, err error) {
	began := int64(0)
	if b := w.a.Clock.StartUnixNs; b != math.MaxUint64 && b < 1<<62 {
		began = int64(b)
		if w.first >= w.a.Clock.Offset {
			began += int64(w.ns(w.first - w.a.Clock.Offset))
		}
	}
	c, err := trackwriter.NewCollector(len(w.ranks), o.Timing)
	if err != nil {
		return nil, err
	}
	x = &Import{Notes: w.notes, close: c.Close}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	for _, k := range w.ranks {
		if err := w.track(k, all, began, c); err != nil {
			return nil, fmt.Errorf("rank %d: %w", k.number, err)
		}
		x.Calls += k.calls
		o.Progress(1)
	}
	x.Content, err = c.Content(w.meta(began, o))
	return x, err
}

// track makes the track of a rank.
func (w *world) track(k *rank, all *outcomes, began int64, to *trackwriter.Collector) error {
	first := uint64(0)
	if k.first > w.first {
		first = w.ns(k.first - w.first)
	}
	out := trackwriter.NewWriter(k.number, first)
	defer out.Close()
	r := &recorder{
		w: w, k: k, all: all, out: out, layouts: make(map[*mpi.Call]signature.Layout), comms: make(map[*comm]int64),
		windows: make(map[uint32]int64), files: make(map[uint32]int64), requests: make(map[uint64]request), transfers: make(map[transferKey]request),
	}
	r.empty = r.out.AddString("")
	if err := r.run(); err != nil {
		return err
	}
	span := int64(0)
	if k.last > k.first {
		span = int64(w.ns(k.last - k.first))
	}
	return to.Add(out, track.Process{Host: k.host, EndState: w.end(k), StartNs: began + int64(first), SpanNs: span})
}

// end returns how a rank ended. If no rank has MPI_Init or MPI_Finalize, the tool (such as EZTrace) does not record
// them. Then all ranks with calls count as finished.
func (w *world) end(k *rank) string {
	switch {
	case k.finished:
		return track.EndFinished
	case slices.Contains(k.off, true): // the end may be unrecorded, like all else
		w.notes.Add("ranks without MPI_Finalize, as recording was switched off: taken for finished", 1)
		return track.EndFinished
	case k.calls > 0 && !w.bounds:
		w.notes.Add("ranks without MPI_Init or MPI_Finalize: taken for finished", 1)
		return track.EndFinished
	}
	return track.EndCrashed
}

func (w *world) meta(began int64, o ImportOptions) map[string]string {
	a := w.a
	command := cmp.Or(a.Properties["SPOOR::COMMAND"], w.command, a.Description, filepath.Base(filepath.Dir(a.Path)))
	m := map[string]string{
		model.MetaCommand: command, model.MetaProducer: o.Producer, model.MetaStart: strconv.FormatInt(began, 10),
		model.MetaImportFormat: "otf2", model.MetaRecorderOptions: "timing=" + string(o.Timing.Mode),
	}
	if lib := a.Properties["SPOOR::MPI"]; lib != "" {
		m[model.MetaMPILibraryVersion] = lib
	}
	if a.Creator != "" {
		m[model.MetaImportFormat] += ", written by " + a.Creator
	}
	names := slices.Sorted(maps.Keys(w.notes))
	if t := a.Properties["SPOOR::TIMES"]; t != "" && t != "exact" {
		m[model.MetaNotePrefix+".times"] = "times are not those of the calls, but as they were exported: " + t
	}
	for i, n := range names {
		m[fmt.Sprintf("%s.import.%d", model.MetaNotePrefix, i)] = fmt.Sprintf("%d: %s", w.notes[n], n)
	}
	return m
}
