// Command thin measures how large traces are once sizes that are nearly alike are one, at several
// precisions. Traces are those that bench/scale -keep wrote, or any other.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/partners"
	"github.com/spoor-hpc/spoor/internal/rounds"
	"github.com/spoor-hpc/spoor/internal/thin"
	"github.com/spoor-hpc/spoor/test/traffic"
	"github.com/spoor-hpc/spoor/trace"
)

func main() {
	precisions := flag.String("precisions", "100,99,95,90,70,50,0", "comma-separated `percents`")
	draw := flag.Bool("draw", false, "numbers of rounds are drawn, too")
	who := flag.Bool("partners", false, "partners of messages are drawn, too")
	truth := flag.Bool("truth", false, "print how far bytes that ranks and pairs of ranks send are from what they were, not sizes")
	flag.Parse()
	if err := run(flag.Args(), *precisions, options{*draw, *who}, *truth); err != nil {
		fmt.Fprintln(os.Stderr, "thin:", err)
		os.Exit(1)
	}
}

// options are what is given up besides sizes.
type options struct{ rounds, partners bool }

func run(files []string, precisions string, give options, truth bool) error {
	var list []int
	if truth {
		return compare(files, precisions, give)
	}
	fmt.Printf("%-20s %10s", "trace", "before")
	for _, s := range strings.Split(precisions, ",") {
		p, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		list = append(list, p)
		fmt.Printf(" %9d", p)
	}
	fmt.Printf(" %8s\n", "seconds")
	for _, path := range files {
		st, err := os.Stat(path)
		if err != nil {
			return err
		}
		fmt.Printf("%-20s %10d", strings.TrimSuffix(filepath.Base(path), ".spoor"), st.Size())
		start := time.Now()
		for _, p := range list {
			n, err := size(path, p, give)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			fmt.Printf(" %9d", n)
		}
		fmt.Printf(" %8.1f\n", time.Since(start).Seconds()/float64(len(list)))
	}
	return nil
}

// compare prints by how much bytes are off, in percent of what they were: of all ranks together, the mean over ranks and the rank that is
// farthest off, and the same of pairs.
func compare(files []string, precisions string, give options) error {
	fmt.Printf("%-20s %9s %9s %9s %9s %9s %9s %9s %9s %9s %9s\n", "trace", "precision", "total", "a rank", "farthest", "a pair", "farthest", "distance", "most out", "most in", "pairs")
	dir, err := os.MkdirTemp("", "thin-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, path := range files {
		was, err := traffic.Read(path)
		if err != nil {
			return err
		}
		fmt.Printf("%-20s %9s %9s %9s %9s %9s %9s %s\n", strings.TrimSuffix(filepath.Base(path), ".spoor"), "before", "", "", "", "", "", shape(was))
		for _, s := range strings.Split(precisions, ",") {
			p, err := strconv.Atoi(s)
			if err != nil {
				return err
			}
			x, done, err := thinned(path, p, give)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			out := filepath.Join(dir, "thin.spoor")
			err = x.Write(out, true)
			done()
			if err != nil {
				return err
			}
			now, err := traffic.Read(out)
			if err != nil {
				return err
			}
			o := now.Off(was)
			fmt.Printf("%-20s %9d %+9.2f %9.2f %9.2f %9.2f %9.2f %s\n", strings.TrimSuffix(filepath.Base(path), ".spoor"), p, 100*o.Total, 100*o.MeanRank, 100*o.Rank, 100*o.MeanPair, 100*o.Pair, shape(now))
		}
	}
	return nil
}

// shape is how far messages go in the mean, how many times the mean ranks send and receive at most, and how many pairs there are.
func shape(t *traffic.Traffic) string {
	out, in := t.Most()
	return fmt.Sprintf("%9.1f %9.2f %9.2f %9d", t.Distance(), out, in, len(t.Pairs))
}

// size is how many bytes a trace has at a precision.
func size(path string, precision int, give options) (int64, error) {
	x, done, err := thinned(path, precision, give)
	if err != nil {
		return 0, err
	}
	defer done()
	return x.Bytes, nil
}

// thinned thins a trace. What comes of it is good until done.
func thinned(path string, precision int, give options) (x *thin.Result, done func(), err error) {
	r, err := trace.Open(path)
	if err != nil {
		return nil, nil, err
	}
	o := thin.Options{Precision: precision}
	if give.rounds {
		o.Rounds = func(r *trace.Reader) thin.Drawer {
			return rounds.New(r, rounds.Options{Precision: precision, Seed: 1})
		}
	}
	if give.partners {
		o.Partners = partners.New(r, 1, func(int) {})
	}
	if x, err = thin.Of(r, o, func(int) {}); err != nil {
		r.Close()
		return nil, nil, err
	}
	return x, func() { x.Close(); r.Close() }, nil
}
