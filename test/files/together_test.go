package files

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

// Ranks that append to one file, leave holes in one, and fill a disk do what they do without spoor, and leave the same
// files; the trace has what the disk had no room for.
func TestTogether(t *testing.T) {
	const several = 3
	tool := mpis.NeedSpoor(t)
	if out, err := exec.Command("unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=1m spoor /mnt").CombinedOutput(); err != nil {
		t.Skipf("no small disk can be made here: %s", out)
	}
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		if err := m.Compile(filepath.Join(dir, "together"), "testdata/together.c", "-Wno-unused-result"); err != nil {
			t.Fatal(err)
		}
		var printed, left [2]string
		for i, before := range [][]string{nil, {tool, "run", "-q", "--io", "-o", filepath.Join(dir, "together.spoor")}} {
			work := filepath.Join(dir, fmt.Sprint(i))
			if err := os.MkdirAll(filepath.Join(work, "full"), 0o777); err != nil {
				t.Fatal(err)
			}
			line := append([]string{"unshare", "-m", "sh", "-c", `mount -t tmpfs -o size=1m spoor full && exec "$@"`, "sh"}, before...)
			r := mpis.Job{MPI: m, Dir: work, Temp: dir}.Run(append(line, m.Command(several, "../together", "full")...)...)
			if r.Err != nil {
				t.Fatal(r)
			}
			printed[i] = lines(r.Stdout)
			for _, name := range []string{"appended", "lines", "sparse"} {
				text, err := os.ReadFile(filepath.Join(work, name))
				if err != nil {
					t.Fatal(err)
				}
				left[i] += name + "\n" + lines(string(text)) // ranks come in any order
			}
		}
		if printed[0] != printed[1] {
			t.Errorf("without spoor:\n%s\nwith:\n%s", printed[0], printed[1])
		}
		if left[0] != left[1] || strings.Count(left[1], "\nrank ") != 2*several*200 {
			t.Errorf("files differ: %d bytes without spoor, %d with", len(left[0]), len(left[1]))
		}
		for _, want := range []string{"\n600 lines\n600 lines\n", "with holes", "from 2148532224 to 2148536320", "0: 1048576 written, then -1, No space left on device; -1, No space left on device; -1"} {
			if !strings.Contains("\n"+printed[1], want) {
				t.Errorf("no %q in\n%s", want, printed[1])
			}
		}
		checkFull(t, filepath.Join(dir, "together.spoor"), several)
	})
}

// checkFull holds what a trace has of writes to the disk of 1 MB to what went there.
func checkFull(t *testing.T, file string, several int) {
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for rank := range several {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		written, failed := int64(0), make(map[string]int)
		for c, err := range k.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Name() == "write" && c.Param("count").In.Num == 4000 {
				written += max(0, c.Result.Num)
			}
			if c.Return != 0 && c.ReturnName() == "ENOSPC" {
				failed[c.Name()]++
			}
		}
		if written != 1<<20 || failed["write"] != 1 || failed["pwrite"] != 1 || failed["fallocate"] != 1 || failed["fwrite"] != 1 {
			t.Errorf("rank %d wrote %d bytes; no room for %v", rank, written, failed)
		}
	}
}
