package slurm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
)

const (
	count = 3 // nodes
	each  = 2 // ranks on one
)

var cluster = sync.OnceValues(func() (*Cluster, error) { return Start(count) })

func TestMain(m *testing.M) {
	code := m.Run()
	if s, err := cluster(); err == nil {
		for _, host := range s.hosts() { // no records are left
			if out, err := s.Command(host, "/", "find", "/dev/shm").Output(); err != nil || strings.Contains(string(out), "spoor-") {
				fmt.Printf("on %s: %s, %v\n", host, out, err)
				code = 1
			}
		}
		s.Stop()
	}
	os.Exit(code)
}

// hosts names all of them.
func (s *Cluster) hosts() []string { return append(s.Nodes(), "ctl") }

func needCluster(t *testing.T) *Cluster {
	t.Helper()
	mpis.NeedSpoor(t)
	s, err := cluster()
	if errors.Is(err, ErrNone) {
		need.Absent(t, "%v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs a command on ctl and returns what it prints.
func (s *Cluster) run(dir string, line ...string) (string, error) {
	c := s.Command("ctl", dir, line...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := mpis.RunWithin(2*time.Minute, c)
	return out.String(), err
}

// A launch is where the launcher is started.
type launch int

const (
	batch launch = iota // in a script, on the first node
	alloc               // by salloc, on another host
	login               // without a job, on another host
)

// A job is a program that a job runs.
type job struct {
	*Cluster
	mpi  *mpis.MPI
	name string
	dir  string // where it runs
	by   launch
	id   string
	lost []int // ranks whose records are gone
}

// srun is how it starts ranks.
func srun(m *mpis.MPI) []string {
	if m.Family == "openmpi" {
		return []string{"srun", "--mpi=pmix"}
	}
	return []string{"srun", "--mpi=pmi2"}
}

var spread = []string{"-N", strconv.Itoa(count), "-n", strconv.Itoa(count * each), "--ntasks-per-node", strconv.Itoa(each)}

// submit starts a job whose script runs a line.
func (j *job) submit(options []string, line ...string) error {
	if err := errors.Join(os.RemoveAll(j.dir), os.MkdirAll(j.dir, 0o755)); err != nil {
		return err
	}
	// Ranks of several jobs of Open MPI get in each other's way in one folder for temporary files.
	script := fmt.Sprintf("#!/bin/sh\nexport OMPI_MCA_btl=tcp,self TMPDIR=%[1]s\ncd %[1]s\n%[2]s\ncode=$?\necho $code >code\nexit $code\n", j.dir, strings.Join(line, " "))
	if err := os.WriteFile(filepath.Join(j.dir, "job"), []byte(script), 0o755); err != nil {
		return err
	}
	options = append([]string{"-J", j.name}, options...)
	switch j.by {
	case batch:
		out, err := j.run(j.dir, append(append([]string{"sbatch", "-o", "said"}, options...), "job")...)
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	case alloc:
		line = append(append([]string{"salloc"}, options...), "./job")
	case login:
		line = []string{"./job"}
	}
	said, err := os.Create(filepath.Join(j.dir, "said"))
	if err != nil {
		return err
	}
	defer said.Close()
	c := j.Command("ctl", j.dir, line...)
	c.Stdout, c.Stderr = said, said
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }()
	return nil
}

// until waits for something.
func (j *job) until(what string, is func() bool) error {
	for begin := time.Now(); !is(); time.Sleep(100 * time.Millisecond) {
		if time.Since(begin) > 100*time.Second {
			return fmt.Errorf("waited in vain: %s", what)
		}
	}
	return nil
}

// going waits until all ranks are where they stay, or the job has ended.
func (j *job) going() error {
	ended, asked := false, time.Now()
	err := j.until("ranks begin", func() bool {
		if time.Since(asked) > 2*time.Second {
			ended, asked = j.queue("%A", "") == "", time.Now()
		}
		list, _ := filepath.Glob(filepath.Join(j.dir, "going.*"))
		return ended || len(list) == count*each
	})
	if ended {
		err = errors.New("the job ended before its ranks began")
	}
	if err != nil {
		return err
	}
	time.Sleep(300 * time.Millisecond) // all are in the calls that they have logged
	return nil
}

// queue is what squeue says of the job in some states.
func (j *job) queue(format, states string) string {
	line := []string{"squeue", "-h", "-n", j.name, "-o", format}
	if states != "" {
		line = append(line, "-t", states)
	}
	out, _ := j.run(j.dir, line...)
	return strings.TrimSpace(out)
}

// over waits until nothing of the job runs any more.
func (j *job) over() error {
	err := j.until("the job ends", func() bool { return j.queue("%A", "R,CG") == "" })
	if err == nil && j.by != batch {
		err = j.until("the launcher ends", func() bool { _, err := os.Stat(filepath.Join(j.dir, "code")); return err == nil })
	}
	if err == nil { // Slurm finds what a script started by its parents: when the script dies first, the job is over before spoor
		err = j.until("its processes end", func() bool { return !j.runs() })
	}
	return err
}

// runs reports whether a process, of any host, is in the job's folder.
func (j *job) runs() bool {
	list, _ := filepath.Glob("/proc/[0-9]*/cwd")
	return slices.ContainsFunc(list, func(link string) bool {
		dir, _ := os.Readlink(link)
		return dir == j.dir
	})
}

func (j *job) said() string {
	text, _ := os.ReadFile(filepath.Join(j.dir, "said"))
	return string(text)
}

// code is what the launcher ended with, and what Slurm says of the job.
func (j *job) code() string {
	text, _ := os.ReadFile(filepath.Join(j.dir, "code"))
	if j.id == "" {
		return string(text)
	}
	about, _ := j.run(j.dir, "scontrol", "-o", "show", "job", j.id)
	for _, word := range strings.Fields(about) {
		if strings.HasPrefix(word, "JobState=") || strings.HasPrefix(word, "ExitCode=") {
			text = append(text, word+" "...)
		}
	}
	return string(text)
}

// compiled compiles the program, and returns the folder in which it is.
func (s *Cluster) compiled(t *testing.T, m *mpis.MPI) string {
	t.Helper()
	where := filepath.Join(s.Dir, m.Name)
	if err := os.MkdirAll(where, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.Compile(filepath.Join(where, "app"), filepath.Join("testdata", "ranks.c")); err != nil {
		t.Fatal(err)
	}
	return where
}

// onCluster runs a test under each MPI, with a job's script begun by some lines.
func onCluster(t *testing.T, test func(t *testing.T, j *job, app string)) {
	t.Helper()
	s := needCluster(t)
	for _, m := range mpis.Need(t) {
		if m.Name == m.Family {
			t.Run(m.Name, func(t *testing.T) {
				where, name := s.compiled(t, m), strings.ReplaceAll(t.Name(), "/", ".")
				test(t, &job{Cluster: s, mpi: m, name: name, dir: filepath.Join(where, name)}, filepath.Join(where, "app"))
			})
		}
	}
}

// start submits a traced job and waits until its ranks are where they stay.
func (j *job) start(t *testing.T, before string, program ...string) {
	t.Helper()
	line := append(strings.Fields(before), append([]string{mpis.Root("bin", "spoor"), "run", "-o", "app.spoor"}, srun(j.mpi)...)...)
	if err := j.begin(spread, append(line, program...)...); err != nil {
		t.Fatalf("%v: %s", err, j.said())
	}
}

// begin submits a job and waits until it has a number and its ranks are where they stay; if it ends before that through no fault of spoor,
// once more.
func (j *job) begin(options []string, line ...string) error {
	for try := 1; ; try++ {
		err := j.submit(options, line...)
		if err == nil {
			err = j.until("the job is queued", func() bool { j.id = j.queue("%A", ""); return j.id != "" })
		}
		if err == nil {
			err = j.going()
		}
		if err == nil || try > 1 || !slices.Contains(options, limit[0]) && !j.diedAlone() {
			return err
		}
		if err := errors.Join(j.over(), j.forget()); err != nil {
			return err
		}
	}
}

// forget removes records of the job, and marks of ranks that died in MPI_Init, from its hosts.
func (j *job) forget() error {
	const script = `cd /dev/shm && for f in $(grep -lsF "$1" spoor-*/*/context spoor-*/*.in); do rm -rf "${f%%/*}"; done`
	for _, host := range j.hosts() {
		if out, err := j.Command(host, "/", "sh", "-c", script, "sh", j.dir).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	return nil
}

// diedAlone reports whether a rank died as those of Open MPI 4.1.4 do on a busy machine, once in a hundred jobs, without spoor too: in
// MPI_Init, with one frame, in libc.
func (j *job) diedAlone() bool {
	return j.mpi.Family == "openmpi" && diesAlone(j.said())
}

func diesAlone(said string) bool {
	return strings.Contains(said, "Segmentation fault") && strings.Contains(said, "Failing at address: (nil)")
}

// Where the user has a task epilog, that is what Slurm runs; what is printed then works.
func TestCommand(t *testing.T) {
	t.Parallel()
	onCluster(t, func(t *testing.T, j *job, app string) {
		j.start(t, "SLURM_TASK_EPILOG=/bin/true", app, "go")
		if err := errors.Join(scancel()(j), j.over()); err != nil {
			t.Fatal(err)
		}
		_, command, ok := strings.Cut(j.said(), "spoor: or, on hosts that see that folder: ")
		command, _, _ = strings.Cut(command, "\n")
		if nodes := j.missing(); !ok || !slices.Equal(nodes, j.Nodes()[1:]) {
			t.Fatalf("%q are missing: %s", nodes, j.said())
		}
		if j.mpi.Family == "openmpi" { // as the page has it
			command = "PATH=" + mpis.Root("bin") + ":$PATH; " + pageLine(t, "spoor recover ") + " 2>&1; rm app.spoor"
		}
		out, err := j.output(j.dir, "sh", "-c", command)
		for _, node := range j.Nodes()[1:] {
			if !strings.Contains(out, node+": 2 processes brought to "+home+"\n") {
				t.Errorf("%s: %s, %v", command, out, err)
			}
		}
		j.recovered(t.Errorf)
	})
}

// pageLine is the line of docs/cluster.md that begins so.
func pageLine(t *testing.T, begin string) string {
	t.Helper()
	text, err := os.ReadFile(mpis.Root("docs", "cluster.md"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, begin) {
			return strings.TrimSpace(line)
		}
	}
	t.Fatalf("docs/cluster.md has no line %q", begin)
	return ""
}

// After the launcher nothing brings what nodes have: spoor recover prints what does.
func TestAfterTheLauncher(t *testing.T) {
	t.Parallel()
	onCluster(t, func(t *testing.T, j *job, app string) {
		line := slices.Concat(srun(j.mpi), []string{mpis.Root("bin", "spoor"), "run", "-o", "app.spoor", app, "go"})
		if err := errors.Join(j.begin(spread, line...), scancel()(j), j.over()); err != nil {
			t.Fatalf("%v: %s", err, j.said())
		}
		out, err := j.run(j.dir, mpis.Root("bin", "spoor"), "recover", home)
		_, command, ok := strings.Cut(out, "or: spoor ")
		if command, _, _ = strings.Cut(command, "\n"); !ok || err == nil {
			t.Fatal(out, err)
		}
		if out, err := j.run(j.dir, "sh", "-c", mpis.Root("bin", "spoor")+" "+command+" && rm app.spoor"); err != nil {
			t.Fatalf("%s: %s", command, out)
		}
		j.recovered(t.Errorf)
	})
}

// The job script of the page, for fewer ranks and this program.
func TestPage(t *testing.T) {
	t.Parallel()
	onCluster(t, func(t *testing.T, j *job, app string) {
		needFinalize(t, j.mpi)
		if err := os.MkdirAll(j.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		run := strings.NewReplacer("srun", strings.Join(srun(j.mpi), " "), "./app input", app+" end").Replace(pageLine(t, "spoor run -o $SLURM_JOB_ID"))
		script := fmt.Sprintf("#!/bin/sh\n%s\nPATH=%s:$PATH\n%s\n", strings.ReplaceAll(pageLine(t, "#SBATCH"), "64", strconv.Itoa(count*each)), mpis.Root("bin"), run)
		if err := os.WriteFile(filepath.Join(j.dir, "job"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := j.output(j.dir, "sbatch", "-W", "-N", strconv.Itoa(count), "--parsable", "-o", "said", "job")
		if trace := strings.TrimSpace(out) + ".spoor"; err != nil || !strings.Contains(j.said(), "spoor: "+trace+": 6 ranks") {
			t.Errorf("%s, %v: %s", out, err, j.said())
		}
	})
}

// After the launcher, with a folder for records that all nodes see: each has a folder of its own in it, and there is one trace.
func TestScratchIsShared(t *testing.T) {
	t.Parallel()
	onCluster(t, func(t *testing.T, j *job, app string) {
		scratch := filepath.Join(j.dir, "scratch")
		line := slices.Concat([]string{"mkdir", scratch, "&&"}, srun(j.mpi), []string{mpis.Root("bin", "spoor"), "run", "-o", "app.spoor", "--scratch", scratch, app, "go"})
		if err := errors.Join(j.begin(spread, line...), scancel()(j), j.over()); err != nil {
			t.Fatalf("%v: %s", err, j.said())
		}
		if list, _ := filepath.Glob(filepath.Join(scratch, "spoor-*")); len(list) != count {
			t.Errorf("folders: %q", list)
		}
		j.recovered(t.Errorf)
	})
}

// The ranks of one node are a part of those that wait for each other: the others are asked.
func TestHang(t *testing.T) {
	t.Parallel()
	onCluster(t, func(t *testing.T, j *job, app string) {
		line := slices.Concat([]string{mpis.Root("bin", "spoor"), "run", "--hang", "2s", "-o", "app.spoor"}, srun(j.mpi), []string{app, "ring"})
		err := j.begin(spread, line...)
		if err == nil {
			err = j.until("a verdict", func() bool { return strings.Contains(j.said(), "where the ranks are") })
		}
		if err = errors.Join(err, scancel()(j), j.over()); err != nil || !strings.Contains(j.said(), "deadlock, 6 ranks can't go on") {
			t.Errorf("%v: %s", err, j.said())
		}
		if list, _ := filepath.Glob(filepath.Join(j.dir, ".spoor-*")); list != nil {
			t.Errorf("there is %q", list)
		}
	})
}

// needFinalize skips a test of a program that ends as it should where one does not end, with spoor or without.
func needFinalize(t *testing.T, m *mpis.MPI) {
	t.Helper()
	if m.Family == "mpich" {
		t.Skip("under srun on several nodes, MPICH 4.0 over TCP waits for ever in some MPI_Finalize")
	}
}

// A program that ends as it should leaves its trace and nothing else.
func TestWhole(t *testing.T) {
	t.Parallel()
	onCluster(t, func(t *testing.T, j *job, app string) {
		needFinalize(t, j.mpi)
		if err := os.MkdirAll(j.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		line := slices.Concat([]string{mpis.Root("bin", "spoor"), "run", "--force", "-o", "app.spoor"}, srun(j.mpi), spread, []string{app, "end"})
		out, err := j.run(j.dir, line...)
		if err != nil || !strings.Contains(out, "spoor: app.spoor: 6 ranks") || strings.Count(out, "rank ") != count*each {
			t.Errorf("%v: %s", err, out)
		}
		if list, _ := filepath.Glob(filepath.Join(j.dir, "*.partial")); list != nil {
			t.Errorf("there is %s", list)
		}
	})
}

// A node goes with all that is on it: what others have comes home. Other tests run when it is back.
func TestNodeGoes(t *testing.T) {
	onCluster(t, func(t *testing.T, j *job, app string) {
		j.start(t, "", app, "go")
		last := j.Nodes()[count-1]
		if out, err := j.run(j.Dir, filepath.Join(j.Dir, "off"), last); err != nil {
			t.Fatal(out, err)
		}
		if out, err := j.run(j.Dir, "scontrol", "update", "nodename="+last, "state=down", "reason=test"); err != nil {
			t.Fatal(out, err)
		}
		if err := j.over(); err != nil {
			t.Fatal(err)
		}
		j.lost = []int{each * (count - 1), each*count - 1}
		j.recovered(t.Errorf)
		if t.Failed() {
			t.Log(j.said())
		}
		if out, err := j.run(j.Dir, filepath.Join(j.Dir, "up"), last); err != nil {
			t.Fatal(out, err)
		}
		_, _ = j.run(j.Dir, "scontrol", "update", "nodename="+last, "state=resume") // unless Slurm has put it back into service
		if err := j.until("the node is back", func() bool {
			out, _ := j.run(j.Dir, "sinfo", "-h", "-t", "idle", "-o", "%D")
			return strings.TrimSpace(out) == strconv.Itoa(count)
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// Several programs of one job: a file names them, or a step of several components does.
func TestPrograms(t *testing.T) {
	t.Parallel()
	onCluster(t, func(t *testing.T, j *job, app string) {
		needFinalize(t, j.mpi)
		if err := os.MkdirAll(j.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		other := filepath.Join(j.dir, "other")
		if err := os.Symlink(app, other); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(j.dir, "programs"), fmt.Appendf(nil, "0-1 %s end\n2-5 %s end\n", app, other), 0o644); err != nil {
			t.Fatal(err)
		}
		for name, line := range map[string][]string{
			"file":       slices.Concat(srun(j.mpi), spread, []string{"--multi-prog", "programs"}),
			"components": slices.Concat(srun(j.mpi), []string{"-w", "node1", "-n", "2", app, "end", ":", "-w", "node2,node3", "-N", "2", "-n", "4", other, "end"}),
		} {
			trace := name + ".spoor"
			command := slices.Concat([]string{mpis.Root("bin", "spoor"), "run", "-f", "-o", trace}, line)
			out, err := j.run(j.dir, command...)
			if diesAlone(out) {
				out, err = j.run(j.dir, command...)
			}
			if err != nil || !strings.Contains(out, "spoor: "+trace+": 6 ranks") {
				t.Errorf("%s: %v: %s", name, err, out)
			}
		}
	})
}
