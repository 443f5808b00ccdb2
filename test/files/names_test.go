package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/files"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

// report opens a trace and says what was done with files.
func report(t *testing.T, name string, o files.Options) (list []*files.File, rep *files.Report) {
	t.Helper()
	r, err := trace.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := trace.Check(r); err != nil {
		t.Error(err)
	}
	if rep, err = files.Analyse(r, o); err != nil {
		t.Fatal(err)
	}
	return rep.Files, rep
}

// What a file is follows from where each rank was: what ranks read and wrote by each name is what the program says, whether
// by POSIX, C, MPI-IO or asynchronously.
func TestNames(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		program := filepath.Join(dir, "names")
		if err := m.Compile(program, filepath.Join("testdata", "names.c")); err != nil {
			t.Fatal(err)
		}
		work := filepath.Join(dir, "work")
		if err := os.Mkdir(work, 0o777); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "names.spoor")
		job := mpis.Job{MPI: m, Dir: work, Temp: dir}
		with := job.Run(append([]string{tool, "run", "-q", "--io", "-o", out}, m.Command(ranks, program)...)...)
		if with.Err != nil {
			t.Fatal(with)
		}
		each, rep := report(t, out, files.Options{SeparateRankFiles: true})
		if rep.StartFolder != work {
			t.Errorf("ranks began in %q, not in %q", rep.StartFolder, work)
		}
		var got []string
		for _, f := range each {
			if strings.HasSuffix(f.Path, "early/e") && f.API != files.APIPosix || strings.Contains(f.Path, "/m") && f.API != files.APIMPIIO {
				t.Errorf("%s by %s", f.Path, f.API)
			}
			for rank, u := range f.UseByRank {
				if u.Reads.Bytes+u.Writes.Bytes > 0 {
					got = append(got, fmt.Sprint(rank, " ", f.Path, " ", u.Reads.Bytes, " ", u.Writes.Bytes))
				}
			}
		}
		got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s[2:], "std") })
		slices.Sort(got)
		want := strings.Split(strings.TrimSpace(with.Stdout), "\n")
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("spoor says\n%s\nthe program\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}

		together, _ := report(t, out, files.Options{})
		names := make(map[string]int)
		for _, f := range together {
			names[f.Path] = len(f.UseByRank)
		}
		for name, ranks := range map[string]int{"job%d/a": 2, "job%d/m%d": 2, "step1.%03d": 2, "c": 2, "all": 2, "only.1": 1, "job%d": 2} {
			if names[name] != ranks {
				t.Errorf("%s: %d ranks, want %d; there are %v", name, names[name], ranks, names)
			}
		}
	})
}

// Ranks that a launcher starts in folders of their own have files of their own.
func TestWorkingFolders(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	onEach(t, func(t *testing.T, m *mpis.MPI, dir string) {
		program := filepath.Join(dir, "names")
		if err := m.Compile(program, filepath.Join("testdata", "names.c")); err != nil {
			t.Fatal(err)
		}
		command := m.Command(1, program)
		var argv []string
		for i, name := range []string{"one", "two"} {
			work := filepath.Join(dir, name)
			if err := os.Mkdir(work, 0o777); err != nil {
				t.Fatal(err)
			}
			part := slices.Clone(command[:len(command)-1])
			if i > 0 {
				at := slices.Index(part, "-n")
				part = append([]string{":"}, part[at:at+2]...)
			}
			argv = append(append(argv, part...), "-wdir", work, program, "apart")
		}
		out := filepath.Join(dir, "two.spoor")
		job := mpis.Job{MPI: m, Dir: dir, Temp: dir}
		if with := job.Run(append([]string{tool, "run", "-q", "--io", "-o", out}, argv...)...); with.Err != nil {
			t.Fatal(with)
		}
		list, _ := report(t, out, files.Options{})
		for _, name := range []string{"one/c", "two/c", "one/job0/b", "two/job1/b"} {
			i := slices.IndexFunc(list, func(f *files.File) bool { return f.Path == filepath.Join(dir, name) })
			if i < 0 || len(list[i].UseByRank) != 1 {
				t.Errorf("%s is not a file of one rank", name)
			}
		}
	})
}

// A program without MPI makes a trace of one rank.
func TestSerial(t *testing.T) {
	tool := mpis.NeedSpoor(t)
	dir := t.TempDir()
	cc := need.Command(t, "cc")
	source, err := filepath.Abs(filepath.Join("testdata", "serial.c"))
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "serial")
	job := mpis.Job{MPI: mpis.Need(t)[0], Dir: dir, Temp: dir, Bare: true}
	if c := job.Run(cc, "-o", program, source, "-pthread"); c.Err != nil {
		t.Fatal(c)
	}
	for _, mode := range []string{"", "threads", "many"} {
		t.Run("mode "+mode, func(t *testing.T) {
			without := job.Run(program, mode)
			out := filepath.Join(dir, "serial"+mode+".spoor")
			with := job.Run(tool, "run", "-q", "--io", "-o", out, program, mode)
			if with.Err != nil || with.Stdout != without.Stdout || with.Stderr != without.Stderr {
				t.Fatalf("with spoor: %v, without: %v", with, without)
			}
			list, rep := report(t, out, files.Options{})
			var got []string
			for _, f := range list {
				if f.Total.Writes.Bytes > 0 && !strings.HasPrefix(f.Path, "std") {
					got = append(got, fmt.Sprintf("%s %d %d\n", f.Path, f.Total.Writes.Calls, f.Total.Writes.Bytes))
				}
			}
			slices.Sort(got) // the files that took longest come first, whichever these are today
			if text := strings.Join(got, ""); text != without.Stdout {
				t.Errorf("spoor says %q, the program %q", text, without.Stdout)
			}
			if i := slices.IndexFunc(list, func(f *files.File) bool { return f.Path == "/etc/hostname" }); i >= 0 || rep.OmittedCalls == 0 {
				t.Errorf("a file of the system's: row %d, %d calls left out", i, rep.OmittedCalls)
			}
			all, _ := report(t, out, files.Options{IncludeSystem: true})
			if !slices.ContainsFunc(all, func(f *files.File) bool { return f.Path == "/etc/hostname" }) {
				t.Error("the system's file isn't there either if it is asked for")
			}
		})
	}
}
