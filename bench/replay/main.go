// Command replay measures how far replays are off: it records programs, replays each
// trace at once, and prints for each program and way of recording times the original's
// wall time and, with calls that wait for their gaps alone and on the line, by how much
// the replay's differs, and by how much what a rank computes differs for the rank that
// is farthest off; medians of several rounds.
//
//	go run ./bench/replay [-mpi openmpi] [-ranks 4] [-rounds 5] [-budget 10m]
//	go run ./bench/replay
//
// Each round records anew, so that a difference is between neighbours in time. When
// the budget is spent, what there is is printed with its number of rounds.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/inputs"
	"github.com/spoor-hpc/spoor/test/mpis"
)

func main() {
	var o options
	mpi := flag.String("mpi", "openmpi", "the MPI")
	flag.IntVar(&o.ranks, "ranks", 4, "ranks")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds, each of them a recording and its replays")
	flag.DurationVar(&o.budget, "budget", 10*time.Minute, "begin no run after this time")
	programs := flag.String("programs", strings.Join(names(), ","), "which programs")
	modes := flag.String("modes", "stats,hist,path,place,lossless", "ways to record times")
	paces := flag.String("paces", "gaps,original", "what calls of a replay wait for; derived: gaps, with receives that follow from sends")
	flag.StringVar(&o.draw, "draw", "", "replay what is left of the trace with numbers of rounds drawn at this `tolerance`, such as 10%")
	flag.Parse()
	o.programs, o.modes, o.paces = split(*programs), split(*modes), split(*paces)
	if err := o.run(os.Stdout, *mpi); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func split(s string) []string { return strings.Split(s, ",") }

type options struct {
	ranks, rounds          int
	budget                 time.Duration
	programs, modes, paces []string
	draw                   string
}

// A program runs for several seconds on four ranks.
type program struct {
	name string
	args []string
	// build compiles the program in a folder and returns its path; "" if it isn't available.
	build func(m *mpis.MPI, dir string) (string, error)
}

var programs = []program{
	{"paced", []string{"300"}, func(m *mpis.MPI, dir string) (string, error) {
		path := filepath.Join(dir, "paced")
		return path, command(m.CC, "-O1", "-o", path, "test/replay/testdata/paced.c")
	}},
	app("heat2d", "-n", "1500", "-t", "3"),
	app("cg", "-n", "600", "-t", "3"),
	app("lu", "-n", "48", "-t", "3"),
	app("ocean", "-n", "768", "-i", "1", "-t", "3"),
	{"LAMMPS", []string{"-in", "in.melt", "-log", "none"}, func(m *mpis.MPI, dir string) (string, error) {
		const melt = "/usr/share/lammps/examples/melt/in.melt"
		text, err := os.ReadFile(melt)
		if err != nil || m.Name != "openmpi" { // Debian's LAMMPS is linked with Open MPI
			return "", nil
		}
		long := strings.Replace(string(text), "run\t\t250", "run\t\t4500", 1)
		return "/usr/bin/lmp", os.WriteFile(filepath.Join(dir, "in.melt"), []byte(long), 0o666)
	}},
	{"hpcc", nil, func(m *mpis.MPI, dir string) (string, error) {
		if _, err := os.Stat("/usr/bin/hpcc"); err != nil || m.Name != "openmpi" {
			return "", nil
		}
		large := strings.Replace(inputs.HPCC, "\n120 ", "\n1000 ", 1) // hpcc runs for only a second with size 120
		return "/usr/bin/hpcc", os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(large), 0o666)
	}},
}

func app(name string, args ...string) program {
	return program{name, args, func(m *mpis.MPI, dir string) (string, error) {
		a, ok := compile.ByName(name)
		if !ok {
			return "", fmt.Errorf("test/apps has no %s", name)
		}
		return a.Build(m, dir)
	}}
}

func names() []string {
	var list []string
	for _, p := range programs {
		list = append(list, p.name)
	}
	return list
}

func command(args ...string) error {
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// A row is the measurements of a program that is recorded with one value of --timing (mode), one value per round.
type row struct {
	program, mode string
	calls         int64
	original      []float64 // wall times of the recorded runs, in seconds
	// By the value of --pace: the replay's error against the recorded run, in percent of it, one value per round.
	off     map[string][]float64 // of the wall time
	compute map[string][]float64 // of the time between calls, for the rank with the largest error
}

func (o *options) run(w io.Writer, mpi string) error {
	m, err := mpis.Find(mpi)
	if err != nil {
		return err
	}
	spoor, err := mpis.Spoor()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "spoor-replay-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var rows []*row
	lines := make(map[string][]string)
	for _, p := range programs {
		if !slices.Contains(o.programs, p.name) {
			continue
		}
		path, err := p.build(m, dir)
		if err != nil {
			return err
		}
		if path == "" {
			fmt.Fprintf(os.Stderr, "replay: %s is left out: it is not here for %s\n", p.name, m.Name)
			continue
		}
		lines[p.name] = m.Command(o.ranks, append([]string{path}, p.args...)...)
		for _, mode := range o.modes {
			rows = append(rows, &row{program: p.name, mode: mode, off: make(map[string][]float64), compute: make(map[string][]float64)})
		}
	}
	end := time.Now().Add(o.budget)
	b := bench{m: m, spoor: spoor, dir: dir, draw: o.draw}
	for round := range o.rounds {
		for i, r := range rows {
			if time.Now().After(end) {
				fmt.Fprintln(os.Stderr, "replay: the time is up")
				o.print(w, m.Name, rows)
				return nil
			}
			fmt.Fprintf(os.Stderr, "\rround %d of %d, %d of %d: %-20s", round+1, o.rounds, i+1, len(rows), r.program+" "+r.mode)
			if err := b.measure(r, o.paces, lines[r.program]); err != nil {
				fmt.Fprintf(os.Stderr, "\nreplay: %s, %s: %v\n", r.program, r.mode, err)
			}
		}
	}
	fmt.Fprintln(os.Stderr)
	o.print(w, m.Name, rows)
	return nil
}

// A report holds the fields of spoor replay --json that are used here.
type report struct {
	Wall     float64 `json:"wall_ns"`
	Original float64 `json:"original_wall_ns"`
	Ranks    []struct {
		Calls    int64   `json:"calls"`
		Compute  float64 `json:"compute_ns"`
		Original struct {
			Compute float64 `json:"compute_ns"`
		} `json:"original"`
	} `json:"ranks"`
}

// computing returns the largest relative error of a rank's time between calls, in percent. Ranks that computed for
// less than a hundredth of the recorded wall time don't count.
func (r *report) computing() float64 {
	worst := 0.0
	for _, x := range r.Ranks {
		if x.Original.Compute < r.Original/100 {
			continue
		}
		if off := 100 * (x.Compute/x.Original.Compute - 1); math.Abs(off) > math.Abs(worst) {
			worst = off
		}
	}
	return worst
}

type bench struct {
	m                *mpis.MPI
	spoor, dir, draw string
}

// measure records the program once and replays the trace at each pace.
func (b *bench) measure(r *row, paces []string, line []string) error {
	if _, err := b.do(append([]string{b.spoor, "run", "-q", "--force", "--timing", r.mode, "-o", "a.spoor"}, line...)...); err != nil {
		return err
	}
	file := "a.spoor"
	var whole struct {
		Wall float64 `json:"span_ns"`
	}
	if b.draw != "" {
		file = "drawn.spoor"
		if _, err := b.do(b.spoor, "papers", "thin", "--trip-counts", "--tolerance", b.draw, "--force", "-o", file, "a.spoor"); err != nil {
			return err
		}
		out, err := b.do(b.spoor, "info", "--json", "a.spoor")
		if err == nil {
			err = json.Unmarshal(out, &whole)
		}
		if err != nil {
			return err
		}
	}
	reports := make([]report, len(paces))
	for i, pace := range paces {
		how := []string{"replay", "--pace", pace}
		if pace == "derived" {
			how = []string{"papers", "replay", "--pace", "gaps"}
		}
		out, err := b.do(slices.Concat([]string{b.spoor}, how, []string{"--json", "--mpi", b.m.Name, file})...)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(out, &reports[i]); err != nil {
			return fmt.Errorf("report of the replay: %w in\n%s", err, out)
		}
		if b.draw != "" {
			reports[i].Original = whole.Wall
		}
	}
	// Here all replays of the round have succeeded: a round with a failed replay adds nothing.
	r.calls = 0
	for _, x := range reports[0].Ranks {
		r.calls += x.Calls
	}
	r.original = append(r.original, reports[0].Original/1e9)
	for i, pace := range paces {
		r.compute[pace] = append(r.compute[pace], reports[i].computing())
		r.off[pace] = append(r.off[pace], 100*(reports[i].Wall/reports[i].Original-1))
	}
	return nil
}

func (b *bench) do(args ...string) ([]byte, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = b.dir, b.m.Environ()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return out, nil
}

func (o *options) print(w io.Writer, mpi string, rows []*row) {
	fmt.Fprintf(w, "%s, %d ranks: seconds of the original; difference of the replay's wall time, and of the computing of the rank that is\nfarthest off: medians (least to most)\n\n", mpi, o.ranks)
	t := tabwriter.NewWriter(w, 0, 0, 1, ' ', 0)
	fmt.Fprint(t, "| program\t| calls\t| times\t| rounds\t| original\t")
	for _, p := range o.paces {
		fmt.Fprintf(t, "| %s: wall time\t| %[1]s: computing\t", p)
	}
	fmt.Fprintln(t, "|")
	fmt.Fprintln(t, strings.Repeat("|---\t", 5+2*len(o.paces))+"|")
	for _, r := range rows {
		if len(r.original) == 0 {
			continue
		}
		fmt.Fprintf(t, "| %s\t| %s\t| %s\t| %d\t| %.2f\t", r.program, strconv.FormatInt(r.calls, 10), r.mode, len(r.original), stats.Median(r.original))
		for _, p := range o.paces {
			for _, x := range [][]float64{r.off[p], r.compute[p]} {
				fmt.Fprintf(t, "| %+.1f %% (%+.1f to %+.1f)\t", stats.Median(x), slices.Min(x), slices.Max(x))
			}
		}
		fmt.Fprintln(t, "|")
	}
	t.Flush()
}
