package simulate

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/convert"
	"github.com/spoor-hpc/spoor/internal/ops"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/internal/simulate/traced"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

// Two descriptions of one machine: 5 µs and 1 GB/s for each host's link, so that a message goes through
// 10 µs of latency; no overheads, and no message waits for its receive.
const (
	platform = `<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="host" suffix="" radical="0-%d" speed="1Gf" bw="1GBps" lat="5us"/>
</platform>
`
	linked = `
name = "linked"
[[level]]
name = "switch"
eager = [[0, 10_000], [1_000_000_000, 1_000_010_000]]
`
)

// model has SimGrid take the machine as it stands there: no factors that were measured on another.
var model = []string{
	"--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=smpi/async-small-thresh:1000000000", "--cfg=smpi/send-is-detached-thresh:1000000000",
	"--cfg=smpi/allreduce:rdb", "--cfg=smpi/os:0:0:0", "--cfg=smpi/or:0:0:0", "--cfg=smpi/ois:0:0:0",
}

var simulated = regexp.MustCompile(`Simulation time (\S+)`)

// TestSMPI has SimGrid replay programs whose messages are eager, and predicts the same.
func TestSMPI(t *testing.T) {
	smpirun, err := exec.LookPath("smpirun")
	if err != nil {
		need.Absent(t, "no smpirun is installed")
	}
	const ranks = 16
	for _, c := range []struct {
		name    string
		program func(r *tracktest.Recorder)
		gap     uint64 // ns, the least
		within  float64
	}{
		{"butterfly", tracktest.Butterfly(100), 1000, 0.05},
		{"butterfly, computing", tracktest.Butterfly(100), 30_000, 0.05},
		{"stencil", tracktest.Stencil(50), 1000, 0.05},
		{"transpose", tracktest.Transpose(100), 1000, 0.05},
		{"workers", tracktest.Workers(300), 1000, 0.05},
	} {
		t.Run(c.name, func(t *testing.T) {
			tracks := tracktest.RunAll(ranks, c.program)
			for rank, tr := range tracks {
				tracktest.Timed(tr, timing.ModeLossless, func(i int) (gap, duration uint64) {
					if i == 0 { // MPI_Init: here and there ranks begin together
						return 0, 0
					}
					return c.gap + uint64((i*7919+rank*104729)%int(c.gap)), 0
				})
			}
			r := mergetest.Open(t, tracks, nil)
			m, err := machine.ParseMachine("linked", []byte(linked))
			if err != nil {
				t.Fatal(err)
			}
			p, err := traced.Predict(r, traced.Options{Machine: m})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			s, err := ops.NewSource(r, ops.Options{FromNs: ops.MinTime, ToNs: ops.MaxTime})
			if err != nil {
				t.Fatal(err)
			}
			w, err := convert.NewSMPIWriter(s, dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Run(w); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			got := float64(p.EndPs) / 1e6
			want := replay(t, smpirun, dir, ranks) * 1e6
			t.Logf("%.1f µs, SMPI %.1f, %+.1f %%", got, want, 100*(got/want-1))
			if math.Abs(got/want-1) > c.within {
				t.Errorf("predicted %.1f µs, SMPI says %.1f", got, want)
			}
		})
	}
}

// replay returns the seconds that SMPI says.
func replay(t *testing.T, smpirun, dir string, ranks int) float64 {
	t.Helper()
	hosts := ""
	for i := range ranks {
		hosts += fmt.Sprintf("host%d\n", i)
	}
	for name, text := range map[string]string{"platform.xml": fmt.Sprintf(platform, ranks-1), "hosts": hosts} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	args := append([]string{"-np", strconv.Itoa(ranks), "-platform", "platform.xml", "-hostfile", "hosts", "-replay", "index"}, model...)
	c := exec.CommandContext(ctx, smpirun, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	found := simulated.FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seconds, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return seconds
}
