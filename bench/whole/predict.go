package main

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/internal/stats"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// pingSizes are the message sizes, in bytes, of the predicted ping-pongs. Sizes for which the machine file has a row
// are left out.
var pingSizes = []int64{3, 100, 1_500, 6_000, 40_000, 300_000, 3_000_000}

// pingTime is about how long a ping-pong program runs, in ns.
const pingTime = 100e6

// A row compares a program's predicted run time with its measured one.
type row struct {
	name                string
	measured, predicted float64 // run time without spoor, in ms: median of the runs, and the prediction
	traced              float64 // time of the traced run, in ms
	spread              float64 // interquartile range of the times without spoor, as a share of their median
	left                string  // calls that the simulation has no model for, with their share of the traced run's time
}

// off is the relative error of the prediction: positive if the predicted time is longer than the measured one.
func (r *row) off() float64 { return r.predicted/r.measured - 1 }

// predict measures the machine, and runs programs several times without spoor and once with it. It compares the run
// time that is predicted from that trace with the median of the runs without spoor. Run time is from when all ranks
// have left MPI_Init until the last one enters MPI_Finalize.
func (b *bench) predict(m *mpis.MPI, names []string, ranks int, noisy bool) error {
	here, err := b.calibrate(m, ranks, noisy)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %d ranks: median of %d runs without spoor, prediction from a trace of another run; ms\n", m.Name, ranks, b.runs)
	fmt.Printf("  %-18s %9s %9s %9s %8s %8s   %s\n", "", "measured", "predicted", "traced", "error", "spread", "not modelled, part of the traced time")
	var pings, programs []row
	ping, err := b.pingPong(m)
	if err != nil {
		return err
	}
	for _, bytes := range pingSizes {
		if known(here, bytes) {
			fmt.Printf("  ping-pong of %d bytes: the machine file has that size\n", bytes)
			continue
		}
		l := here.PlaceRanks(ranks, machine.MappingBlock).LevelBetween(0, 1)
		c := l.CostOfMessage(bytes, bytes > l.EagerLimitBytes)
		time := pingTime
		if b.short {
			time /= 20
		}
		rounds := max(20, int(time*1000/2/float64(c.TravelPs+c.ReceiverCorePs)))
		r, err := b.compare(m, here, ranks, fmt.Sprintf("ping-pong %d B", bytes), []string{ping, strconv.FormatInt(bytes, 10), strconv.Itoa(rounds)})
		if err != nil {
			return err
		}
		pings = append(pings, *r)
	}
	for _, name := range names {
		line, err := b.line(m, name, ranks)
		if err != nil {
			return err
		}
		if line == nil {
			continue
		}
		r, err := b.compare(m, here, ranks, name, line)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		programs = append(programs, *r)
	}
	for _, x := range []struct {
		what string
		rows []row
	}{{"ping-pongs", pings}, {"programs", programs}} {
		if len(x.rows) == 0 {
			continue
		}
		mean, most := 0.0, 0.0
		for i := range x.rows {
			off := math.Abs(x.rows[i].off())
			mean += off / float64(len(x.rows))
			most = max(most, off)
		}
		fmt.Printf("  %s: error %.1f %% on average, at most %.1f %%\n", x.what, 100*mean, 100*most)
	}
	return nil
}

// calibrate measures this machine with spoor machine measure, and returns the result.
func (b *bench) calibrate(m *mpis.MPI, ranks int, noisy bool) (*machine.Machine, error) {
	path := filepath.Join(b.dir, m.Name+".toml")
	line := m.Command(ranks, "program")
	args := []string{"machine", "measure", "-q", "--files", b.dir, "-o", path}
	if noisy {
		args = append(args, "--noisy")
	}
	if b.short {
		args = append(args, "--most", "65536")
	}
	c := exec.Command(b.tool, append(args, line[:len(line)-1]...)...)
	c.Dir, c.Env = b.dir, m.Environ()
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return machine.LoadMachine(path)
}

// known reports whether a machine's tables of message times have a row for a size.
func known(m *machine.Machine, bytes int64) bool {
	is := func(r machine.SizeTime) bool { return r.Bytes == bytes }
	return slices.ContainsFunc(m.Levels, func(l machine.NetworkLevel) bool {
		return slices.ContainsFunc(l.EagerTimes, is) || slices.ContainsFunc(l.RendezvousTimes, is)
	})
}

// pingPong compiles the ping-pong program and returns its path.
func (b *bench) pingPong(m *mpis.MPI) (string, error) {
	path := filepath.Join(b.dir, m.Name+"-pingpong")
	return path, m.Compile(path, mpis.Root("bench", "whole", "programs", "pingpong.c"))
}

// compare runs a program without spoor and with it, and predicts its run time from the trace.
func (b *bench) compare(m *mpis.MPI, here *machine.Machine, ranks int, name string, line []string) (*row, error) {
	var calls []float64
	for range b.runs {
		p, err := b.once(m, ranks, line, 0)
		if err != nil {
			return nil, err
		}
		calls = append(calls, p.calls)
	}
	if err := b.record(m, ranks, line); err != nil {
		return nil, err
	}
	slices.Sort(calls)
	r := &row{name: name, measured: stats.Median(calls)}
	r.spread = (calls[(len(calls)-1)*3/4] - calls[len(calls)/4]) / r.measured
	if err := r.simulate(filepath.Join(b.dir, "t.spoor"), here); err != nil {
		return nil, err
	}
	fmt.Printf("  %-18s %9.2f %9.2f %9.2f %+7.1f%% %7.1f%%   %s\n", r.name, r.measured, r.predicted, r.traced, 100*r.off(), 100*r.spread, r.left)
	return r, nil
}

// simulate predicts the run of a trace, without what comes before MPI_Init has returned.
func (r *row) simulate(path string, here *machine.Machine) error {
	t, err := trace.Open(path)
	if err != nil {
		return err
	}
	defer t.Close()
	p, err := traced.Predict(t, traced.Options{Machine: here})
	if err != nil {
		return err
	}
	begun := 0.0
	for rank := range t.Ranks() {
		ns, err := untilInit(t, rank)
		if err != nil {
			return err
		}
		begun = max(begun, ns)
	}
	r.predicted = (float64(p.EndPs)/1000 - begun) / 1e6
	r.traced = (float64(p.TracedRunNs) - begun) / 1e6
	var left []string
	for _, u := range p.Unmodelled {
		if !strings.HasPrefix(u.Description, "MPI_Init") && u.RecordedShare >= 0.001 {
			left = append(left, fmt.Sprintf("%s %.1f %%", u.Description, 100*u.RecordedShare))
		}
	}
	r.left = strings.Join(left, ", ")
	return nil
}

// untilInit returns when a rank left MPI_Init: ns since the start of its track.
func untilInit(t *trace.Reader, rank int) (float64, error) {
	k, err := t.Rank(rank)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for x, err := range k.TimedTerminals(0) {
		if err != nil {
			return 0, err
		}
		sum += float64(x.Timing.Gap.Ns + x.Timing.Duration.Ns)
		c, err := k.Terminal(int(x.Terminal))
		if err != nil {
			return 0, err
		}
		if strings.HasPrefix(c.Name(), "MPI_Init") && c.Name() != "MPI_Initialized" {
			return sum, nil
		}
	}
	return 0, errors.New("the trace has no MPI_Init")
}
