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
	columns := flag.Bool("columns", false, "list the columns that are kept in the last form, too")
	flag.Parse()
	fmt.Printf("%-20s %9s %9s %9s %9s %9s", "trace", "calls", "file", "content", "again", "derived")
	for _, w := range ways {
		fmt.Printf(" %9s", w.name)
	}
	fmt.Println()
	for _, path := range flag.Args() {
		if err := run(path, *columns); err != nil {
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
func run(path string, columns bool) error {
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
	fmt.Printf("%-20s %9d %9d %9d %9d %9d", strings.TrimSuffix(filepath.Base(path), ".spoor"), m.calls, st.Size(), m.content, m.now[0], m.now[1])
	for _, n := range m.sizes {
		fmt.Printf(" %9d", n)
	}
	fmt.Println()
	if columns {
		return listColumns(os.Stdout, r)
	}
	return nil
}

// A measured trace has so many calls, bytes in the sections that say which they are, and bytes by call sites in each way.
type measured struct {
	calls   uint64
	content int64
	now     [2]int64 // content of a trace that is made of the calls again, and of one without what follows from requests
	sizes   []int64
}

func measure(r *trace.Reader) (*measured, error) {
	m := &measured{}
	content, classes := contentOf(r) // who is in which class is said as it is now
	m.content = content
	for i, on := range []bool{false, true} {
		var err error
		if m.now[i], err = nowWithout(r, on); err != nil {
			return nil, err
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
