package files

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/trace"
)

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
	out := run(tool, "replay", "--mpi", m.Name, "--no-compute", "--files", filepath.Join(dir, "kept"), "-o", "again.spoor", file)
	if strings.Contains(out, "returned something else") {
		t.Errorf("the replay says\n%s", out)
	}
	run(tool, "diff", "--any-address", "--renamed", file, "again.spoor")
	run(tool, "proxy", "-o", "px", file)
	makeProxy(t, job, "px")
	run(append([]string{tool, "run", "-q", "--io", "-o", "px.spoor"}, m.Command(ranks, "./px/proxy")...)...)
	run(tool, "diff", "--renamed", file, "px.spoor")
}

// compiled has the objects of the proxies' runtime, which is the same for all, by MPI and name.
var compiled struct {
	sync.Mutex
	objects map[string]map[string][]byte
}

// makeProxy compiles a proxy in a folder of the job's.
func makeProxy(t *testing.T, job mpis.Job, folder string) {
	t.Helper()
	runtime := filepath.Join(job.Dir, folder, "runtime")
	compiled.Lock()
	have := compiled.objects[job.MPI.Name]
	compiled.Unlock()
	for name, object := range have { // younger than its source
		if err := os.WriteFile(filepath.Join(runtime, name), object, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if r := job.Run("make", "-s", "-C", folder, "CC="+job.MPI.CC, "CFLAGS=-O0 -std=gnu11 -Wall -Wextra -Werror"); r.Err != nil {
		t.Fatal(r)
	}
	if have != nil {
		return
	}
	made, err := filepath.Glob(filepath.Join(runtime, "*.o"))
	if err != nil || len(made) == 0 {
		t.Fatalf("no objects in %s: %v", runtime, err)
	}
	have = make(map[string][]byte)
	for _, path := range made {
		if have[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	compiled.Lock()
	defer compiled.Unlock()
	if compiled.objects == nil {
		compiled.objects = make(map[string]map[string][]byte)
	}
	compiled.objects[job.MPI.Name] = have
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

// What was read of lines in parts, by numbers and to the end is read so again, of a file that the program wrote
// and of one that it found.
func TestReadAgain(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		if err := m.Compile(filepath.Join(dir, "reads"), "testdata/reads.c", "-Wno-unused-result"); err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat("12 apples and 7 pears\na line\n\n", 300) + "the end"
		if err := os.WriteFile(filepath.Join(dir, "found"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		job := mpis.Job{MPI: m, Dir: dir}
		r := job.Run(append([]string{tool, "run", "-q", "--io", "-o", "a.spoor"}, m.Command(1, "./reads")...)...)
		if r.Err != nil || !strings.Contains(r.Stdout, "3 3102 lines, 9006 bytes\n3 3102 lines, 9006 bytes") {
			t.Fatal(r)
		}
		sameAgain(t, m, dir, "a.spoor", 1)
	})
}

// A file that was not seen being opened can't be used again: that is said, and such calls are left out if asked.
func TestNotSeen(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		if err := m.Compile(filepath.Join(dir, "given"), "testdata/given.c", "-Wno-unused-result"); err != nil {
			t.Fatal(err)
		}
		job := mpis.Job{MPI: m, Dir: dir}
		r := job.Run(append([]string{tool, "run", "-q", "-f", "--io", "-o", "a.spoor"}, m.Command(1, "sh", "-c", "exec ./given 9<>data")...)...)
		if r.Err != nil || r.Stdout != "done\n" {
			t.Fatal(r)
		}
		for _, line := range [][]string{{"replay", "--mpi", m.Name, "a.spoor"}, {"proxy", "-o", "px", "a.spoor"}} {
			r := job.Run(append([]string{tool}, line...)...)
			if said := r.Stdout + r.Stderr; r.Err == nil || !strings.Contains(said, "not seen being opened") {
				t.Errorf("%q: %v", line, r)
			}
		}
		if r = job.Run(tool, "proxy", "--partial", "-o", "px", "a.spoor"); r.Err != nil {
			t.Fatal(r)
		}
		makeProxy(t, job, "px")
		if r = job.Run(append([]string{tool, "run", "-q", "-f", "--io", "-o", "px.spoor"}, m.Command(1, "./px/proxy")...)...); r.Err != nil {
			t.Fatal(r)
		}
		var want []string // without those of the file that was given
		for _, text := range posixCalls(t, filepath.Join(dir, "a.spoor")) {
			if !strings.Contains(text, "descriptor?") && !strings.Contains(text, "descriptor0") && !strings.Contains(text, "stream0") {
				want = append(want, strings.ReplaceAll(text, "descriptor1", "descriptor0")) // that number is free now
			}
		}
		got := posixCalls(t, filepath.Join(dir, "px.spoor"))
		got = slices.DeleteFunc(got, func(text string) bool { return strings.Contains(text, "EBADF") })
		if len(want) != 4 || !slices.Equal(got, want) {
			t.Errorf("the proxy made %q, not %q", got, want)
		}
		if r := job.Run(tool, "replay", "--mpi", m.Name, "--original-files", "--partial", "a.spoor"); r.Err == nil || !strings.Contains(r.Stderr, "--original-files is for MPI-IO") {
			t.Errorf("with the original files: %v", r)
		}
	})
}

// posixCalls are the calls on files of a trace's first rank.
func posixCalls(t *testing.T, file string) (list []string) {
	t.Helper()
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	k, err := r.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range k.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Func.Has(trace.AttrPosix) {
			list = append(list, c.Text())
		}
	}
	return list
}
