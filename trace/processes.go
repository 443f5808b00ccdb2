package trace

import (
	"iter"

	"github.com/spoor-hpc/spoor/internal/sections"
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
func (p *Processes) At(rank int) Process { return p.table.At(rank) }

// All yields the processes by rank.
func (p *Processes) All() iter.Seq2[int, Process] { return p.table.All() }
