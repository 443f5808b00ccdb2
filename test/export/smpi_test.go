package export

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/bench/scale/skeleton"
	"github.com/spoor-hpc/spoor/bench/scale/vmpi"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/test/mergetest"
)

const platform = `<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="host" suffix="" radical="0-%d" speed="1Gf" bw="10GBps" lat="1us"/>
</platform>
`

// replayed has SimGrid replay what is written of a program, to the end. Threads but the first
// are not in it, and their messages would be waited for.
func replayed(t *testing.T, x traced) {
	smpirun := tool(t, "smpirun")
	if strings.HasPrefix(x.name, "threads") {
		t.Skip("messages of several threads")
	}
	replays(t, smpirun, x.export(t, "smpi"), x.r.Ranks())
}

// TestSkeletons has SimGrid replay the communication of well-known programs on virtual ranks: sixteen, of which
// there are as many as rows times columns and a power of two, and for one 256.
func TestSkeletons(t *testing.T) {
	smpirun := tool(t, "smpirun")
	replay := func(p skeleton.Program, ranks int) {
		t.Run(fmt.Sprint(p.Name, "-", ranks), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var tracks []*track.Track
			for rank := range ranks {
				tracks = append(tracks, vmpi.Run(p.Name, rank, ranks, p.Run).Track())
			}
			if err := os.WriteFile(filepath.Join(dir, "app.spoor"), mergetest.File(t, tracks, nil), 0o666); err != nil {
				t.Fatal(err)
			}
			spoor(t, dir, "export", "--to", "smpi", "-o", "smpi", "app.spoor")
			replays(t, smpirun, filepath.Join(dir, "smpi"), ranks)
		})
	}
	for _, p := range skeleton.All {
		replay(p, 16)
	}
	stencil, ok := skeleton.ByName("st2d")
	if !ok {
		t.Fatal("no st2d")
	}
	replay(stencil, 256)
}

// replays has smpirun replay a folder to its end.
func replays(t *testing.T, smpirun, dir string, n int) {
	t.Helper()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("platform.xml", fmt.Sprintf(platform, n-1))
	hosts := ""
	for i := range n {
		hosts += fmt.Sprintf("host%d\n", i)
	}
	write("hosts", hosts)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, smpirun, "-np", strconv.Itoa(n), "-platform", "platform.xml", "-hostfile", "hosts", "-replay", "index",
		"--cfg=smpi/async-small-thresh:65536")
	c.Dir = dir
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Simulation time") {
		t.Errorf("%v\n%s", err, out)
	}
}
