// Command sites measures what the calls of a trace would take if they were laid out by call site: sites in the order of the program,
// the loops around them, and for each loop, call, parameter and element of a list a column of numbers, with nothing lost. All is decoded
// again and compared with the trace. Traces are those that bench/scale -keep wrote, or any other.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spoor-hpc/spoor/trace"
)

func main() {
	flag.Parse()
	fmt.Printf("%-20s %9s %9s %9s", "trace", "calls", "file", "content")
	for _, w := range ways {
		fmt.Printf(" %9s", w.name)
	}
	fmt.Println()
	for _, path := range flag.Args() {
		if err := run(path); err != nil {
			fmt.Fprintf(os.Stderr, "sites: %s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

// ways are what is looked for, each with what those before it have.
var ways = []struct {
	name string
	give options
}{
	{"columns", options{}},
	{"rounds", options{rounds: true}},
	{"likes", options{rounds: true, likes: true}},
	{"requests", options{rounds: true, likes: true, requests: true}},
}

// run prints a line of a trace.
func run(path string) error {
	r, err := trace.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	m, err := measure(r)
	if err != nil {
		return err
	}
	fmt.Printf("%-20s %9d %9d %9d", strings.TrimSuffix(filepath.Base(path), ".spoor"), m.calls, st.Size(), m.content)
	for _, n := range m.sizes {
		fmt.Printf(" %9d", n)
	}
	fmt.Println()
	return nil
}

// A measured trace has so many calls, bytes in the sections that say which they are, and bytes by call sites in each way.
type measured struct {
	calls   uint64
	content int64
	sizes   []int64
}

func measure(r *trace.Reader) (*measured, error) {
	m := &measured{}
	classes := int64(0) // who is in which class is said as it is now
	for _, s := range r.Sections() {
		switch s.Name {
		case "ranks":
			classes = s.Stored
			m.content += s.Stored
		case "signatures", "classes", "columns", "lanes":
			m.content += s.Stored
		}
	}
	for _, w := range ways {
		trees, err := treesOf(r, w.give.requests)
		if err != nil {
			return nil, err
		}
		c, size, err := encode(trees, w.give).packed()
		if err != nil {
			return nil, err
		}
		got, err := decode(c, r.Ranks(), r.Schema())
		if err != nil {
			return nil, err
		}
		if m.calls, err = verify(got, r, w.give.requests); err != nil {
			return nil, err
		}
		m.sizes = append(m.sizes, int64(size)+classes)
	}
	return m, nil
}
