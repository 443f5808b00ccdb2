package trace

import (
	"iter"

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
	x.Folder = signature.OfRank(x.Folder, rank)
	return x
}

// All yields the processes by rank.
func (p *Processes) All() iter.Seq2[int, Process] {
	return func(yield func(int, Process) bool) {
		for rank, x := range p.table.All() {
			x.Folder = signature.OfRank(x.Folder, rank)
			if !yield(rank, x) {
				return
			}
		}
	}
}
