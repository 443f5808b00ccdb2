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

// UnknownName is the name of files that were opened by no recorded call.
const UnknownName = "(not seen being opened)"

// AlignmentUnit is the size whose multiples count as aligned.
const AlignmentUnit = 4096

// SizeBounds are the upper bounds of a histogram's bins, exclusive; the last bin has no bound.
var SizeBounds = []int64{100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30}

// A Usage is what one rank, or several together, did with one or more files.
type Usage struct {
	Opens        uint64    `json:"opens"`
	Reads        Transfers `json:"reads"`
	Writes       Transfers `json:"writes"`
	MetaCalls    uint64    `json:"meta_calls"` // all other calls, opening and closing among them
	Failed       uint64    `json:"failed"`
	LibraryCalls uint64    `json:"library_calls"` // calls that the MPI library made for itself

	// In nanoseconds.
	TransferNs float64 `json:"data_ns"`
	MetaNs     float64 `json:"meta_ns"`

	// How accesses follow each other, if offsets are known.
	Sequential   uint64 `json:"sequential"` // accesses that begin where the previous one ended; the first access counts, too
	Strided      uint64 `json:"strided"`    // accesses at the same distance from the previous one as that one from its predecessor
	Random       uint64 `json:"random"`
	Unaligned    uint64 `json:"unaligned"` // accesses not at a multiple of AlignmentUnit
	FurthestByte int64  `json:"extent"`    // the furthest byte that was read or written

	FirstNs, LastNs int64       `json:"-"` // first and last time on the run's time line
	Slowest         SlowestCall `json:"slowest"`
}

// Transfers is the calls that moved data in one direction.
type Transfers struct {
	Calls uint64   `json:"calls"`
	Bytes int64    `json:"bytes"`
	Ns    float64  `json:"ns"`
	Sizes []uint64 `json:"sizes,omitempty"` // number of calls by size: one bin for each of SizeBounds, and one for larger sizes
}

// SlowestCall is the call that took longest.
type SlowestCall struct {
	Rank int     `json:"rank"`
	Call string  `json:"call,omitempty"`
	Ns   float64 `json:"ns"`
}

// Interfaces through which a file was used.
const (
	APIPosix = "POSIX" // C's calls included
	APIMPIIO = "MPI-IO"
)

// A File is what all ranks did through one interface with a file name. Files that differ only by the rank's number in
// their names are one File.
type File struct {
	Path      string         `json:"path"` // relative to the report's folder
	API       string         `json:"by"`
	PerRank   bool           `json:"file_per_rank,omitempty"`
	Total     Usage          `json:"total"`
	UseByRank map[int]*Usage `json:"-"`
}

// SharingRanks is how many ranks used the same file.
func (f *File) SharingRanks() int {
	if f.PerRank {
		return 1
	}
	return len(f.UseByRank)
}

// Bandwidth is the file's bytes per second, from the time of the rank that took longest; 0 if the time is not known.
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

// Report is the result of Analyse.
type Report struct {
	Folder    string           // the folder in which all ranks were started; "" if they differ or are not known
	Files     []*File          // the file with most time first
	TimesKind trace.SampleKind // the least that is known of any time

	// Number of files left out, see Options.IncludeSystem.
	OmittedFiles int
	OmittedCalls uint64
}

// Options say what the report includes.
type Options struct {
	NoGrouping    bool     // list each file of a rank alone, even if names differ only in the rank's number
	IncludeSystem bool     // include files in the system's folders and modules that interpreters import
	Heat          *HeatMap // receives reads and writes through POSIX, if the trace has times; may be nil
}

// An id identifies a File: its name and interface.
type id struct{ name, by string }

// use returns a rank's Usage of a file, made if needed.
func (f *File) use(rank int) *Usage {
	return once.GetOrMake(f.UseByRank, rank, func() *Usage { return new(Usage) })
}

// Analyse goes through the calls of all ranks.
func Analyse(r *trace.Reader, o Options) (*Report, error) {
	rep := &Report{TimesKind: trace.ExactSample}
	folders, err := startFolders(r)
	if err != nil {
		return nil, err
	}
	if slices.IndexFunc(folders, func(f string) bool { return f != folders[0] }) < 0 {
		rep.Folder = folders[0]
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
	names := rep.name(files, o.NoGrouping)
	byName := make(map[id]*File)
	for k, f := range files {
		at := id{names[k], k.by}
		if to := byName[at]; to != nil {
			for rank, u := range f.UseByRank {
				to.use(rank).add(u)
			}
			continue
		}
		f.Path, f.PerRank = names[k], names[k] != below(rep.Folder, k.name)
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

// startFolders lists the folders in which ranks were started, "" where that is not known.
func startFolders(r *trace.Reader) ([]string, error) {
	procs, err := r.Processes()
	if err != nil {
		return nil, err
	}
	list := make([]string, 0, r.Ranks())
	for _, p := range procs.All() {
		list = append(list, p.Folder)
	}
	return list, nil
}

// eachRank follows the calls of each rank that has a track. before and after get the rank's follower before its calls
// and after them.
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

// leaveOut removes files that are not the program's own: the system's, and imports.
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
		if !system && (writes > 0 || !isImport(below(rep.Folder, k.name))) {
			continue
		}
		left[k.name] = true
		rep.OmittedCalls += calls
		delete(files, k)
	}
	rep.OmittedFiles = len(left)
}

// name returns the printed name of each file name; files of single ranks share a pattern.
func (rep *Report) name(files map[id]*File, each bool) map[id]string {
	names := make(map[id]string, len(files))
	users := make(map[string]int) // by name: the only rank that used it, or -1
	for k, f := range files {
		names[k] = below(rep.Folder, k.name)
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
	u.Failed += o.Failed
	u.LibraryCalls += o.LibraryCalls
	u.TransferNs += o.TransferNs
	u.MetaNs += o.MetaNs
	u.Sequential += o.Sequential
	u.Strided += o.Strided
	u.Random += o.Random
	u.Unaligned += o.Unaligned
	u.FurthestByte = max(u.FurthestByte, o.FurthestByte)
	if o.Slowest.Ns > u.Slowest.Ns || o.Slowest.Ns == u.Slowest.Ns && o.Slowest.Rank < u.Slowest.Rank {
		u.Slowest = o.Slowest
	}
}

func (m *Transfers) add(o *Transfers) {
	m.Calls += o.Calls
	m.Bytes += o.Bytes
	m.Ns += o.Ns
	for i, n := range o.Sizes {
		m.bins()[i] += n
	}
}

func (m *Transfers) bins() []uint64 {
	if m.Sizes == nil {
		m.Sizes = make([]uint64, len(SizeBounds)+1)
	}
	return m.Sizes
}

func (m *Transfers) count(bytes int64, ns float64) {
	m.Calls++
	m.Bytes += bytes
	m.Ns += ns
	i, _ := slices.BinarySearch(SizeBounds, bytes+1)
	m.bins()[i]++
}
