// Package bysite codes which calls all ranks made by the program's call sites, and makes those sections of a file of it again
// that say so by distinct calls. Sites stand in the order of the program with the loops around them; for each loop, call,
// parameter and element of a list there is a column of numbers over all ranks. Where data decide who talks to whom, how much or how often, that
// takes a fifth to two thirds of what distinct calls take.
//
// Invariants:
//
//  1. What is decoded MUST be, call by call, what was coded: function, site and each value.
//  2. Classes that are made again MUST number distinct calls as those did that the calls are from: times, places and all else in
//     a file refer to these numbers. Which ranks are a class is known; all else follows from the calls, in the way in which
//     recorder and merge make it. Where it doesn't, whoever writes a file finds that, and keeps what there was.
//  3. A decoder MUST NOT take more memory or time than budget has numbers, whatever the bytes say: all calls are gone through.
//
// The package knows nothing of files and readers, and doesn't find the sites' order.
package bysite

import (
	"errors"
	"fmt"
	"iter"

	"github.com/spoor-hpc/spoor/internal/sections"
	"github.com/spoor-hpc/spoor/internal/signature"
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// What calls can be coded of. Writer and reader both look here.
const (
	// MostCalls bounds the calls of all ranks: a reader goes through them before it can say anything of any.
	MostCalls = 1 << 20
	// mostNumbers bounds the numbers of all columns together, be they kept or not, mostStored those in memory.
	mostNumbers = 1 << 26
	mostStored  = 1 << 24
	// mostCells bounds the ranks times the columns, MostRanks the ranks.
	mostCells = 1 << 21
	MostRanks = 1 << 16
	// mostDepth bounds what can be around a column.
	mostDepth = 60
)

// ErrNotCoded is wrapped by errors that say that calls can't be coded by sites.
var ErrNotCoded = errors.New("calls that can't be coded by sites")

// A Thread is the calls of one thread of all ranks, to be coded.
type Thread struct {
	Sites []Site
	Loops []Span // from the left, those around others before these
	// Calls are those of a rank, each with its place in Sites; values are without displacements that follow. Nil: the rank has no such thread.
	Calls func(rank int) iter.Seq2[int, *signature.Signature]
}

// A Site is a function that is called from a place, which may have several numbers: for the phases that begin there, or
// loops that went round before.
type Site struct {
	Function *model.Function
	Numbers  []int
}

// A Span is the places of a loop.
type Span struct{ First, Last int }

func (s Span) has(place int) bool { return s.First <= place && place <= s.Last }

// Encode codes the calls of so many ranks from sites of which it knows the order.
func Encode(threads []Thread, ranks int, order *sections.SiteOrder) ([]byte, error) {
	var best []byte
	size := 0
	for _, follow := range []bool{false, true} {
		b, err := encode(threads, ranks, order, follow)
		if err != nil {
			return nil, err
		}
		if n := wire.Packed(b); best == nil || n < size {
			best, size = b, n
		}
	}
	return best, nil
}

// encode writes shape and numbers, behind what is left out:
//
//	by site = follow uint8, bytes of the shape uvarint, shape, numbers
//	shape   = threads uvarint, (tree, formulas)…
//	numbers = per column that is kept: lists
func encode(threads []Thread, ranks int, order *sections.SiteOrder, follow bool) ([]byte, error) {
	shape := wire.AppendUvarint(nil, uint64(len(threads)))
	var numbers []byte
	room := newBudget()
	for i := range threads {
		t, err := treeOf(&threads[i], ranks, follow, room)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotCoded, err)
		}
		shape = t.append(shape, order)
		f := &fitter{t: t}
		of := make([]formula, len(t.nodes))
		for n := range t.nodes {
			if !t.nodes[n].kind.column() {
				continue
			}
			if of[n] = f.fit(n); of[n].way == kept {
				numbers = append(numbers, keep(f.lists(n, &of[n]))...)
			}
		}
		shape = t.appendFormulas(shape, of)
	}
	b := []byte{0}
	if follow {
		b[0] = 1
	}
	b = wire.AppendUvarint(b, uint64(len(shape)))
	return append(append(b, shape...), numbers...), nil
}

// Decode reads the calls of so many ranks. Functions are those of the schema, by id.
func Decode(r *wire.Reader, ranks int, schema map[uint16]*model.Function, order *sections.SiteOrder) []*Rank {
	follow := r.Int(1) > 0
	shape := wire.NewReader(r.Blob(), "shape")
	numbers := wire.NewReader(r.Remaining(), "numbers")
	r.Skip(r.Rest())
	if r.Err() != nil {
		return nil
	}
	room := newBudget()
	if ranks > MostRanks {
		r.Fail("%d ranks", ranks)
		return nil
	}
	list := make([]*Rank, ranks)
	for rank := range list {
		list[rank] = newRank()
	}
	for range shape.Count(1) {
		t := decodeTree(shape, ranks, schema, order, room)
		if t == nil || !t.read(shape, numbers) {
			break
		}
		for rank := range ranks {
			if err := t.give(rank, follow, list[rank], room); err != nil {
				shape.Check(fmt.Errorf("rank %d: %w", rank, err))
				break
			}
		}
		if shape.Err() != nil {
			break
		}
	}
	r.Check(shape.Done())
	r.Check(numbers.Done())
	if r.Err() != nil {
		return nil
	}
	return list
}

// read fills in the columns.
func (t *tree) read(shape, numbers *wire.Reader) bool {
	of := t.decodeFormulas(shape)
	if of == nil {
		return false
	}
	f := &fitter{t: t}
	for n, m := range of.all(t) {
		switch {
		case m == nil:
		case m.way == kept:
			f.read(n, m, numbers)
			shape.Check(numbers.Err())
		default:
			shape.Check(f.fill(n, m))
		}
		if shape.Err() == nil {
			shape.Check(t.measure(n))
		}
		if shape.Err() != nil {
			return false
		}
	}
	return true
}

// A budget is what is left of the numbers that there may be.
type budget struct{ calls, numbers, stored int64 }

func newBudget() *budget { return &budget{MostCalls, mostNumbers, mostStored} }

var errBudget = errors.New("more calls or values than can be coded by sites")

// take takes numbers off one part.
func take(left *int64, n int64) error {
	if n < 0 || n > *left {
		*left = 0
		return errBudget
	}
	*left -= n
	return nil
}

// leftOut are a signature's values without displacements that follow from counts.
func LeftOut(f *model.Function, vals []int64) ([]int64, error) {
	spans, err := sections.SpansOf(f, nil, vals)
	if err != nil {
		return nil, err
	}
	for counts, displs := range sections.SumsOf(f, spans) {
		signature.LeaveOut(vals[counts.At:counts.End], vals[displs.At:displs.End])
	}
	return vals, nil
}
