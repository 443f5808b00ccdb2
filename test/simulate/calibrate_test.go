package simulate

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// spoor runs the tool in a folder.
func spoor(t *testing.T, m *mpis.MPI, dir string, args ...string) string {
	t.Helper()
	r := mpis.Job{MPI: m, Dir: dir, Limit: 6 * time.Minute}.Run(append([]string{mpis.Root("bin", "spoor")}, args...)...) // calibrating waits for whoever is off a core
	if r.Err != nil {
		t.Fatal(args, r)
	}
	return r.Stdout + r.Stderr
}

// TestCalibrate measures under each MPI. The machine may be busy: what is asked of times is that
// they could be such. That they are right, formulas show in internal/simulate/machine.
func TestCalibrate(t *testing.T) {
	mpis.NeedSpoor(t)
	for _, m := range mpis.Need(t) {
		t.Run(m.Name, func(t *testing.T) {
			dir := t.TempDir()
			line := m.Command(2, "program")
			out := spoor(t, m, dir, append([]string{"machine", "measure", "--noisy", "--most", "32768", "-o", "here.toml", "--name", "here", "--files", dir}, line[:len(line)-1]...)...)
			if !strings.Contains(out, "on the same node") {
				t.Error(out)
			}
			x, err := machine.LoadMachine(filepath.Join(dir, "here.toml"))
			if err != nil {
				t.Fatal(err)
			}
			if len(x.Levels) != 1 || x.Levels[0].Name != "node" || x.Name != "here" || !strings.HasPrefix(x.FiguresSource, "spoor machine measure ") {
				t.Fatalf("%+v", x)
			}
			l := &x.Levels[0]
			const us = 1_000_000 // ps
			if l.EagerLimitBytes < 256 || l.EagerLimitBytes > 32768 {
				t.Errorf("an eager limit of %d bytes", l.EagerLimitBytes)
			}
			for bytes, least := range map[int64]int64{0: us / 50, 8: us / 50, 1024: us / 20, 32768: us} {
				cost := l.CostOfMessage(bytes, bytes > l.EagerLimitBytes)
				if time := cost.TravelPs + cost.ReceiverCorePs; time < least || time > 200_000*us {
					t.Errorf("%d bytes take %d ps", bytes, time)
				}
			}
			if l.SendOverheadPs <= 0 || l.ReceiveOverheadPs <= 0 || len(l.SendOverheads) < 5 || len(l.RendezvousTimes) < 3 {
				t.Errorf("%+v", l)
			}
			for _, operation := range machine.MeasuredCollectives {
				if ps, ok := x.CollectiveTimePs(operation, l, 2, 64); !ok || ps < us/50 {
					t.Errorf("MPI_%s takes %d ps", operation, ps)
				}
			}
			if f := x.Files; f == nil || f.LatencyPs <= 0 || f.OpenPs <= 0 || f.SyncPs <= 0 {
				t.Errorf("files: %+v", f)
			}
			if left, err := filepath.Glob(filepath.Join(dir, "spoor-calibrate*")); err != nil || len(left) > 0 {
				t.Error("left in the folder: ", left, err)
			}
			if x.TracingCost.GapPs <= 0 || x.TracingCost.GapPs > 100*us {
				t.Errorf("tracing costs %+v", x.TracingCost)
			}
		})
	}
}
