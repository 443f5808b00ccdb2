// Package extrapolate makes the trace of a run on a number of ranks that nobody ran, from traces of the same program on smaller ones.
//
// All ranks of all runs share one shape: call sites in order, and loops around them. What differs, whether a site is reached, how often a loop
// goes round, and each value, is a slot, for which forms of the rank and the number of ranks are tried, simplest first. A slot is told only if
// all simplest forms that agree with everything seen say the same of the rank that is asked for. After Wu and Mueller, ScalaExtrap (PPoPP 2011), which
// fits parameters of stencils along the corners of a grid.
package extrapolate

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/internal/track/trackwriter"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

const (
	requestType = trace.Request
	nonblocking = model.Nonblocking
)

// A Refusal lists what can't be told.
type Refusal struct {
	Slots map[string]int // by slot: how many calls depend on it
}

func (r *Refusal) Error() string {
	var list []string
	for s := range r.Slots {
		list = append(list, s)
	}
	sort.Strings(list)
	more := ""
	if len(list) > 5 {
		more = fmt.Sprintf("\n  and %d more", len(list)-5)
		list = list[:5]
	}
	return fmt.Sprintf("%d values can't be told:\n  %s%s", len(r.Slots), strings.Join(list, "\n  "), more)
}

// A Model is what traces of one program on several numbers of ranks have in common.
type Model struct{ m *pattern }

// Learn finds the model of traces, which are of one program on different numbers of ranks.
func Learn(traces []*trace.Reader) (*Model, error) {
	if len(traces) < 3 {
		return nil, errors.New("three traces at least are needed, on different numbers of ranks")
	}
	list := slices.Clone(traces)
	sort.SliceStable(list, func(i, j int) bool { return list[i].Ranks() < list[j].Ranks() })
	p := newProgram()
	var calls [][][]call
	for i, r := range list {
		if i > 0 && r.Ranks() == list[i-1].Ranks() {
			return nil, fmt.Errorf("two traces are of %d ranks", r.Ranks())
		}
		p.runs = append(p.runs, &run{r.Ranks(), r})
		var of [][]call
		for rank := range r.Ranks() {
			k, err := r.Rank(rank)
			if err != nil {
				return nil, err
			}
			if rank == 0 {
				if err := p.take(k); err != nil {
					return nil, err
				}
			}
			c, err := p.rank(k)
			if err != nil {
				return nil, err
			}
			of = append(of, c)
		}
		calls = append(calls, of)
	}
	m, err := learn(p, calls)
	if err != nil {
		return nil, err
	}
	return &Model{m}, nil
}

// take keeps strings and sites that occur as values.
func (p *program) take(k *trace.Rank) error {
	h, err := k.Track()
	if err != nil {
		return err
	}
	t := track.Handed(h).Track()
	for v, s := range t.Strings {
		p.tables.Strings[v] = s
	}
	for v, s := range t.Sites {
		if v > 1<<32 { // the hash of one that is a value
			p.tables.Sites[v] = s
		}
	}
	return nil
}

// At returns the content of the trace on so many ranks, or a *Refusal.
func (x *Model) At(ranks int) (*sections.Content, error) {
	to, err := trackwriter.NewCollector(ranks, timing.Options{Mode: timing.None})
	if err != nil {
		return nil, err
	}
	defer to.Close()
	refused := make(map[string]int)
	var process track.Process
	last := x.m.runs[len(x.m.runs)-1].r
	for rank := range ranks {
		w, err := x.m.rankOf(int64(ranks), rank, refused)
		if err != nil {
			return nil, err
		}
		if len(refused) == 0 {
			if rank == 0 {
				k, err := last.Rank(0)
				if err != nil {
					return nil, err
				}
				q, err := k.Process()
				if err != nil {
					return nil, err
				}
				process = track.Process{Host: q.Host, PID: q.PID, End: q.End, Threads: 1}
			}
			if err := to.Add(w, process); err != nil {
				return nil, err
			}
		}
		w.Close()
		if len(refused) > mostRefused {
			break
		}
	}
	if len(refused) > 0 {
		return nil, &Refusal{refused}
	}
	meta := make(map[string]string)
	for k, v := range last.Meta() {
		meta[k] = v
	}
	return to.Content(meta)
}

// mostRefused ends the search for what can't be told.
const mostRefused = 1000
