// Command order measures what the order of calls would take if it were coded otherwise: as the grammars that traces have, as grammars
// whose rules are the program's functions and rounds of its loops, and as counts by place of the program's code, as Cypress has
// them (Zhai et al., CYPRESS: Combining Static and Dynamic Analysis for Top-Down Communication Trace Compression, SC14). It runs the
// programs of test/apps and others that are installed, or takes traces of them.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/bench/markdown"
	"github.com/spoor-hpc/spoor/bench/scale/real"
	"github.com/spoor-hpc/spoor/internal/symbolise"
	"github.com/spoor-hpc/spoor/internal/tailcall"
	"github.com/spoor-hpc/spoor/internal/tree"
	"github.com/spoor-hpc/spoor/internal/wire"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "order:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	f := flag.NewFlagSet("order", flag.ExitOnError)
	programs := f.String("programs", "", "comma-separated `names`; all if empty")
	ranks := f.String("ranks", "4,16,64", "comma-separated `numbers` of ranks")
	name := f.String("mpi", "mpich", "`MPI` to run them under")
	limit := f.Duration("limit", 4*time.Minute, "how long a run may take")
	into := f.String("into", "", "put the table into this `page`")
	if err := f.Parse(args); err != nil {
		return err
	}
	var table strings.Builder
	table.WriteString("| program | ranks | classes | calls | grammars | by functions and loops | by place |\n|---|---|---|---|---|---|---|\n")
	put := func(file, program string) error {
		row, err := measure(file)
		if err != nil {
			return fmt.Errorf("%s: %w", program, err)
		}
		fmt.Printf("| %s | %s\n", program, row)
		fmt.Fprintf(&table, "| %s | %s\n", program, row)
		return nil
	}
	for _, file := range f.Args() {
		if err := put(file, filepath.Base(file)); err != nil {
			return err
		}
	}
	if f.NArg() == 0 {
		if err := runs(*programs, *ranks, *name, *limit, put); err != nil {
			return err
		}
	}
	if *into != "" {
		return markdown.Insert(*into, "table", table.String())
	}
	return nil
}

// runs runs programs and measures their traces.
func runs(programs, ranks, name string, limit time.Duration, put func(file, program string) error) error {
	tool, err := mpis.Spoor()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "order")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	list := real.Names()
	if programs != "" {
		list = strings.Split(programs, ",")
	}
	b := &real.Bench{Tool: tool, Dir: dir, Timeout: limit, Flags: []string{"--stack", "16"}}
	for _, m := range mpis.Installed() {
		if m.Name != name {
			continue
		}
		for _, program := range list {
			for _, text := range strings.Split(ranks, ",") {
				n, err := strconv.Atoi(text)
				if err != nil {
					return err
				}
				r, err := b.Run(m, program, n)
				if err != nil {
					fmt.Fprintf(os.Stderr, "order: %s on %d ranks: %v\n", program, n, err)
					continue
				}
				if r == nil {
					continue // not there for this MPI
				}
				if err := put(filepath.Join(dir, fmt.Sprintf("%s-%s-%d.spoor", program, m.Name, n)), program); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// A coding is what one way takes for all classes.
type coding struct {
	raw    []byte
	failed bool // it would not give the order back
}

// String is bytes, and bytes behind the coder of small sections.
func (c *coding) String() string {
	if c.failed {
		return "–"
	}
	packed := len(c.raw)
	if p, ok := wire.Mix(c.raw); ok {
		packed = min(packed, len(p))
	}
	return fmt.Sprintf("%d / %d", len(c.raw), packed)
}

// measure codes the streams of one rank of each class in all ways.
func measure(file string) (string, error) {
	r, err := trace.Open(file)
	if err != nil {
		return "", err
	}
	defer r.Close()
	c, err := r.Code()
	if err != nil {
		return "", err
	}
	if c == nil {
		s := symbolise.New(symbolise.Options{})
		if c, err = tree.Of(r, s, tailcall.New(s)); err != nil || c == nil {
			return "", fmt.Errorf("nothing is known of the program's code: %w", err)
		}
	}
	ways := tree.NewWays(c)
	var grammars, shaped, placed coding
	calls := uint64(0)
	known := make(map[string]bool) // classes with equal grammars have them once
	for class := range r.Classes() {
		k, err := r.Rank(r.Members(class)[0])
		if err != nil {
			return "", err
		}
		vertex, err := tree.Vertices(k, c)
		if err != nil {
			return "", err
		}
		for stream := range k.Streams() {
			calls += k.Len(stream) * uint64(len(r.Members(class)))
			own := tree.Recorded(k.Structure(stream)).AppendBinary(nil)
			if known[string(own)] {
				continue
			}
			known[string(own)] = true
			grammars.raw = append(grammars.raw, own...)
			g, _ := ways.Shape(vertex, k.Sequence(stream))
			shaped.raw = g.AppendBinary(shaped.raw)
			p := newPlaces(c, ways, vertex)
			for t := range k.Sequence(stream) {
				p.call(t)
			}
			p.end()
			if placed.failed = placed.failed || !p.gives(k.Sequence(stream)); !placed.failed {
				placed.raw = p.append(placed.raw)
			}
		}
	}
	return fmt.Sprintf("%d | %d | %d | %v | %v | %v |", r.Ranks(), r.Classes(), calls, &grammars, &shaped, &placed), nil
}
