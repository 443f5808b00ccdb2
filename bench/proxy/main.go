// Command proxy counts the lines of the programs that `spoor proxy` would write
// for traces, next to what the traces hold. Traces of the patterns of
// bench/scale come from there:
//
//	go run ./bench/scale -ranks 64,1024 -baseline=false -keep DIR
//	go run ./bench/proxy DIR/*.spoor
//
// With -results it counts the outcomes that test/proxy wrote to a file instead:
//
//	SPOOR_TEST_PROXY=all SPOOR_TEST_PROXY_RESULTS=FILE go test -timeout 2h ./test/proxy
//	go run ./bench/proxy -results FILE
//
// With -compute it measures how long proxies take that spend the time between
// calls in each of the ways there are:
//
//	go run ./bench/proxy -compute openmpi
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/reproduce/proxy"
	"github.com/spoor-hpc/spoor/trace"
)

func main() {
	var o options
	flag.StringVar(&o.results, "results", "", "count the outcomes in this `file`")
	flag.StringVar(&o.mpi, "compute", "", "measure proxies under this `MPI`")
	flag.IntVar(&o.ranks, "ranks", 2, "with -compute: ranks; no more than there are cores")
	flag.IntVar(&o.rounds, "rounds", 3, "with -compute: recordings of each program")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a profile to this `file`")
	flag.Parse()
	if err := o.run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
}

type options struct {
	results, mpi, profile string
	ranks, rounds         int
}

func (o *options) run(traces []string) error {
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	var b bytes.Buffer
	var err error
	switch {
	case o.results != "":
		err = count(&b, o.results)
	case o.mpi != "":
		err = compute(&b, o.mpi, o.ranks, o.rounds)
	case len(traces) == 0:
		return errors.New("no traces; see --help")
	default:
		err = lines(&b, traces)
	}
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(b.Bytes())
	return err
}

// lines prints a table with a row for each trace's program.
func lines(w io.Writer, traces []string) error {
	fmt.Fprintln(w, "| trace | ranks | calls | trace bytes | lines | of tables | functions | programs | ms |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|---:|---:|")
	slices.SortFunc(traces, func(a, b string) int {
		p, m := pattern(a)
		q, n := pattern(b)
		return cmp.Or(cmp.Compare(p, q), cmp.Compare(m, n))
	})
	for _, name := range traces {
		if err := row(w, name); err != nil {
			return err
		}
	}
	return nil
}

// pattern splits the path of a trace of bench/scale, such as DIR/cg-64.spoor, into program and number of ranks; 0:
// unknown.
func pattern(name string) (pattern string, ranks int) {
	name = strings.TrimSuffix(filepath.Base(name), ".spoor")
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil {
			return name[:i], n
		}
	}
	return name, 0
}

func row(w io.Writer, name string) error {
	st, err := os.Stat(name)
	if err != nil {
		return err
	}
	r, err := trace.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	calls := uint64(0)
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			return err
		}
		calls += k.TotalCallCount()
	}
	start := time.Now()
	p, err := proxy.GenerateProgram(r, proxy.Options{})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text := p.Files["proxy.c"]
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %d | %d |\n", strings.TrimSuffix(filepath.Base(name), ".spoor"), r.Ranks(), calls,
		st.Size(), p.Lines, tables(text), p.StructureFunctions, p.RankVariants, time.Since(start).Milliseconds())
	return nil
}

// tables returns how many lines of a proxy's C text are constant arrays. They hold values for which there is no
// formula.
func tables(text []byte) int {
	n, inside := 0, false
	for _, line := range bytes.Split(text, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("static const ")) || bytes.HasPrefix(line, []byte("    static const ")) {
			inside = true
		}
		if inside {
			n++
		}
		if bytes.HasSuffix(line, []byte("};")) {
			inside = false
		}
	}
	return n
}
