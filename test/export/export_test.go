// Package export tests what `spoor export` writes by the tools that it is for: they have to read
// it without a complaint, and to find in it what the trace has, counted here without the
// exporter's help.
package export

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/internal/analyse/matrix"
	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/apps/compile"
	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
)

// programs of test/mpi that together do what formats have records for.
var programs = []string{
	"intercomm.c", "rma_lock.c", "rma_fence.c", "rma_requests.c", "rma_pscw.c", "threads.c", "threads_handover.c", "persistent.c", "icollectives.c",
	"file_individual.c", "file_explicit.c", "file_shared.c", "cancel.c", "mprobe.c", "waitsome.c", "neighbours.c", "sendmodes.c", "sendrecv.c",
	"attributes.c", "nulls.c", "wildcards.c", "commsplit.c", "comms_of_self.c", "cart.c", "handles_reused.c", "partitioned.c", "isendrecv.c", "vectors.c",
}

// tool returns the path of a reader.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		need.Absent(t, "no %s is installed", name)
	}
	return path
}

// spoor runs the tool in a folder and returns what it printed.
func spoor(t *testing.T, dir string, args ...string) string {
	t.Helper()
	r := mpis.Job{MPI: mpis.Need(t)[0], Dir: dir, Temp: t.TempDir()}.Run(append([]string{mpis.NeedSpoor(t)}, args...)...)
	if r.Err != nil {
		t.Fatalf("spoor %q: %v", args, r)
	}
	return r.Stdout
}

// A traced program is a folder with app.spoor in it.
type traced struct {
	name string
	dir  string
	r    *trace.Reader
}

// TestExport compares what is written of programs in each format with their traces.
func TestExport(t *testing.T) {
	tool(t, "otf2-print")
	perfettos := definition(t)
	each(t, func(t *testing.T, x traced) {
		t.Run("otf2", func(t *testing.T) { otf2(t, x) })
		t.Run("import", func(t *testing.T) { back(t, x) })
		t.Run("perfetto", func(t *testing.T) { pftrace(t, x, perfettos) })
		t.Run("chrome", func(t *testing.T) { shown(t, x, chrome(t, x.export(t, "chrome"))) })
		t.Run("csv", func(t *testing.T) { tables(t, x, x.export(t, "csv"), fromCSV) })
		t.Run("parquet", func(t *testing.T) { tables(t, x, x.export(t, "parquet"), fromParquet) })
		t.Run("paraver", func(t *testing.T) { prv(t, x, x.export(t, "paraver")) })
		t.Run("smpi", func(t *testing.T) { replayed(t, x) })
	})
}

// export writes the trace in a format and returns where.
func (x traced) export(t *testing.T, format string) string {
	t.Helper()
	spoor(t, x.dir, "export", "--to", format, "-o", format, "app.spoor")
	return filepath.Join(x.dir, format)
}

// each has a test for each program, traced with exact times.
func each(t *testing.T, test func(t *testing.T, x traced)) {
	m := mpis.Need(t)[0]
	record := func(name string, ranks int, line func(dir string) ([]string, error)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, run(t, m, name, ranks, line))
		})
	}
	for _, a := range compile.All {
		record(a.Name, 4, func(dir string) ([]string, error) {
			path, err := a.Build(m, dir)
			return append([]string{path}, a.Quick...), err
		})
	}
	for _, p := range mpis.NeedPrograms(t) {
		if !slices.Contains(programs, p.Name) || !p.RunsOn(m) {
			continue
		}
		record(p.Name, p.Few(), func(dir string) ([]string, error) {
			out := filepath.Join(dir, "app")
			return append([]string{out}, p.Args...), m.Compile(out, p.Path)
		})
	}
}

// run traces a program with exact times, in a folder of its own; line prepares that and returns the command.
func run(t *testing.T, m *mpis.MPI, name string, ranks int, line func(dir string) ([]string, error)) traced {
	t.Helper()
	dir := t.TempDir()
	command, err := line(dir)
	if err != nil {
		t.Fatal(err)
	}
	spoor(t, dir, append([]string{"run", "-q", "--timing", "lossless", "-o", "app.spoor"}, m.Command(ranks, command...)...)...)
	return traced{name, dir, open(t, filepath.Join(dir, "app.spoor"))}
}

func open(t *testing.T, path string) *trace.Reader {
	t.Helper()
	r, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// functions counts the calls of a trace, and those among them that succeeded and did something.
func functions(t *testing.T, r *trace.Reader) (all, good map[string]int) {
	t.Helper()
	all, good = make(map[string]int), make(map[string]int)
	for rank := range r.Ranks() {
		k, err := r.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for stream := range k.Streams() {
			for c, err := range k.Calls(stream) {
				if err != nil {
					t.Fatal(err)
				}
				all[c.Name()]++
				if p := c.Param("target_rank"); c.Return == 0 && (p == nil || p.In.Num != mpi.ProcNull) {
					good[c.Name()]++
				}
			}
		}
	}
	return all, good
}

// A pair is sender and receiver, as ranks of the world.
type pair struct{ from, to int }

// traffic returns what spoor matrix says of messages between ranks.
func traffic(t *testing.T, r *trace.Reader) map[pair]matrix.Cell {
	t.Helper()
	m, err := matrix.Compute(r, matrix.Options{PointToPoint: true})
	if err != nil {
		t.Fatal(err)
	}
	list := make(map[pair]matrix.Cell)
	for from, row := range m.Dense() {
		for to, c := range row {
			if c.Messages > 0 {
				list[pair{from, to}] = c
			}
		}
	}
	return list
}
