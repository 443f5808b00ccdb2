// A marked phase is the calls of a thread from one that begins a phase up to the next one that does.
// MPI_Pcontrol(level) begins a phase with the level as its name, and a plugin begins one with any call, by a name.
// MPI_Pcontrol with a name (`spoor run --phase-names`) begins a phase of that name and level. A phase may occur any
// number of times. Level 0 switches tracing off, so that its phase has only calls that are always recorded.
//
// Phases are found by position in the compressed form, without times or expansion. Calls before a thread's first
// mark are in no phase.

package ops

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

// A CallRange is a range of a thread's calls by position, from First up to End, without End.
type CallRange struct{ First, End uint64 }

// Phases are the ranges in which a thread is in phases of one name. It is safe for concurrent use.
type Phases struct {
	begin *trace.Occurrences // the calls that begin a phase of this name
	marks *trace.Occurrences // the calls that begin any phase
	end   uint64
}

// PhasesOf returns the phases of a name in a thread.
func PhasesOf(k *trace.Rank, stream int, name string) (*Phases, error) {
	marks, err := marksOf(k)
	if err != nil {
		return nil, err
	}
	return &Phases{
		begin: k.Occurrences(stream, func(t int) bool { return marks[t].begins(name) }),
		marks: k.Occurrences(stream, func(t int) bool { return marks[t] != mark{} }),
		end:   k.CallCount(stream),
	}, nil
}

// FirstEndingAfter returns the first phase that ends after a position; false if there is no such phase.
func (p *Phases) FirstEndingAfter(index uint64) (CallRange, bool) {
	if index >= p.end {
		return CallRange{}, false
	}
	n := p.begin.CountBefore(index + 1)
	if n > 0 {
		if s := p.span(n - 1); s.End > index {
			return s, true
		}
	}
	if n == p.begin.Total() {
		return CallRange{}, false
	}
	return p.span(n), true
}

// span returns the range of the n-th phase of this name, from 0.
func (p *Phases) span(n uint64) CallRange {
	first, _ := p.begin.Nth(n)
	s := CallRange{first, p.end}
	if next := p.marks.CountBefore(first + 1); next < p.marks.Total() {
		s.End, _ = p.marks.Nth(next)
	}
	return s
}

// All yields the phases in order.
func (p *Phases) All() iter.Seq[CallRange] {
	return func(yield func(CallRange) bool) {
		for n := range p.begin.Total() {
			if !yield(p.span(n)) {
				return
			}
		}
	}
}

// A mark is the name, level or both of the phase that a terminal begins; the zero mark begins no phase.
type mark struct{ level, name string }

func (m mark) begins(phase string) bool { return phase != "" && (m.level == phase || m.name == phase) }

// marksOf returns the mark of each of a rank's terminals. Levels are never in lanes: all calls of a terminal have
// the same one.
func marksOf(k *trace.Rank) ([]mark, error) {
	list := make([]mark, k.Terminals())
	for t := range list {
		c := k.CallWithoutParams(t)
		list[t].name = c.Phase
		if def, ok := mpi.CallNamed(c.Name()); !ok || def.Index("level") < 0 || def.Params[def.Index("level")].Kind != mpi.KindPcontrolLevel {
			continue
		}
		c, err := k.Terminal(t)
		if err != nil {
			return nil, err
		}
		list[t].level = strconv.FormatInt(c.Param("level").In.Num, 10)
	}
	return list, nil
}

// PhaseNames returns the names of the phases of ranks: levels in rising order, then names alphabetically; nil ranks
// means all.
func PhaseNames(r *trace.Reader, ranks []int) ([]string, error) {
	if ranks == nil {
		for rank := range r.Ranks() {
			ranks = append(ranks, rank)
		}
	}
	seen := make(map[string]bool)
	var levels, names []string
	for _, rank := range ranks {
		k, err := r.Rank(rank)
		if errors.Is(err, trace.ErrNoTrack) {
			continue
		}
		if err != nil {
			return nil, err
		}
		marks, err := marksOf(k)
		if err != nil {
			return nil, err
		}
		for _, m := range marks {
			if m.level != "" && !seen[m.level] {
				seen[m.level] = true
				levels = append(levels, m.level)
			}
			if m.name != "" && !seen[m.name] {
				seen[m.name] = true
				names = append(names, m.name)
			}
		}
	}
	slices.SortFunc(levels, func(a, b string) int {
		m, _ := strconv.Atoi(a)
		n, _ := strconv.Atoi(b)
		return cmp.Compare(m, n)
	})
	slices.Sort(names)
	return append(levels, names...), nil
}

// CheckPhase returns an error that lists the existing phases, if no rank has one of that name. nil ranks means all.
func CheckPhase(name string, r *trace.Reader, ranks []int) error {
	there, err := PhaseNames(r, ranks)
	switch {
	case err != nil || slices.Contains(there, name):
		return err
	case len(there) == 0:
		return errors.New("the program marks no phases: it does not call MPI_Pcontrol, and no plugin did")
	}
	return fmt.Errorf("there is no phase %s; marked are %s", name, strings.Join(there, ", "))
}

// A within reports whether positions of a thread are in a wanted phase. Callers ask in rising order of positions. A nil
// within accepts all positions.
type within struct {
	phases *Phases
	at     CallRange
}

// phases returns the filter of a thread; nil if all calls are wanted.
func (s *Source) phases(k *trace.Rank, stream int) (*within, error) {
	if s.o.Phase == "" {
		return nil, nil
	}
	p, err := PhasesOf(k, stream, s.o.Phase)
	return &within{phases: p}, err
}

func (w *within) has(index uint64) bool {
	if w == nil {
		return true
	}
	if index >= w.at.End {
		var ok bool
		if w.at, ok = w.phases.FirstEndingAfter(index); !ok {
			w.at = CallRange{First: math.MaxUint64, End: math.MaxUint64}
		}
	}
	return w.at.First <= index
}
