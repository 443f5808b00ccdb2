// Package files says what a trace's calls of POSIX and C did with files: for each file and
// rank how often it was opened, what was read and written, in which order and sizes, and
// what time that took.
//
// Files are known by the names they were opened with: what descriptors and streams stand
// for follows from the calls in their order. Nothing is known of what a rename or a change
// of the working directory makes of a name.
package files

import (
	"cmp"
	"slices"

	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/trace"
)

// Unknown is the name of files whose opening is not in the trace.
const Unknown = "(not seen being opened)"

// Block is the size whose multiples count as aligned.
const Block = 4096

// Bounds are the sizes up to which calls count in each bin of a histogram, less one; the last is open.
var Bounds = []int64{100, 1 << 10, 10 << 10, 100 << 10, 1 << 20, 4 << 20, 10 << 20, 100 << 20, 1 << 30}

// A Use is what a rank did with a file, or several did with several.
type Use struct {
	Opens   uint64 `json:"opens"`
	Reads   Moved  `json:"reads"`
	Writes  Moved  `json:"writes"`
	Meta    uint64 `json:"meta_calls"` // all other calls, opening and closing among them
	Failed  uint64 `json:"failed"`
	Library uint64 `json:"library_calls"` // calls that the MPI library made for itself

	// In nanoseconds.
	DataTime float64 `json:"data_ns"`
	MetaTime float64 `json:"meta_ns"`

	// How accesses follow each other, where offsets are known.
	Sequential uint64 `json:"sequential"` // where the last one ended; the first one too
	Strided    uint64 `json:"strided"`    // as far behind the last one as that was behind the one before
	Random     uint64 `json:"random"`
	Unaligned  uint64 `json:"unaligned"` // not at a multiple of Block
	Extent     int64  `json:"extent"`    // the furthest byte that was read or written

	First, Last int64 `json:"-"` // from when to when on the run's time line
	Slowest     Slow  `json:"slowest"`
}

// Moved is what calls in one direction moved.
type Moved struct {
	Calls uint64   `json:"calls"`
	Bytes int64    `json:"bytes"`
	Time  float64  `json:"ns"`
	Sizes []uint64 `json:"sizes,omitempty"` // by Bounds
}

// Slow is the call that took longest.
type Slow struct {
	Rank int     `json:"rank"`
	Call string  `json:"call,omitempty"`
	Ns   float64 `json:"ns"`
}

// A File is what all ranks did with files of one name. Where each rank's own number is in the
// name, they are one File.
type File struct {
	Path  string       `json:"path"`
	Own   bool         `json:"file_per_rank,omitempty"`
	Total Use          `json:"total"`
	Ranks map[int]*Use `json:"-"`
}

// Shared is how many ranks used the same file.
func (f *File) Shared() int {
	if f.Own {
		return 1
	}
	return len(f.Ranks)
}

// Bandwidth is how many bytes went to or from files a second, as seen by the rank that took
// longest for it; 0 if that is not known.
func (f *File) Bandwidth() float64 {
	worst := 0.0
	for _, u := range f.Ranks {
		worst = max(worst, u.DataTime+u.MetaTime)
	}
	if worst == 0 {
		return 0
	}
	return float64(f.Total.Reads.Bytes+f.Total.Writes.Bytes) / worst * 1e9
}

// Report is what a trace says of files.
type Report struct {
	Files []*File          `json:"files"` // those with most time first
	Kind  trace.SampleKind `json:"-"`     // what is known of times, at least
}

// Options say what to look at.
type Options struct {
	Each bool  // don't put files together that have the ranks' numbers in their names
	Heat *Heat // takes in what is read and written, if the trace has times; may be nil
}

// Compute goes through the calls of all ranks.
func Compute(r *trace.Reader, o Options) (*Report, error) {
	files := make(map[string]*File)
	rep := &Report{Kind: trace.ExactSample}
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			if r.Ranks() > 1 && isGone(err) {
				continue
			}
			return nil, err
		}
		f := newFollower(rank, func(path string) (string, *Use) {
			name := path
			own := false
			if !o.Each {
				name = signature.OfRank(string(signature.Template([]byte(path), rank)), -1)
				own = name != path
			}
			x := files[name]
			if x == nil {
				x = &File{Path: name, Own: own, Ranks: make(map[int]*Use)}
				files[name] = x
			}
			if x.Ranks[rank] == nil {
				x.Ranks[rank] = &Use{}
			}
			return name, x.Ranks[rank]
		})
		if r.HasTimes() {
			f.heat = o.Heat
		}
		if err := f.follow(k, r.HasTimes()); err != nil {
			return nil, err
		}
		rep.Kind = min(rep.Kind, f.kind)
	}
	for _, f := range files {
		for rank, u := range f.Ranks {
			u.Slowest.Rank = rank
			f.Total.add(u)
		}
		rep.Files = append(rep.Files, f)
	}
	slices.SortFunc(rep.Files, func(a, b *File) int {
		return cmp.Or(cmp.Compare(b.Total.DataTime+b.Total.MetaTime, a.Total.DataTime+a.Total.MetaTime), cmp.Compare(a.Path, b.Path))
	})
	return rep, nil
}

func (u *Use) add(o *Use) {
	if u.First == 0 && u.Last == 0 || o.First < u.First {
		u.First = o.First
	}
	u.Last = max(u.Last, o.Last)
	u.Opens += o.Opens
	u.Reads.add(&o.Reads)
	u.Writes.add(&o.Writes)
	u.Meta += o.Meta
	u.Failed += o.Failed
	u.Library += o.Library
	u.DataTime += o.DataTime
	u.MetaTime += o.MetaTime
	u.Sequential += o.Sequential
	u.Strided += o.Strided
	u.Random += o.Random
	u.Unaligned += o.Unaligned
	u.Extent = max(u.Extent, o.Extent)
	if o.Slowest.Ns > u.Slowest.Ns || o.Slowest.Ns == u.Slowest.Ns && o.Slowest.Rank < u.Slowest.Rank {
		u.Slowest = o.Slowest
	}
}

func (m *Moved) add(o *Moved) {
	m.Calls += o.Calls
	m.Bytes += o.Bytes
	m.Time += o.Time
	for i, n := range o.Sizes {
		m.bins()[i] += n
	}
}

func (m *Moved) bins() []uint64 {
	if m.Sizes == nil {
		m.Sizes = make([]uint64, len(Bounds)+1)
	}
	return m.Sizes
}

func (m *Moved) count(bytes int64, ns float64) {
	m.Calls++
	m.Bytes += bytes
	m.Time += ns
	i, _ := slices.BinarySearch(Bounds, bytes+1)
	m.bins()[i]++
}
