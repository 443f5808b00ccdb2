package trace

import (
	"iter"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// Processes is what is known of the process of each rank.
type Processes struct{ table *sections.Processes }

// Processes returns the table of processes, by rank.
func (r *Reader) Processes() (*Processes, error) {
	table, err := r.procs()
	if err != nil {
		return nil, err
	}
	return &Processes{table}, nil
}

// Len returns the number of ranks.
func (p *Processes) Len() int { return p.table.Len() }

// At returns the process of a rank.
func (p *Processes) At(rank int) Process {
	x := p.table.At(rank)
	x.Folder = signature.FileNameOfRank(x.Folder, rank)
	return x
}

// All yields the processes by rank.
func (p *Processes) All() iter.Seq2[int, Process] {
	return func(yield func(int, Process) bool) {
		for rank, x := range p.table.All() {
			x.Folder = signature.FileNameOfRank(x.Folder, rank)
			if !yield(rank, x) {
				return
			}
		}
	}
}

// StartFunctions returns the start functions of the threads of a stream, in the order of their first MPI calls: the function
// passed to pthread_create, the body of a parallel region, and the like. A stream may be of several threads, one after
// the other. The thread that initialised MPI, and threads that the recorder could not follow, have none.
func (k *Rank) StartFunctions(stream int) (list []Site) {
	t := k.tables
	if len(t.sites.ThreadFunctions) == 0 {
		return nil
	}
	firsts := k.Occurrences(stream, func(terminal int) bool { return t.sites.ThreadFunction(k.class.Terminals[terminal].Site) != nil })
	for n := range min(firsts.Total(), maxMadeFor) {
		_, terminal := firsts.Nth(n)
		if s := t.sites.ThreadFunction(k.class.Terminals[terminal].Site); !slices.Contains(list, *s) {
			list = append(list, *s)
		}
	}
	return list
}

// maxMadeFor bounds how many threads of a stream are looked at.
const maxMadeFor = 1000

// MergeNs is the time from rank 0's call of MPI_Finalize until the trace's content was complete, without writing the
// file; 0 if unknown.
func (r *Reader) MergeNs() (int64, error) {
	p, err := r.procs()
	if err != nil {
		return 0, err
	}
	return p.MergeNs, nil
}

// spreads is the number of parts into which a time of unknown position is divided.
const spreads = 8

// asidesOf returns the asides of a stream, by call.
func (k *Rank) asidesOf(stream int) ([]Aside, error) {
	p, err := k.Process()
	if err != nil || stream > 0 {
		return nil, err
	}
	var list []Aside
	n := k.Len(stream)
	for _, a := range p.Asides {
		if a.BeforeCall != AsidesAnywhere {
			list = append(list, a)
			continue
		}
		rest := a.Ns
		for i := range uint64(spreads) {
			part := a.Ns / spreads
			if i == spreads-1 {
				part = rest
			}
			rest -= part
			at := max(1, n/(spreads+1)*(i+1)+n%(spreads+1)*(i+1)/(spreads+1))
			list = append(list, Aside{BeforeCall: at, Ns: part, TracingOff: a.TracingOff})
		}
	}
	slices.SortStableFunc(list, sections.CompareAsides)
	return list, nil
}

// PlacedAsides returns the asides of a stream as means place them on the time line. Where the trace has the time
// of each call, Timing.Asides places them exactly.
func (k *Rank) PlacedAsides(stream int) ([]PlacedAside, error) {
	m, err := k.means(stream)
	if err != nil {
		return nil, err
	}
	return m.PlacedAsides(), nil
}

// TagsOf returns what the user said of the run, by name.
func TagsOf(meta map[string]string) map[string]string {
	tags := make(map[string]string)
	for key, value := range meta {
		if name, ok := strings.CutPrefix(key, MetaTag); ok {
			tags[name] = value
		}
	}
	return tags
}
