package report

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/analyse/files"
	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/sites/sums"
	"github.com/spoor-hpc/spoor/trace"
)

// An MPIIOFile is the use of a file through MPI-IO.
type MPIIOFile struct {
	Name    string   `json:"name"`
	Opens   int      `json:"opens"` // collective opens count once
	Ranks   int      `json:"ranks"`
	Read    Transfer `json:"read"`
	Write   Transfer `json:"write"`
	MetaNs  int64    `json:"meta_ns"` // ns of all ranks in calls that open, close and set up
	StartNs int64    `json:"from"`    // begin of the first call with the file, in ns since the start of the timeline
	EndNs   int64    `json:"to"`
}

// A Transfer is the data moved in one direction.
type Transfer struct {
	Calls         uint64 `json:"calls"`
	Bytes         uint64 `json:"bytes"`
	Ns            int64  `json:"ns"`      // ns of all ranks in these calls
	AnyRankNs     int64  `json:"busy_ns"` // ns in which at least one rank was in such a call
	SizeHistogram []int  `json:"sizes"`   // number of calls with 0 bytes, then, at index i, with 2^(i-1) to 2^i - 1 bytes
}

// Bounds of files.
const (
	maxFiles     = 200
	maxFileCalls = 1 << 24 // largest number of the run's calls; with more, no files are listed
	maxIntervals = 1 << 20 // largest number of reads, or writes, of a file; with more, Transfer.AnyRankNs is 0
)

// interval is a time in which a rank was in a call.
type interval struct{ from, to int64 }

type fileSums struct {
	MPIIOFile
	opened map[int]bool // numbers of the ops.Files with this name that were opened
	ranks  map[int]bool
	reads  []interval
	writes []interval
}

// fileWatcher sums calls by file. It is an ops.Sink.
type fileWatcher struct {
	ops.NopSink
	files map[string]*fileSums
	heat  *files.HeatMap
	kind  trace.SampleKind // accuracy of the times of data calls

	// begun has pending operations by rank and ID: from is when the first call began, to the time spent in that call.
	begun map[[2]uint64]*interval
}

// filesOf returns the files of a run, those with most bytes first. more is how many it omits.
func filesOf(r *trace.Reader, s *sums.Summary, o Options) (list []MPIIOFile, more int, heat *HeatMap, err error) {
	uses := slices.ContainsFunc(s.Functions, func(f sums.FunctionSummary) bool { return len(f.Name) > 9 && f.Name[:9] == "MPI_File_" })
	if !uses || s.Calls > maxFileCalls {
		return []MPIIOFile{}, 0, nil, nil
	}
	done := 0
	x, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime, AddProgress: func(n uint64) {
		done += int(n)
		o.Progress("looking at files", done, int(s.Calls))
	}})
	if err != nil {
		return nil, 0, nil, err
	}
	from, to, timed, err := span(r)
	if err != nil {
		return nil, 0, nil, err
	}
	w := &fileWatcher{files: make(map[string]*fileSums), heat: files.NewHeatMap(r.Ranks(), from-x.StartNs, to-x.StartNs), kind: trace.ExactSample, begun: make(map[[2]uint64]*interval)}
	if err := x.Run(w); err != nil {
		return nil, 0, nil, err
	}
	list = []MPIIOFile{}
	for _, f := range w.files {
		f.Opens, f.Ranks = len(f.opened), len(f.ranks)
		f.Read.AnyRankNs, f.Write.AnyRankNs = busy(f.reads), busy(f.writes)
		list = append(list, f.MPIIOFile)
	}
	slices.SortFunc(list, func(a, b MPIIOFile) int {
		return cmp.Or(cmp.Compare(b.Read.Bytes+b.Write.Bytes, a.Read.Bytes+a.Write.Bytes), cmp.Compare(a.Name, b.Name))
	})
	more = max(0, len(list)-maxFiles)
	if timed {
		heat = heatOf(w.heat, "MPI-IO", w.kind, r.Ranks())
	}
	return list[:len(list)-more], more, heat, nil
}

// Enter adds what a call does with files.
func (w *fileWatcher) Enter(c *ops.Call) error {
	for i := range c.Acts {
		a := &c.Acts[i]
		if a.File == nil {
			continue
		}
		f := once.GetOrMake(w.files, a.File.Name, func() *fileSums {
			return &fileSums{MPIIOFile: MPIIOFile{Name: a.File.Name, StartNs: c.StartNs}, opened: make(map[int]bool), ranks: make(map[int]bool)}
		})
		f.StartNs, f.EndNs = min(f.StartNs, c.StartNs), max(f.EndNs, c.EndNs)
		f.ranks[c.Rank] = true
		id := [2]uint64{uint64(c.Rank), a.ID}
		switch a.Kind {
		case ops.ActRead:
			f.Read.add(&f.reads, a.ReceivedBytes, c.StartNs, c.EndNs, c.EndNs-c.StartNs)
			w.warm(c, a, a.ReceivedBytes, c.StartNs)
		case ops.ActWrite:
			f.Write.add(&f.writes, a.SentBytes, c.StartNs, c.EndNs, c.EndNs-c.StartNs)
			w.warm(c, a, a.SentBytes, c.StartNs)
		case ops.ActReadBegin, ops.ActWriteBegin:
			w.begun[id] = &interval{c.StartNs, c.EndNs - c.StartNs}
		case ops.ActReadEnd, ops.ActWriteEnd:
			// A nonblocking operation between its two calls doesn't take the rank's time.
			from, spent := c.StartNs, c.EndNs-c.StartNs
			if b := w.begun[id]; b != nil {
				delete(w.begun, id)
				from, spent = b.from, spent+b.to
			}
			if a.Kind == ops.ActReadEnd {
				f.Read.add(&f.reads, a.ReceivedBytes, from, c.EndNs, spent)
				w.warm(c, a, a.ReceivedBytes, from)
			} else {
				f.Write.add(&f.writes, a.SentBytes, from, c.EndNs, spent)
				w.warm(c, a, a.SentBytes, from)
			}
		default:
			if a.Kind == ops.ActFileOpened {
				f.opened[a.File.Number] = true
			}
			f.MetaNs += c.EndNs - c.StartNs
		}
	}
	return nil
}

// warm adds an operation's bytes to the heat map. They are spread evenly from time from to the end of the call.
func (w *fileWatcher) warm(c *ops.Call, a *ops.Act, bytes uint64, from int64) {
	w.kind = min(w.kind, c.TimeKind)
	w.heat.Add(c.Rank, a.File.Name, a.Kind == ops.ActWrite || a.Kind == ops.ActWriteEnd, int64(bytes), from, c.EndNs)
}

func (t *Transfer) add(list *[]interval, bytes uint64, from, to, spent int64) {
	t.Calls++
	t.Bytes += bytes
	t.Ns += spent
	size := 0
	for b := bytes; b > 0; b >>= 1 {
		size++
	}
	for len(t.SizeHistogram) <= size {
		t.SizeHistogram = append(t.SizeHistogram, 0)
	}
	t.SizeHistogram[size]++
	if len(*list) < maxIntervals {
		*list = append(*list, interval{from, to})
	}
}

// busy returns the length of the union of intervals; 0 if there were too many to keep all.
func busy(list []interval) (ns int64) {
	if len(list) == maxIntervals {
		return 0
	}
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	end := int64(-1 << 62)
	for _, x := range list {
		if x.to > end {
			ns += x.to - max(x.from, end)
			end = x.to
		}
	}
	return ns
}
