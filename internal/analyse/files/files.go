// Package files reports what a trace's calls of POSIX, C and MPI-IO did with files. For each file and rank it gives
// the number of opens, the bytes read and written, the order and sizes of accesses, and their time.
//
// A file is identified by the name that it was opened with, relative to the rank's working folder at that time. The
// calls in their order show which file a descriptor, stream or handle refers to. The package does not follow renames.
package files

import (
	"cmp"
	"errors"
	"slices"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/trace"
)

// UnknownFileName is printed as the name of files that no recorded call has opened.
const UnknownFileName = "(not seen being opened)"

// AlignmentBytes is the size in bytes whose multiples count as aligned offsets.
const AlignmentBytes = 4096

// AccessSizeBounds are upper bounds, in bytes and exclusive, of the bins of histograms of access sizes. A further bin has all
// larger sizes.
var AccessSizeBounds = []int64{100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30}

// A Usage is what one rank, or several together, did with one or more files.
type Usage struct {
	Opens           uint64    `json:"opens"` // number of successful calls that open a file
	Reads           Transfers `json:"reads"`
	Writes          Transfers `json:"writes"`
	MetaCalls       uint64    `json:"meta_calls"`    // number of calls that are neither reads nor writes, e.g. opening
	FailedCalls     uint64    `json:"failed"`        // number of failed calls
	MPILibraryCalls uint64    `json:"library_calls"` // number of calls that the MPI library made for itself

	TransferNs float64 `json:"data_ns"` // time in reads and writes
	MetaNs     float64 `json:"meta_ns"` // time in all other calls

	// Numbers of accesses whose offset in the file is known. Each is sequential, strided or random.
	SequentialAccesses uint64 `json:"sequential"` // begin where the previous access of the open file ended, or are the first
	StridedAccesses    uint64 `json:"strided"`    // begin as far from the previous access as that from the one before it
	RandomAccesses     uint64 `json:"random"`     // all others
	UnalignedAccesses  uint64 `json:"unaligned"`  // don't begin at a multiple of AlignmentBytes
	FurthestByte       int64  `json:"extent"`     // largest offset of the end of an access, in bytes

	FirstNs, LastNs int64       `json:"-"` // start of the first and end of the last call, on the time line
	Slowest         SlowestCall `json:"slowest"`
}

// Transfers is the calls that read data, or those that wrote data: their numbers, bytes and time.
type Transfers struct {
	Calls         uint64   `json:"calls"`
	Bytes         int64    `json:"bytes"`
	Ns            float64  `json:"ns"`
	SizeHistogram []uint64 `json:"sizes,omitempty"` // histogram: number of calls below each of AccessSizeBounds, and of larger ones
}

// SlowestCall is the call on a file that took longest, as text, with its rank and duration.
type SlowestCall struct {
	Rank int     `json:"rank"`
	Call string  `json:"call,omitempty"`
	Ns   float64 `json:"ns"`
}

// Values of File.API: the interface through which a file was used.
const (
	APIPosix = "POSIX" // POSIX or C, e.g. read or fread
	APIMPIIO = "MPI-IO"
)

// A File is what all ranks did with a file through one interface. If each rank has a file of its own, whose name
// contains the rank's number, these are one File.
type File struct {
	Path          string         `json:"path"` // name or pattern (out.%d), relative to Report.StartFolder if in there
	API           string         `json:"by"`
	IsFilePerRank bool           `json:"file_per_rank,omitempty"`
	Total         Usage          `json:"total"`
	UseByRank     map[int]*Usage `json:"-"`
}

// SharingRanks returns how many ranks used one file together: 1 if each has a file of its own.
func (f *File) SharingRanks() int {
	if f.IsFilePerRank {
		return 1
	}
	return len(f.UseByRank)
}

// Bandwidth returns the bytes that all ranks read and wrote per second of the rank that spent most time on the file; 0
// if no times are known.
func (f *File) Bandwidth() float64 {
	worst := 0.0
	for _, u := range f.UseByRank {
		worst = max(worst, u.TransferNs+u.MetaNs)
	}
	if worst == 0 {
		return 0
	}
	return float64(f.Total.Reads.Bytes+f.Total.Writes.Bytes) / worst * 1e9
}

// Report is what Analyse found: how the ranks used files.
type Report struct {
	StartFolder string           // the folder in which all ranks were started; "" if they differ or are not known
	Files       []*File          // the file on which ranks spent most time first
	TimesKind   trace.SampleKind // how accurate the least accurate of the times is

	// Numbers of the files, and of calls on them, that are left out without Options.IncludeSystem.
	OmittedFiles int
	OmittedCalls uint64
}

// Options say what the report includes.
type Options struct {
	SeparateRankFiles bool     // names that differ only in the number of the rank that uses the file are a File each
	IncludeSystem     bool     // the report includes files in the system's folders, and modules that interpreters import
	Heat              *HeatMap // Analyse adds reads and writes through POSIX, if the trace has times; may be nil
}

// An id identifies a File by the file's name and the interface (API).
type id struct{ name, by string }

// use returns a rank's Usage of a file. It makes an empty one for a rank that has none.
func (f *File) use(rank int) *Usage {
	return once.GetOrMake(f.UseByRank, rank, func() *Usage { return new(Usage) })
}

// Analyse goes through the calls of all ranks and reports how they used files.
func Analyse(r *trace.Reader, o Options) (*Report, error) {
	rep := &Report{TimesKind: trace.ExactSample}
	folders, err := startFolders(r)
	if err != nil {
		return nil, err
	}
	if slices.IndexFunc(folders, func(f string) bool { return f != folders[0] }) < 0 {
		rep.StartFolder = folders[0]
	}
	files := make(map[id]*File)
	err = eachRank(r, folders, func(f *follower) {
		f.use = func(name, by string) *Usage {
			x := once.GetOrMake(files, id{name, by}, func() *File { return &File{Path: name, API: by, UseByRank: make(map[int]*Usage)} })
			return x.use(f.rank)
		}
	}, func(f *follower) { rep.TimesKind = min(rep.TimesKind, f.kind) })
	if err != nil {
		return nil, err
	}
	if !o.IncludeSystem {
		rep.leaveOut(files, folders)
	}
	names := rep.name(files, o.SeparateRankFiles)
	byName := make(map[id]*File)
	for k, f := range files {
		at := id{names[k], k.by}
		if to := byName[at]; to != nil {
			for rank, u := range f.UseByRank {
				to.use(rank).add(u)
			}
			continue
		}
		f.Path, f.IsFilePerRank = names[k], names[k] != below(rep.StartFolder, k.name)
		byName[at] = f
	}
	for _, f := range byName {
		for rank, u := range f.UseByRank {
			u.Slowest.Rank = rank
			f.Total.add(u)
		}
		rep.Files = append(rep.Files, f)
	}
	slices.SortFunc(rep.Files, func(a, b *File) int {
		return cmp.Or(cmp.Compare(b.Total.TransferNs+b.Total.MetaNs, a.Total.TransferNs+a.Total.MetaNs), cmp.Compare(a.Path, b.Path), cmp.Compare(a.API, b.API))
	})
	if o.Heat == nil || !r.HasTimes() {
		return rep, nil
	}
	return rep, eachRank(r, folders, func(f *follower) {
		f.use = func(string, string) *Usage { return &Usage{} }
		f.moved = func(name string, written bool, bytes, start, end int64) {
			if name, ok := names[id{name, APIPosix}]; ok {
				o.Heat.Add(f.rank, name, written, bytes, start, end)
			}
		}
	}, func(*follower) {})
}

// startFolders lists, by rank, the working folders in which ranks were started; "": not known.
func startFolders(r *trace.Reader) ([]string, error) {
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	list := make([]string, 0, r.Ranks())
	for _, p := range procs.All() {
		list = append(list, p.WorkingFolder)
	}
	return list, nil
}

// eachRank goes through the calls of each rank that has a track, with a follower. It calls before with the follower
// before the rank's first call, and after after its last. folders are those of startFolders.
func eachRank(r *trace.Reader, folders []string, before, after func(*follower)) error {
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			if r.Ranks() > 1 && errors.Is(err, trace.ErrNoTrack) {
				continue
			}
			return err
		}
		f := newFollower(k, folders[rank])
		before(f)
		if err := f.follow(r); err != nil {
			return err
		}
		after(f)
	}
	return nil
}

// leaveOut removes files that are not the program's own: files of the system, and modules that interpreters import.
func (rep *Report) leaveOut(files map[id]*File, folders []string) {
	left := make(map[string]bool)
	for k, f := range files {
		calls, writes := uint64(0), uint64(0)
		system := true
		for rank, u := range f.UseByRank {
			calls += u.Reads.Calls + u.Writes.Calls + u.MetaCalls
			writes += u.Writes.Calls
			system = system && isSystems(k.name, folders[rank])
		}
		if !system && (writes > 0 || !isImport(below(rep.StartFolder, k.name))) {
			continue
		}
		left[k.name] = true
		rep.OmittedCalls += calls
		delete(files, k)
	}
	rep.OmittedFiles = len(left)
}

// name returns the name that is printed for each file. Files that only one rank used may share a pattern (e.g. out.%d),
// unless each is set.
func (rep *Report) name(files map[id]*File, each bool) map[id]string {
	names := make(map[id]string, len(files))
	users := make(map[string]int) // by name: the rank that used the file; -1: several did
	for k, f := range files {
		names[k] = below(rep.StartFolder, k.name)
		for rank := range f.UseByRank {
			if of, ok := users[names[k]]; ok && of != rank {
				rank = -1
			}
			users[names[k]] = rank
		}
	}
	if each {
		return names
	}
	var claims []claim
	for name, rank := range users {
		if rank >= 0 {
			claims = append(claims, claim{name, rank})
		}
	}
	patterns := united(claims)
	for k, name := range names {
		if p := patterns[name]; p != "" {
			names[k] = p
		}
	}
	return names
}

func (u *Usage) add(o *Usage) {
	if u.FirstNs == 0 && u.LastNs == 0 || o.FirstNs < u.FirstNs {
		u.FirstNs = o.FirstNs
	}
	u.LastNs = max(u.LastNs, o.LastNs)
	u.Opens += o.Opens
	u.Reads.add(&o.Reads)
	u.Writes.add(&o.Writes)
	u.MetaCalls += o.MetaCalls
	u.FailedCalls += o.FailedCalls
	u.MPILibraryCalls += o.MPILibraryCalls
	u.TransferNs += o.TransferNs
	u.MetaNs += o.MetaNs
	u.SequentialAccesses += o.SequentialAccesses
	u.StridedAccesses += o.StridedAccesses
	u.RandomAccesses += o.RandomAccesses
	u.UnalignedAccesses += o.UnalignedAccesses
	u.FurthestByte = max(u.FurthestByte, o.FurthestByte)
	if o.Slowest.Ns > u.Slowest.Ns || o.Slowest.Ns == u.Slowest.Ns && o.Slowest.Rank < u.Slowest.Rank {
		u.Slowest = o.Slowest
	}
}

func (m *Transfers) add(o *Transfers) {
	m.Calls += o.Calls
	m.Bytes += o.Bytes
	m.Ns += o.Ns
	for i, n := range o.SizeHistogram {
		m.bins()[i] += n
	}
}

func (m *Transfers) bins() []uint64 {
	if m.SizeHistogram == nil {
		m.SizeHistogram = make([]uint64, len(AccessSizeBounds)+1)
	}
	return m.SizeHistogram
}

func (m *Transfers) count(bytes int64, ns float64) {
	m.Calls++
	m.Bytes += bytes
	m.Ns += ns
	i, _ := slices.BinarySearch(AccessSizeBounds, bytes+1)
	m.bins()[i]++
}
