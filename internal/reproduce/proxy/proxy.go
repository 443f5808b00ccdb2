// Package proxy writes a C program that makes the calls of a trace again: one C
// function for each piece of structure that the compression found, loops as
// loops, values that differ from rank to rank as expressions of the rank. Its
// size follows that of the compressed trace, not the number of calls
// (pilgrim-tpds2022 §3).
//
// The package doesn't compile or run what it writes, and it makes no calls
// itself; what can't be called again is for package reissue to say.
//
// What holds in every program:
//
//  1. Calls are those of the trace, in its order, with its parameters.
//  2. It waits where the original found something finished, so that the same
//     requests finish in the same places; it can't wait for what never comes,
//     because the original's order was possible.
//  3. Files of the original are not touched.
package proxy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/trace"
)

// Options of the generator.
type Options struct {
	GapAction    string   // what the program does in gaps by default: sleep, spin, none
	AllowPartial bool     // leave out calls that can't be made again, and stop where an unfinished program stopped
	GapModel     GapModel // how gaps before calls are chosen
	// KeepRecordedOrder has requests finish in the recorded order, and tests fail as often as recorded, even where no
	// rule describes that.
	KeepRecordedOrder bool
	Target            reissue.TargetMPI
	// Code gives the proxy the traced program's functions and loops; nil: it gets those of the grammar.
	Code *trace.Code
	// RenderSite renders a call site; nil: module and offset.
	RenderSite func(trace.Site) string
}

// GapModel is how the gap before a call is chosen.
type GapModel string

// GapsDrawn means samples of the trace's histograms or, without these, the mean of the place and rank. GapsMean means
// always the mean. GapsRecorded means each call's own gap, from files beside the program.
const (
	GapsDrawn    GapModel = "drawn"
	GapsMean     GapModel = "mean"
	GapsRecorded GapModel = "followed"
)

// A RefusedError lists the reasons why a trace can't become a program.
type RefusedError struct{ Obstacles []reissue.Obstacle }

func (e *RefusedError) Error() string {
	n := uint64(0)
	for _, o := range e.Obstacles {
		n += o.Calls
	}
	return fmt.Sprintf("%d calls can't be made again", n)
}

// A Program is a generated program.
type Program struct {
	Files              map[string][]byte  // content of each file by path, with slashes
	LeftOut            []reissue.Obstacle // obstacles of calls left out with Options.AllowPartial
	StructureFunctions int                // number of C functions made from rules of the grammars
	Lines              int                // number of lines of proxy.c
	RankVariants       int                // number of sets of ranks with a program of their own

	// For a program for any number of ranks. UndeterminedValues is the number of values that the traces don't determine on
	// other numbers of ranks. UndeterminedTableRows is how many of them are rows of tables.
	UndeterminedValues, UndeterminedTableRows int
}

// Write writes the program into a folder, which it makes if needed.
func (p *Program) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fmt.Errorf("proxy: %w", err)
		}
		if err := os.WriteFile(path, p.Files[name], 0o666); err != nil {
			return fmt.Errorf("proxy: %w", err)
		}
	}
	return nil
}

// GenerateProgram makes the program of a trace. If some calls can't be made again and
// Options don't say to leave them out, the error is a *RefusedError.
func GenerateProgram(r *trace.Reader, o Options) (*Program, error) {
	g, obstacles, err := analyse(r, o)
	if err != nil {
		return nil, err
	}
	p := g.program()
	if o.GapModel == GapsRecorded {
		if err := g.follow(p.Files); err != nil {
			return nil, fmt.Errorf("proxy: %w", err)
		}
	}
	p.LeftOut = obstacles
	return p, nil
}

// analyse computes everything that is written later.
func analyse(r *trace.Reader, o Options) (*generator, []reissue.Obstacle, error) {
	o.Target.KeepMPIChosenNumbers = true
	g := newGenerator(r, o)
	if err := g.count(); err != nil {
		return nil, nil, fmt.Errorf("proxy: %w", err)
	}
	search, err := reissue.NewObstacleSearch(r, o.Target)
	if err == nil {
		err = g.variants(search)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("proxy: %w", err)
	}
	if o.AllowPartial {
		if g.ends, err = reissue.FindStreamEnds(r); err != nil {
			return nil, nil, fmt.Errorf("proxy: %w", err)
		}
	}
	if err := g.findTurns(r); err != nil {
		return nil, nil, fmt.Errorf("proxy: %w", err)
	}
	obstacles, windows, err := reissue.WithoutAddressObstacles(r, search.List())
	if g.windows = windows; err != nil {
		return nil, nil, fmt.Errorf("proxy: %w", err)
	}
	if len(obstacles) > 0 && !o.AllowPartial {
		return nil, nil, &RefusedError{obstacles}
	}
	g.prepare()
	for _, v := range g.list {
		if err := g.variant(v); err != nil {
			return nil, nil, fmt.Errorf("proxy: %w", err)
		}
	}
	return g, obstacles, nil
}
