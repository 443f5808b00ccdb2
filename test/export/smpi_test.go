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
	dir, n := x.export(t, "smpi"), x.r.Ranks()
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
