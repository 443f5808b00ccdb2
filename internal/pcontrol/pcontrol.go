// Package pcontrol knows the phases that a program marks with MPI_Pcontrol: the calls of a thread
// from a call of MPI_Pcontrol(level) on, that one among them, up to its next one. They are known by the
// level, and a program may come to a phase any number of times. The call whose level is 0 switches
// tracing off, so that its phase has no more than what is recorded even then.
//
// Phases are found in the compressed form, by position: times are not looked at, and nothing is expanded. What
// stands before a thread's first MPI_Pcontrol is in no phase, and so is all that a thread does that
// makes no such call. What a program passes behind the level can't be known: C has no means to
// tell whether anything is there.
package pcontrol

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/trace"
)

// A Span is calls of a thread by their positions, from First to before End.
type Span struct{ First, End uint64 }

// Phases tells where a thread is in the phase of a level. It is safe for use by several goroutines at once.
type Phases struct {
	begin *trace.Occurrences // the calls that begin it
	marks *trace.Occurrences // those that begin any
	end   uint64
}

// Of looks for the phases of a level in a thread.
func Of(k *trace.Rank, stream int, level int64) (*Phases, error) {
	marks, err := marksOf(k)
	if err != nil {
		return nil, err
	}
	return &Phases{
		begin: k.Occurrences(stream, func(t int) bool { return marks[t] == mark{true, level} }),
		marks: k.Occurrences(stream, func(t int) bool { return marks[t].is }),
		end:   k.Len(stream),
	}, nil
}

// From returns the first phase that ends behind a position; false if there is none.
func (p *Phases) From(index uint64) (Span, bool) {
	if index >= p.end {
		return Span{}, false
	}
	n := p.begin.Before(index + 1)
	if n > 0 {
		if s := p.span(n - 1); s.End > index {
			return s, true
		}
	}
	if n == p.begin.Total() {
		return Span{}, false
	}
	return p.span(n), true
}

// span returns the n-th phase.
func (p *Phases) span(n uint64) Span {
	first, _ := p.begin.Nth(n)
	s := Span{first, p.end}
	if next := p.marks.Before(first + 1); next < p.marks.Total() {
		s.End, _ = p.marks.Nth(next)
	}
	return s
}

// All yields the phases in order.
func (p *Phases) All() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for n := range p.begin.Total() {
			if !yield(p.span(n)) {
				return
			}
		}
	}
}

// A mark is what a terminal says of phases: whether it is an MPI_Pcontrol, and its level.
type mark struct {
	is    bool
	level int64
}

// marksOf returns the marks of a rank's terminals. Levels don't go on in lanes: the calls of a
// terminal have one.
func marksOf(k *trace.Rank) ([]mark, error) {
	list := make([]mark, k.Terminals())
	for t := range list {
		c, err := k.Terminal(t)
		if err != nil {
			return nil, err
		}
		if p := c.Param("level"); p != nil && c.Name() == "MPI_Pcontrol" {
			list[t] = mark{true, p.In.Num}
		}
	}
	return list, nil
}

// Levels returns the levels that ranks pass to MPI_Pcontrol, in rising order; nil ranks are all.
func Levels(r *trace.Reader, ranks []int) ([]int64, error) {
	if ranks == nil {
		for rank := range r.Ranks() {
			ranks = append(ranks, rank)
		}
	}
	seen := make(map[int64]bool)
	var list []int64
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
			if m.is && !seen[m.level] {
				seen[m.level] = true
				list = append(list, m.level)
			}
		}
	}
	slices.Sort(list)
	return list, nil
}

// Parse returns the level that a phase is named by, if one of the ranks has such a phase; the error
// says else which there are. nil ranks are all.
func Parse(name string, r *trace.Reader, ranks []int) (int64, error) {
	level, err := strconv.ParseInt(name, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is not a level of MPI_Pcontrol, such as 1", name)
	}
	there, err := Levels(r, ranks)
	if err != nil {
		return 0, err
	}
	switch {
	case slices.Contains(there, level):
		return level, nil
	case len(there) == 0:
		return 0, errors.New("the program marks no phases: it does not call MPI_Pcontrol")
	}
	texts := make([]string, len(there))
	for i, l := range there {
		texts[i] = strconv.FormatInt(l, 10)
	}
	return 0, fmt.Errorf("there is no phase %d; the program marks %s", level, strings.Join(texts, ", "))
}
