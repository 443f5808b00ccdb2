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

	"github.com/spoor-hpc/spoor/internal/rounds"
	"github.com/spoor-hpc/spoor/internal/thin"
	"github.com/spoor-hpc/spoor/trace"
)

func main() {
	precisions := flag.String("precisions", "100,99,95,90,70,50,0", "comma-separated `percents`")
	draw := flag.Bool("draw", false, "numbers of rounds are drawn, too")
	flag.Parse()
	if err := run(flag.Args(), *precisions, *draw); err != nil {
		fmt.Fprintln(os.Stderr, "thin:", err)
		os.Exit(1)
	}
}

func run(files []string, precisions string, draw bool) error {
	var list []int
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
			n, err := size(path, p, draw)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			fmt.Printf(" %9d", n)
		}
		fmt.Printf(" %8.1f\n", time.Since(start).Seconds()/float64(len(list)))
	}
	return nil
}

// size is how many bytes a trace has at a precision.
func size(path string, precision int, draw bool) (int64, error) {
	r, err := trace.Open(path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	o := thin.Options{Precision: precision}
	if draw {
		o.Drawer = rounds.New(r, rounds.Options{Precision: precision, Seed: 1})
	}
	x, err := thin.Of(r, o, func(int) {})
	if err != nil {
		return 0, err
	}
	defer x.Close()
	return x.Bytes, nil
}
