package main

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/reduce/rounds"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// A drawnRounds is a family of loops whose numbers of rounds are drawn, as people read it.
type drawnRounds struct {
	Of           string `json:"of"`
	Precision    int    `json:"precision"`
	Seed         uint64 `json:"seed"`
	Runs         uint64 `json:"runs"`
	distribution        // of rounds, before
}

// drawnOf says which loops of a trace are drawn: those that begin with some call at some place.
func drawnOf(r *trace.Reader, where *places) ([]drawnRounds, error) {
	list, err := r.Drawn()
	if err != nil || list == nil {
		return nil, err
	}
	seed, err := r.DrawnSeed()
	if err != nil {
		return nil, err
	}
	out := make([]drawnRounds, len(list))
	for i, x := range list {
		out[i] = drawnRounds{Precision: x.Precision, Seed: seed, Runs: x.Runs, distribution: distributionOf(x.Least, x.Most, x.Bins)}
	}
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			return nil, err
		}
		for t := range k.Terminals() {
			family := k.InDrawn(t)
			if family < 0 || out[family].Of != "" {
				continue
			}
			c := k.Called(t)
			out[family].Of = fmt.Sprintf("%s at %s", c.Name(), where.text(c.Site))
		}
	}
	return out, nil
}

// text says it in a line.
func (d *drawnRounds) text() string {
	return fmt.Sprintf("rounds of loops with %s, as one of %d: %d (rank %d) to %d (rank %d) in %s before; tolerance %s, seed %d", d.Of, len(d.Bins),
		d.Least, d.LeastRank, d.Most, d.MostRank, show.Plural(d.Runs, "run"), toleranceText(d.Precision), d.Seed)
}

// keptText says what other loops have numbers of rounds that differ, and why they stay.
func keptText(list []rounds.Kept) string {
	var parts []string
	for i, k := range list {
		if i == mostKept {
			parts = append(parts, fmt.Sprintf("and %d other reasons", len(list)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s, of %s", k.Why, show.Plural(k.Runs, "run")))
	}
	return strings.Join(parts, "; ")
}

// mostKept is how many reasons are told.
const mostKept = 4

// drawnMark is what stands behind a call in such a loop.
func drawnMark(list []trace.Drawn, family int) string {
	if family < 0 {
		return ""
	}
	x := &list[family]
	return fmt.Sprintf(" # rounds drawn of %s..%s", show.Grouped(uint64(x.Least.Value)), show.Grouped(uint64(x.Most.Value)))
}
