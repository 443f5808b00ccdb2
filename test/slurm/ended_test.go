package slurm

import (
	"bytes"
	"encoding/json"
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
)

// scancel ends the job in some way.
func scancel(options ...string) func(j *job) error {
	return func(j *job) error { return j.cancel(j.id, options...) }
}

// scancelStep ends what the job's launcher has started.
func scancelStep(j *job) error { return j.cancel(j.id + ".0") }

func (j *job) cancel(id string, options ...string) error {
	out, err := j.run(j.dir, append(append([]string{"scancel"}, options...), id)...)
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func nothing(*job) error { return nil }

// requeue has the job begin again later, and takes it out of the queue then.
func requeue(j *job) error {
	if out, err := j.run(j.dir, "scontrol", "requeue", j.id); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if err := j.until("the job is queued again", func() bool { return j.queue("%A", "PD") != "" && j.queue("%A", "CG") == "" }); err != nil {
		return err
	}
	return scancel()(j)
}

// killed kills the job's process of that name.
func killed(name string) func(j *job) error {
	return func(j *job) error {
		for _, host := range j.hosts() {
			c := j.Command(host, j.dir, "sh", "-c", `for p in $(ps -o pid= -C "$1"); do [ "$(readlink /proc/$p/cwd)" = "$2" ] && kill -9 $p; done; :`, "sh", name, j.dir)
			if out, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
		}
		return nil
	}
}

// An ended is a way in which a job ends before its time.
type ended struct {
	name    string
	by      launch
	options []string // of the job
	step    []string // of srun
	mode    string   // of the program; "": go
	under   string   // this MPI alone; "": each
	loose   bool     // Slurm does not always end it with the same code
	end     func(j *job) error
}

// Slurm knows limits in minutes: few jobs wait for one, and these begin first.
var endings = []ended{
	{name: "limit", by: batch, options: limit, end: nothing},
	{name: "limit that is ignored", by: batch, options: limit, mode: "stay", under: "mpich", end: nothing},
	{name: "limit in salloc", by: alloc, options: limit, under: "openmpi", end: nothing},
	{name: "limit of srun", by: login, options: limit, under: "mpich", end: nothing},
	{name: "signal", by: batch, options: append(limit, "--signal=TERM@15"), under: "openmpi", loose: true, end: nothing},
	{name: "signal to the script", by: batch, options: append(limit, "--signal=B:TERM@15"), under: "mpich", loose: true, end: nothing},
	{name: "scancel", by: batch, end: scancel()},
	{name: "scancel that is ignored", by: batch, mode: "stay", end: scancel()},
	{name: "scancel -f", by: batch, end: scancel("-f")},
	{name: "scancel -s KILL", by: batch, end: scancel("-f", "-s", "KILL")},
	{name: "scancel of the step", by: batch, end: scancelStep},
	{name: "scancel in salloc", by: alloc, end: scancel()},
	{name: "scancel of the step in salloc", by: alloc, end: scancelStep},
	{name: "scancel of srun", by: login, end: scancel()},
	{name: "scancel -f of srun", by: login, end: scancel("-f")},
	{name: "requeue", by: batch, options: []string{"--requeue"}, end: requeue},
	{name: "crash with -K", by: batch, step: []string{"-K"}, mode: "crash", loose: true, end: nothing},
	{name: "crash with -K of srun", by: login, step: []string{"-K"}, mode: "crash", loose: true, end: nothing},
	{name: "crash", by: batch, mode: "crash", loose: true, end: func(j *job) error { time.Sleep(2 * time.Second); return scancel()(j) }},
	{name: "srun killed", by: batch, end: killed("srun")},
	{name: "srun killed in salloc", by: alloc, end: killed("srun")},
	{name: "spoor killed", by: batch, loose: true, end: func(j *job) error {
		if err := killed("spoor")(j); err != nil {
			return err
		}
		return scancel()(j)
	}},
}

var limit = []string{"--time=1"}

// A result is how it went.
type result struct {
	ended
	traced, plain *job
	problems      []string
}

func (r *result) complain(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// run runs the job traced and not, ends both, and compares.
func (x ended) run(s *Cluster, m *mpis.MPI, where string) *result {
	r := &result{ended: x}
	dir := filepath.Join(where, strings.ReplaceAll(x.name, " ", "_"))
	at := func(kind string) *job {
		return &job{Cluster: s, mpi: m, name: m.Name + "." + strings.ReplaceAll(x.name, " ", "_") + "." + kind, dir: filepath.Join(dir, kind), by: x.by}
	}
	r.traced, r.plain = at("traced"), at("plain")
	var plain error
	var both sync.WaitGroup
	if !x.loose && (x.under != "" || m.Family == "mpich") { // what Slurm does is the same for each MPI
		both.Go(func() {
			if plain = x.one(r.plain, false, filepath.Join(where, "app")); plain != nil { // Slurm's doing, or the machine's
				r.plain = at("again")
				plain = x.one(r.plain, false, filepath.Join(where, "app"))
			}
		})
	}
	if err := x.one(r.traced, true, filepath.Join(where, "app")); err != nil {
		r.complain("%v", err)
	}
	both.Wait()
	if plain != nil {
		r.complain("without spoor: %v", plain)
	} else if a, b := x.code(r.traced), x.code(r.plain); r.plain.id != "" && a != b {
		r.complain("it ended with %q, and without spoor with %q", a, b)
	}
	r.traced.recovered(r.complain)
	return r
}

// code is the job's code. At a limit Slurm ends the step first, and then the script, if that has not ended by then of itself: which comes
// first is a matter of how busy the nodes are.
func (x *ended) code(j *job) string {
	text := j.code()
	if x.by == batch && strings.Contains(text, "JobState=TIMEOUT ") {
		text = strings.Replace(strings.TrimPrefix(text, "143\n"), "ExitCode=143:0 ", "ExitCode=0:15 ", 1)
	}
	return text
}

func (x *ended) one(j *job, traced bool, app string) error {
	line, options := srun(j.mpi), slices.Concat(spread, x.options)
	if traced {
		line = append([]string{mpis.Root("bin", "spoor"), "run", "-o", "app.spoor"}, line...)
	}
	if line = append(line, x.step...); x.by == login {
		line = append(append(line, "-J", j.name), options...)
	}
	mode := x.mode
	if mode == "" {
		mode = "go"
	}
	line = append(line, app, mode)
	err := j.begin(options, line...)
	if err == nil {
		err = x.end(j)
	}
	return errors.Join(err, j.over())
}

// output is what a command prints on its standard output; the error has what it prints beside it.
func (s *Cluster) output(dir string, line ...string) (string, error) {
	c := s.Command("ctl", dir, line...)
	var out, said bytes.Buffer
	c.Stdout, c.Stderr = &out, &said
	err := mpis.RunWithin(2*time.Minute, c)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, said.String())
	}
	return out.String(), err
}

// missing names the nodes that a run's home has links for.
func (j *job) missing() (nodes []string) {
	entries, _ := os.ReadDir(filepath.Join(j.dir, home))
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			nodes = append(nodes, e.Name())
		}
	}
	return nodes
}

const home = "app.spoor.partial"

// recovered compares the last calls of all ranks with what the program logged, and looks for what has been left on nodes.
func (j *job) recovered(complain func(format string, args ...any)) {
	line := []string{mpis.Root("bin", "spoor"), "recover", "--json", home}
	if nodes := j.missing(); nodes != nil && strings.Contains(j.said(), "TaskEpilog failed") { // Slurm killed it
		n := strconv.Itoa(len(nodes))
		line = append(line, "--", "srun", "-w", strings.Join(nodes, ","), "-N", n, "-n", n)
	}
	out, err := j.output(j.dir, line...)
	var list []struct {
		Ranks   int
		Endings []struct {
			Calls   int64
			Threads []struct {
				Inside bool
				Call   struct{ Call string }
			}
		}
	}
	if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list) != 1 || len(list[0].Endings) != count*each {
		complain("recovered: %s, %v", out, err)
		return
	}
	for rank, e := range list[0].Endings {
		if slices.Contains(j.lost, rank) {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(j.dir, fmt.Sprint("log.", rank)))
		found := "nothing"
		if len(e.Threads) == 1 {
			found = fmt.Sprintf("%d %s", e.Calls, e.Threads[0].Call.Call)
			if e.Threads[0].Inside != (rank%2 == 0) {
				complain("rank %d is inside of its last call: %v", rank, e.Threads[0].Inside)
			}
		}
		if logged := strings.Join(strings.Fields(string(text)), " "); found != logged {
			complain("rank %d: the last call is %s, and it logged %s", rank, found, logged)
		}
	}
}

// A job ends before its time: what all ranks recorded comes home.
func TestEnded(t *testing.T) {
	t.Parallel()
	s := needCluster(t)
	room := make(chan bool, 4)
	var all []chan *result
	for _, m := range mpis.Need(t) {
		if m.Name != m.Family {
			continue // the same launcher
		}
		where := s.compiled(t, m)
		for _, x := range endings {
			if x.under != "" && x.under != m.Name {
				continue
			}
			done := make(chan *result, 1)
			all = append(all, done)
			go func() {
				if !slices.Contains(x.options, limit[0]) { // those wait for their time
					room <- true
					defer func() { <-room }()
				}
				done <- x.run(s, m, where)
			}()
		}
	}
	for _, done := range all {
		r := <-done
		t.Run(r.traced.mpi.Name+"/"+r.name, func(t *testing.T) {
			for _, p := range r.problems {
				t.Error(p)
			}
			if r.problems != nil {
				t.Logf("it printed: %s\nwithout spoor: %s", r.traced.said(), r.plain.said())
			}
		})
	}
}
