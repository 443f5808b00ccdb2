package files

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mpis"
)

// All functions of io.txt can be made again, with the parameters that a trace has.
func TestEachIsMadeAgain(t *testing.T) {
	text, err := os.ReadFile(mpis.Root("internal", "proxy", "runtime", "posix.h"))
	if err != nil {
		t.Fatal(err)
	}
	can := make(map[string]string)
	for _, m := range regexp.MustCompile(`CALL0?\((\w+)(?:, ([^)]*))?\)`).FindAllStringSubmatch(string(text), -1) {
		can[m[1]] = m[2]
	}
	for _, c := range mpi.FileCalls() {
		params, ok := can[c.Name]
		if !ok {
			t.Errorf("%s is not made again", c.Name)
			continue
		}
		n := 0
		for i := range c.Params {
			if c.Params[i].Kind.Form() != mpi.FormNone {
				n++
			}
		}
		if got := len(strings.FieldsFunc(params, func(r rune) bool { return r == ',' })); got != n {
			t.Errorf("%s has %d parameters in io.txt, and %d in posix.h", c.Name, n, got)
		}
	}
}

// sameAgain replays a trace and runs its proxy, both traced, and holds these to the trace.
func sameAgain(t *testing.T, m *mpis.MPI, dir, file string, ranks int) {
	t.Helper()
	tool := mpis.NeedSpoor(t)
	job := mpis.Job{MPI: m, Dir: dir}
	run := func(line ...string) string {
		t.Helper()
		r := job.Run(line...)
		if r.Err != nil {
			t.Fatal(r)
		}
		return r.Stdout
	}
	out := run(tool, "replay", "--mpi", m.Name, "--no-compute", "--files", filepath.Join(dir, "kept"), "--record", "again.spoor", file)
	if strings.Contains(out, "returned something else") {
		t.Errorf("the replay says\n%s", out)
	}
	run(tool, "diff", "--any-address", "--renamed", file, "again.spoor")
	run(tool, "proxy", "-o", "px", file)
	run("make", "-s", "-C", "px", "CC="+m.CC, "CFLAGS=-O0 -std=gnu11 -Wall -Wextra -Werror")
	run(append([]string{tool, "run", "-q", "--io", "-o", "px.spoor"}, m.Command(ranks, "./px/proxy")...)...)
	run(tool, "diff", "--renamed", file, "px.spoor")
}

// sameFiles records the benchmark's own calls, which replay and proxy make again.
func sameFiles(t *testing.T, m *mpis.MPI, dir string, ranks, n, count int) {
	t.Helper()
	job := mpis.Job{MPI: m, Dir: dir}
	r := job.Run(append([]string{mpis.NeedSpoor(t), "run", "-q", "--io", "-o", "own.spoor"}, m.Command(ranks, "./ior", "-n", strconv.Itoa(n), "-i", strconv.Itoa(count))...)...)
	if r.Err != nil {
		t.Fatal(r)
	}
	sameAgain(t, m, dir, "own.spoor", ranks)
}

// Replay and proxy leave a folder that the program wrote to alone, whatever it called it.
func TestOnlyInScratch(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	onEach(t, func(t *testing.T, m *mpis.MPI, top string) {
		dir, out := filepath.Join(top, "work"), filepath.Join(top, "outside")
		for _, d := range []string{dir, out} {
			if err := os.Mkdir(d, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Compile(filepath.Join(dir, "outside"), "testdata/outside.c", "-Wno-unused-result"); err != nil {
			t.Fatal(err)
		}
		job := mpis.Job{MPI: m, Dir: dir}
		r := job.Run(append([]string{tool, "run", "-q", "--io", "-o", "a.spoor"}, m.Command(1, "./outside", out)...)...)
		if r.Err != nil || !strings.Contains(r.Stdout, "done") {
			t.Fatal(r)
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
		sameAgain(t, m, dir, "a.spoor", 1)
		if _, err := os.Lstat(out); err == nil {
			t.Errorf("%s is there again", out)
		}
		for _, root := range []string{"kept", "scratch"} {
			var got []string
			whole := filepath.Join(dir, root)
			_ = filepath.WalkDir(whole, func(path string, e os.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() {
					path, _ = filepath.Rel(whole, path)
					if !strings.HasPrefix(filepath.Base(path), "chance") { // mkstemp's
						got = append(got, path)
					}
				}
				return nil
			})
			// What is one folder by an absolute name and by one from the working directory is two here.
			abs := strings.TrimPrefix(out, "/")
			want := []string{"etc/passwd", "outside/climbed", "outside/dots", abs + "/linked", abs + "/near", abs + "/outer", abs + "/stream", abs + "/sub/g", abs + "/sub/inner", abs + "/through"}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s has %q, not %q", root, got, want)
			}
		}
	})
}
