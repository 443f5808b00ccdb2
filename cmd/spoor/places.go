package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/calltree"
	"github.com/spoor-hpc/spoor/internal/code/symbolise"
	"github.com/spoor-hpc/spoor/internal/sites"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/model"
)

// places finds function, file and line of call sites, with which verbs name them in their output.
type places struct {
	s     *symbolise.Symboliser
	tails *tree.TailCalls
	late  bool // machine code was not used, as reading it took longer than longestSearch
}

func debugPathFlag(f *pflag.FlagSet, paths *[]string) {
	f.StringArrayVar(paths, "debug-path", nil, "also look for programs, libraries and debug files in this `folder`; repeatable")
}

func newPlaces(paths []string) *places {
	s := symbolise.New(symbolise.Options{SearchFolders: paths})
	return &places{s: s, tails: tree.NewTailCalls(s)}
}

// placesOf returns places for the call sites of a trace, in which different addresses have different names.
func placesOf(r *trace.Reader, paths []string) (*places, error) {
	p := newPlaces(paths)
	return p, p.tellApart(r, true)
}

// sitesOf returns places for a trace, and a naming that says which addresses are one call site: those of one source
// line with equal call paths. With apart, each address is a call site.
func sitesOf(r *trace.Reader, paths []string, apart bool) (*places, *sites.Naming, error) {
	p := newPlaces(paths)
	if err := p.tellApart(r, apart); err != nil || apart {
		return p, sites.NamingByAddress(p.called), err
	}
	named, err := sites.NamingByLine(r, p.called)
	return p, named, err
}

// apartFlag adds --sites, the flag with which each address is a call site of its own.
func apartFlag(f *pflag.FlagSet, apart *bool) {
	f.BoolVar(apart, "sites", false, "a call site for each address: compilers copy calls")
}

// tellApart has the names of places whose line isn't known include their addresses, where they would be equal
// otherwise. With lines, it does so for different addresses of one source line, too.
func (p *places) tellApart(r *trace.Reader, lines bool) error {
	var list []symbolise.ReturnSite
	seen := make(map[symbolise.ReturnSite]bool)
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			return err
		}
		for t := range k.Terminals() {
			c := k.CallWithoutParams(t)
			calls := c.Name()
			for _, frame := range c.Site.Frames() {
				x := symbolise.ReturnSite{Path: frame.Module, BuildID: frame.BuildID, Offset: frame.Offset, Callee: calls}
				if place := p.of(frame); !seen[x] && (lines || place.Precision < symbolise.PrecisionLine) {
					seen[x] = true
					list = append(list, x)
				}
				calls = p.function(frame)
			}
		}
	}
	p.s.MarkAmbiguous(list)
	return nil
}

// function returns the name of a frame's function; "" if it isn't known.
func (p *places) function(frame trace.Site) string {
	if where := p.of(frame); len(where.Frames) > 0 {
		return where.Frames[len(where.Frames)-1].Name()
	}
	return ""
}

func (p *places) of(s trace.Site) symbolise.Place {
	return p.s.PlaceOfReturnOffset(s.Module, s.BuildID, s.Offset)
}

// called returns the place of a call in a call stack: of an MPI function, or of a function around it. The place
// includes functions that are missing in the stack because of tail calls.
func (p *places) called(function string, s trace.Site) symbolise.Place {
	return p.tails.Place(function, s)
}

func (p *places) text(s trace.Site) string {
	where := p.of(s)
	return where.String()
}

// call returns the place of a call. For a call from a C library it adds the line of Python that called the library.
func (p *places) call(s trace.Site) string {
	where := p.of(s)
	for where.IsStub() && s.Caller != nil {
		s = *s.Caller
		where = p.of(s)
	}
	text := where.String()
	if line, ok := model.EnclosingSourceLine(s); ok {
		text += " < " + p.text(line)
	}
	return text
}

// atCall is call with the parameters that analyses pass: the function's name, which isn't needed, and the call site.
func (p *places) atCall(_ string, s trace.Site) string { return p.call(s) }

// thread returns the name of the function that a thread runs, which contains address s.
func (p *places) thread(s trace.Site) string {
	where := p.of(s)
	return where.ThreadFunction()
}

// code returns the functions and loops around calls as the machine code has them: from the trace, else from the
// binaries if they are unchanged since the run; nil if neither has them.
func (p *places) code(r *trace.Reader) (*trace.Code, error) {
	if c, err := r.Code(); c != nil || err != nil {
		return c, err
	}
	progress := newProgress(os.Stderr, "pairs of calls looked at in machine code", 0)
	defer progress.end()
	ctx, cancel := context.WithTimeout(context.Background(), longestSearch)
	defer cancel()
	c, err := tree.Build(ctx, r, p.s, p.tails, tree.Options{Progress: func(done, total int) {
		progress.total = total
		progress.steps(done - progress.done)
	}})
	if errors.Is(err, context.DeadlineExceeded) {
		p.late = true
		return nil, nil
	}
	return c, err
}

// longestSearch is how long a verb reads machine code at most, for loops and functions that the trace lacks.
const longestSearch = 2 * time.Minute

// tree returns options for a call tree whose loops are those of the machine code. If that isn't known, they are found
// from the order of calls.
func (p *places) tree(r *trace.Reader) (o calltree.Options, err error) {
	o.Locate = p.called
	o.Code, err = p.code(r)
	return o, err
}

// complain prints why places have no function or line (e.g. a changed binary), and why loops aren't those of the
// machine code.
func (p *places) complain(cmd *cobra.Command) {
	for _, note := range p.s.ImprecisionNotes() {
		complain(cmd, errors.New(note))
	}
	if p.late {
		complain(cmd, fmt.Errorf("loops are by the order of calls: those of the machine code were not found within %s", longestSearch))
	}
}
