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
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"text/tabwriter"
	"time"

	"spoor/internal/proxy"
	"spoor/trace"
)

func main() {
	counted := flag.String("results", "", "count the outcomes in this `file`")
	mpi := flag.String("compute", "", "measure proxies under this `MPI`")
	ranks := flag.Int("ranks", 4, "with -compute: ranks")
	rounds := flag.Int("rounds", 3, "with -compute: recordings of each program")
	profile := flag.String("cpuprofile", "", "write a profile to this `file`")
	flag.Parse()
	if *counted != "" || *mpi != "" {
		var err error
		if *counted != "" {
			err = count(os.Stdout, *counted)
		} else {
			err = compute(os.Stdout, *mpi, *ranks, *rounds)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "proxy:", err)
			os.Exit(1)
		}
		return
	}
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: proxy TRACE..., or proxy -results FILE")
		os.Exit(2)
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "proxy:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "trace\tranks\tcalls\ttrace bytes\tlines\tof tables\tbytes\tfunctions\tprograms\ttime\t")
	for _, name := range flag.Args() {
		if err := row(w, name); err != nil {
			fmt.Fprintln(os.Stderr, "proxy:", err)
			os.Exit(1)
		}
	}
	w.Flush()
}

func row(w *tabwriter.Writer, name string) error {
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
		for s := range k.Streams() {
			calls += k.Len(s)
		}
	}
	start := time.Now()
	p, err := proxy.Generate(r, proxy.Options{})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	text := p.Files["proxy.c"]
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%v\t\n", strings.TrimSuffix(filepath.Base(name), ".spoor"), r.Ranks(), calls,
		st.Size(), p.Lines, tables(text), len(text), p.Parts, p.Variants, time.Since(start).Round(time.Millisecond))
	return nil
}

// tables counts the lines of constant arrays: what has no expression.
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
