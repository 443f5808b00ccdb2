package sums

import (
	"cmp"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"

	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A Summary is an overview of one trace.
type Summary struct {
	File             string            `json:"file"`
	FileBytes        int64             `json:"bytes"`
	Command          string            `json:"command"`
	MPI              string            `json:"mpi"`
	Library          string            `json:"mpi_library"`
	Producer         string            `json:"producer"`
	Options          string            `json:"options,omitempty"`
	WrapperLibraries []string          `json:"layers,omitempty"`   // files of other libraries that wrap MPI functions
	Tags             map[string]string `json:"tags,omitempty"`     // labels that the user gave the run, by key
	Timeless         bool              `json:"no_times,omitempty"` // the trace has no times: all times here are 0
	StartWallClockNs int64             `json:"start_ns"`           // when the run began, in ns since 1970; 0: unknown
	Problems         []string          `json:"problems"`
	ImportFormat     string            `json:"imported,omitempty"` // the other tool's format that the trace was converted from
	ImportNotes      []string          `json:"notes,omitempty"`    // properties that the other format lacks

	Ranks int `json:"ranks"`
	// Number of ranks by the way in which they ended: EndFinished, EndUnfinished or EndMissing.
	RanksByEnd  map[string]int `json:"ends"`
	Hosts       []Host         `json:"hosts"`
	Clocks      *Clocks        `json:"clocks,omitempty"` // nil: one host, or clocks were not compared
	MaxThreads  int            `json:"threads"`          // largest number of threads of a rank
	LostRecords uint64         `json:"lost_calls"`
	// Begin of the earliest call of any rank, relative to rank 0's first call: 0 or negative.
	FirstCallNs int64 `json:"first_ns"`
	EndNs       int64 `json:"end_ns"` // end of the last rank's run, relative to rank 0's first call
	// Longest time of a rank from MPI_Init to its last record, without its RecorderNs and TracingOffNs.
	SpanNs          int64 `json:"span_ns"`
	RecorderNs      int64 `json:"spoor_ns"`       // time in the recorder and plugins, sum over ranks
	RecorderStartNs int64 `json:"spoor_start_ns"` // part of RecorderNs directly after MPI_Init
	TracingOffNs    int64 `json:"untraced_ns"`    // time in which tracing was off, sum over ranks
	// Time from rank 0's call of MPI_Finalize until the tracks were merged, without writing the file; 0: unknown.
	FinalizeToTraceNs int64 `json:"spoor_finish_ns"`
	// Sum over ranks of the time from MPI_Init to the last record, without RecorderNs and TracingOffNs.
	TotalSpanNs int64 `json:"total_ns"`
	MPINs       int64 `json:"mpi_ns"`             // time in MPI, sum over ranks
	PosixIONs   int64 `json:"files_ns,omitempty"` // time in I/O calls outside MPI, sum over ranks
	// Sum over threads, each from its first call to its last: MPINs, PosixIONs and the gaps between calls.
	TotalThreadNs int64 `json:"thread_ns"`
	// Time in MPI, over all of its threads, of the rank that has least.
	MinRankMPINs int64 `json:"least_mpi_ns"`
	MaxRankMPINs int64 `json:"most_mpi_ns"`

	Calls        int64             `json:"calls"`
	Functions    []FunctionSummary `json:"functions"` // sorted by time, longest first
	Structure    *Structure        `json:"structure,omitempty"`
	CountedLoops []CountedLoop     `json:"counted_rounds,omitempty"` // loops whose iterations the program counted, see roundsLibrary
	Sites        int               `json:"call_sites"`
	Signatures   int               `json:"signatures"`
	Classes      []ClassSummary    `json:"classes"`
	Sections     []SectionSize     `json:"sections"`
	// Bytes for each kind of content in sections about calls, largest first.
	Costs []StorageCost `json:"costs"`
}

// A Host is a node and how many ranks ran there.
type Host struct {
	Name  string `json:"name"`
	Ranks int    `json:"ranks"`
}

// Clocks is how the clocks of the ranks differ, and how accurately that is known.
type Clocks struct {
	Count           int   `json:"count"`
	MaxDifferenceNs int64 `json:"apart_ns"` // largest difference between two clocks at the same time
	// Largest drift of a clock against rank 0's, without sign, in parts per million; 0 if too small to detect.
	DriftPPM   float64 `json:"drift_ppm"`
	MaxErrorNs int64   `json:"bound_ns"` // largest error of a time on the time line
}

// A FunctionSummary is all calls of one function over all ranks, with the time of the shortest and the longest call.
type FunctionSummary struct {
	Name        string  `json:"name"`
	Calls       int64   `json:"calls"`
	Ns          uint64  `json:"ns"`
	MinNs       uint64  `json:"min_ns"`
	MaxNs       uint64  `json:"max_ns"`
	DeviationNs float64 `json:"deviation_ns"`
	// The lowest rank with a call that took MinNs, and the lowest rank with one that took MaxNs.
	MinRank   int  `json:"min_rank"`
	MaxRank   int  `json:"max_rank"`
	IsPosixIO bool `json:"files,omitempty"` // an I/O function outside MPI
}

// A ClassSummary is a class: ranks that made the same calls in the same order, up to parameter values and trip
// counts.
type ClassSummary struct {
	Ranks         []int  `json:"ranks"`
	MinRankCalls  uint64 `json:"least_calls"` // number of calls of the rank that made fewest
	MaxRankCalls  uint64 `json:"most_calls"`
	DistinctCalls int    `json:"distinct_calls"`
	Threads       int    `json:"threads"`
}

// A SectionSize is a section of the file, and its size as stored and before compression.
type SectionSize struct {
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	RawBytes int64  `json:"raw_bytes"`
}

// A StorageCost is how many bytes of a section one kind of content takes.
type StorageCost struct {
	Section     string `json:"section"`
	Function    string `json:"call,omitempty"`
	Parameter   string `json:"value"`
	Form        string `json:"form,omitempty"`
	Occurrences int    `json:"count"`
	RawBytes    int64  `json:"raw_bytes"`
	// Bytes of the compressed section that this content takes: an estimate, rounded to a tenth.
	CompressedBytes float64 `json:"bytes"`
}

// The ways in which a rank ended.
const (
	EndFinished   = "finished"   // the rank reached MPI_Finalize
	EndUnfinished = "unfinished" // the rank's records stop before MPI_Finalize: it crashed, was killed, or called exit
	EndMissing    = "missing"    // the rank left no track
)

// DescribeEnd returns EndFinished, EndUnfinished or EndMissing. Traces call any process crashed whose records stop
// before MPI_Finalize; EndUnfinished is more cautious.
func DescribeEnd(p trace.Process) string {
	switch p.EndState {
	case "":
		return EndMissing
	case EndFinished:
		return EndFinished
	}
	return EndUnfinished
}

// SummariseBriefly returns a summary without the time in MPI: ranks, calls, bytes, processes and problems. It reads
// nothing of the calls, which would take longer than many a run.
func SummariseBriefly(r *trace.Reader) (*Summary, error) {
	s := head(r)
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	for _, p := range procs.All() {
		s.Calls += p.Calls
	}
	return s, s.processes(r, nil)
}

func head(r *trace.Reader) *Summary {
	meta := r.Meta()
	s := &Summary{
		Timeless: !r.HasTimes(), File: r.Name(), Ranks: r.Ranks(), Command: meta[trace.MetaCommand], MPI: meta[trace.MetaMPIFlavour],
		Library: meta[trace.MetaMPILibraryVersion], Producer: meta[trace.MetaProducer], ImportFormat: meta[trace.MetaImportFormat], Options: meta[trace.MetaRecorderOptions],
		Problems: []string{}, RanksByEnd: make(map[string]int), Hosts: []Host{}, Functions: []FunctionSummary{}, Classes: []ClassSummary{}, Costs: []StorageCost{},
	}
	if st, err := os.Stat(r.Name()); err == nil {
		s.FileBytes = st.Size()
	}
	if layers := meta[trace.MetaWrapperLibraries]; layers != "" {
		s.WrapperLibraries = strings.Split(layers, "\n")
	}
	s.Tags = trace.RunTagsOf(meta)
	s.StartWallClockNs, _ = strconv.ParseInt(meta[trace.MetaStart], 10, 64)
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		if strings.HasPrefix(key, trace.MetaProblemPrefix) {
			s.Problems = append(s.Problems, meta[key])
		}
		if strings.HasPrefix(key, trace.MetaNotePrefix) {
			s.ImportNotes = append(s.ImportNotes, meta[key])
		}
	}
	return s
}

// Summarise summarises a trace.
func Summarise(r *trace.Reader) (*Summary, error) {
	s := head(r)
	for _, x := range r.Sections() {
		s.Sections = append(s.Sections, SectionSize{x.Name, x.StoredBytes, x.RawBytes})
	}
	table, err := SumCalls(r, Options{WithRankCalls: true})
	if err != nil {
		return nil, err
	}
	if err := s.processes(r, table.Ranks); err != nil {
		return nil, err
	}
	if err := s.clocks(r); err != nil {
		return nil, err
	}
	if err := s.classes(r, table); err != nil {
		return nil, err
	}
	if s.FirstCallNs, s.EndNs, err = r.TimeExtent(); err != nil {
		return nil, err
	}
	if s.FinalizeToTraceNs, err = r.MergeNs(); err != nil {
		return nil, err
	}
	if s.CountedLoops, err = ListCountedLoops(r); err != nil {
		return nil, err
	}
	all, err := r.Sites()
	if err != nil {
		return nil, err
	}
	s.Sites = len(all)
	if s.Signatures, err = r.SignatureCount(); err != nil {
		return nil, err
	}
	costs, err := r.StorageCosts()
	for _, c := range costs {
		s.Costs = append(s.Costs, StorageCost{c.Section, c.Function, c.Parameter, c.Form, c.Occurrences, c.RawBytes, math.Round(c.StoredBytes*10) / 10})
	}
	return s, err
}

// processes adds the processes' properties to the summary. ranks has the times by rank; nil: not computed, the
// processes' own times are used.
func (s *Summary) processes(r *trace.Reader, ranks []RankSums) error {
	procs, err := r.Processes()
	if err != nil {
		return err
	}
	index := make(map[string]int)
	first := true
	for rank, p := range procs.All() {
		end := DescribeEnd(p)
		if s.RanksByEnd[end]++; end == EndMissing {
			continue
		}
		i, fresh := once.NumberOf(index, p.Host)
		if fresh {
			s.Hosts = append(s.Hosts, Host{Name: p.Host})
		}
		s.Hosts[i].Ranks++
		s.MaxThreads = max(s.MaxThreads, p.Threads)
		s.LostRecords += p.LostCalls
		s.SpanNs = max(s.SpanNs, p.FirstThreadNs)
		s.TotalSpanNs += p.FirstThreadNs
		s.RecorderNs += p.FirstThreadRecorderNs()
		s.TracingOffNs += p.FirstThreadTracingOffNs()
		s.RecorderStartNs += p.RecorderStartupNs()
		mpi := p.AllThreadsMPINs
		if ranks != nil {
			mpi = ranks[rank].MPINs // unlike p.MPINs, without I/O calls
		}
		s.MaxRankMPINs = max(s.MaxRankMPINs, mpi)
		if first || mpi < s.MinRankMPINs {
			s.MinRankMPINs, first = mpi, false
		}
	}
	return nil
}

func (s *Summary) clocks(r *trace.Reader) error {
	list, err := r.Clocks()
	if err != nil || len(list) == 0 {
		return err
	}
	c := &Clocks{Count: len(list)}
	for at := range list[0].Rank0MinusThisNs {
		least, most := int64(0), int64(0)
		for _, l := range list {
			least, most = min(least, l.Rank0MinusThisNs[at]), max(most, l.Rank0MinusThisNs[at])
			if d := l.Rank0MinusThisNs[1] - l.Rank0MinusThisNs[0]; max(d, -d) > 2*l.ErrorNs {
				c.DriftPPM = max(c.DriftPPM, 1e6*math.Abs(l.Drift()))
			}
			c.MaxErrorNs = max(c.MaxErrorNs, l.ErrorNs)
		}
		c.MaxDifferenceNs = max(c.MaxDifferenceNs, most-least)
	}
	s.Clocks = c
	return nil
}

func (s *Summary) classes(r *trace.Reader, table *Table) error {
	calls := make(map[string]int64)
	times := make(map[string]model.Stat)
	onFiles := make(map[string]bool)
	for i := range table.Rows {
		x := &table.Rows[i]
		name := x.FunctionSite.Function
		if x.Function.Has(trace.AttrPosix) {
			s.PosixIONs += int64(x.Duration.Sum)
			onFiles[name] = true
		} else {
			s.MPINs += int64(x.Duration.Sum)
		}
		s.Calls += int64(x.Calls)
		s.TotalThreadNs += int64(x.Duration.Sum + x.Gap.Sum)
		calls[name] += int64(x.Calls)
		stat := times[name]
		stat.Merge(x.Duration)
		times[name] = stat
	}
	for name, n := range calls {
		t := times[name]
		s.Functions = append(s.Functions, FunctionSummary{
			Name: name, Calls: n, Ns: t.Sum, MinNs: t.Min, MaxNs: t.Max,
			DeviationNs: math.Round(t.Deviation()), MinRank: int(t.MinRank), MaxRank: int(t.MaxRank), IsPosixIO: onFiles[name],
		})
	}
	slices.SortFunc(s.Functions, func(a, b FunctionSummary) int {
		return cmp.Or(cmp.Compare(b.Ns, a.Ns), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	for i := range table.Classes {
		c := &table.Classes[i]
		s.Classes = append(s.Classes, ClassSummary{Ranks: c.Members, MinRankCalls: c.MinRankCalls, MaxRankCalls: c.MaxRankCalls, DistinctCalls: len(c.CallsByTerminal), Threads: c.Threads})
	}
	return s.structure(r, table)
}
