package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// paced are programs that run for some seconds.
var paced = []struct {
	name string
	args []string
}{
	{"heat2d", []string{"-n", "1500", "-t", "3"}},
	{"cg", []string{"-n", "600", "-t", "3"}},
	{"lu", []string{"-n", "48", "-t", "3"}},
}

// compute measures how long proxies take with each way of spending the time
// between calls, next to the recorded runs: medians of rounds, each of which
// records anew. Times are those of whole jobs, start of the launcher included.
func compute(w io.Writer, mpi string, ranks, rounds int) error {
	m, err := mpis.Find(mpi)
	if err != nil {
		return err
	}
	spoor, err := mpis.Spoor()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "spoor-proxy-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	timed := func(env string, line ...string) (float64, error) {
		c := exec.Command(line[0], line[1:]...)
		var out bytes.Buffer
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, m.Environ(env), &out, &out
		begin := time.Now()
		if err := mpis.RunWithin(time.Minute, c); err != nil {
			return 0, fmt.Errorf("%s: %w\n%s", strings.Join(line, " "), err, out.String())
		}
		return time.Since(begin).Seconds(), nil
	}
	modes := []string{"none", "sleep", "spin"}
	fmt.Fprintln(w, "| program | original, s | none | sleep | spin |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|")
	for _, p := range paced {
		a, ok := compile.ByName(p.name)
		if !ok {
			return fmt.Errorf("test/apps has no %s", p.name)
		}
		binary, err := a.Build(m, dir)
		if err != nil {
			return err
		}
		times := make(map[string][]float64)
		for range rounds {
			file, made := filepath.Join(dir, "a.spoor"), filepath.Join(dir, "made")
			s, err := timed("", slices.Concat([]string{spoor, "run", "-q", "-f", "-o", file}, m.Command(ranks, append([]string{binary}, p.args...)...))...)
			if err != nil {
				return err
			}
			times["original"] = append(times["original"], s)
			if err := os.RemoveAll(made); err != nil {
				return err
			}
			for _, line := range [][]string{{spoor, "proxy", file, "-o", made}, {"make", "-s", "-C", made, "CC=" + m.CC}} {
				if _, err := timed("", line...); err != nil {
					return err
				}
			}
			for _, mode := range modes {
				s, err := timed("PROXY_COMPUTE="+mode, m.Command(ranks, filepath.Join(made, "proxy"))...)
				if err != nil {
					return err
				}
				times[mode] = append(times[mode], s)
			}
			fmt.Fprintf(os.Stderr, "%s: %.2f s; %s %.2f s\n", p.name, times["original"], strings.Join(modes, ", "), [][]float64{times["none"], times["sleep"], times["spin"]})
		}
		fmt.Fprintf(w, "| %s | %.2f |", p.name+" "+strings.Join(p.args, " "), stats.Median(times["original"]))
		for _, mode := range modes {
			fmt.Fprintf(w, " %.2f |", stats.Median(times[mode]))
		}
		fmt.Fprintln(w)
	}
	return nil
}
