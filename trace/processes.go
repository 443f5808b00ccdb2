package trace

import (
	"iter"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// Processes is the table of processes, by rank.
type Processes struct{ table *sections.Processes }

// Processes returns the table of processes.
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
	x.WorkingFolder = signature.FileNameOfRank(x.WorkingFolder, rank)
	return x
}

// All yields the processes by rank.
func (p *Processes) All() iter.Seq2[int, Process] {
	return func(yield func(int, Process) bool) {
		for rank, x := range p.table.All() {
			x.WorkingFolder = signature.FileNameOfRank(x.WorkingFolder, rank)
			if !yield(rank, x) {
				return
			}
		}
	}
}

// StartFunctions returns the start functions of a stream's threads, in the order of their first MPI calls. A start
// function is, for instance, the one passed to pthread_create, or the body of a parallel region. A stream may have the
// calls of several threads, one after the other. The list has no function of the thread that initialised MPI, or of
// threads whose start the recorder did not see.
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

// maxMadeFor is the largest number of a stream's threads of which StartFunctions looks for the start function.
const maxMadeFor = 1000

// MergeNs returns the time in ns from rank 0's call of MPI_Finalize until the tracks were merged, without writing the
// file; 0 if unknown.
func (r *Reader) MergeNs() (int64, error) {
	p, err := r.procs()
	if err != nil {
		return 0, err
	}
	return p.MergeNs, nil
}

// spreads is the number of parts into which asidesOf divides an aside of unknown position.
const spreads = 8

// asidesOf returns the asides of a stream, sorted by the calls that they precede. Those of unknown position are divided
// into parts over the whole stream.
func (k *Rank) asidesOf(stream int) ([]Aside, error) {
	p, err := k.Process()
	if err != nil || stream > 0 {
		return nil, err
	}
	var list []Aside
	n := k.CallCount(stream)
	for _, a := range p.Asides {
		if a.BeforeCall != AsidePositionUnknown {
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

// PlacedAsides returns the asides of a stream with their positions on the time line that is made from means. If the
// trace has the time of each call, Timing.AsidesBeforeCall returns the exact positions.
func (k *Rank) PlacedAsides(stream int) ([]PlacedAside, error) {
	m, err := k.means(stream)
	if err != nil {
		return nil, err
	}
	return m.PlacedAsides(), nil
}

// RunTagsOf returns the labels that the user gave to the run, by name, from Reader.Meta.
func RunTagsOf(meta map[string]string) map[string]string {
	tags := make(map[string]string)
	for key, value := range meta {
		if name, ok := strings.CutPrefix(key, MetaRunTagPrefix); ok {
			tags[name] = value
		}
	}
	return tags
}
