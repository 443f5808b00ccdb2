package oracle

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/spoor-hpc/spoor/test/mpis"
	"github.com/spoor-hpc/spoor/test/need"
	"github.com/spoor-hpc/spoor/trace"
	"github.com/spoor-hpc/spoor/trace/handles"
)

// recorder returns the preloaded library under test, made by make. It is a
// copy, so that a build in the meantime doesn't change what is tested.
func recorder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(scratch, "bin")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"libspoor.so", "libspoor-engine.so"} {
		data, err := os.ReadFile(filepath.Join("../../bin", name))
		if err != nil {
			need.Absent(t, "the recorder is not built: %v", err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "libspoor.so")
}

// counts are the numbers of ranks to test under the MPI of this number: one of several in a
// quick test, in CI another one besides under every second MPI, both of which differ from
// program to program, and all where SPOOR_TEST_RANKS is all.
func counts(p *mpis.Program, mpi int) []int {
	usual := min(1, len(p.Ranks)-1)
	list := []int{p.Ranks[usual]}
	switch {
	case os.Getenv("SPOOR_TEST_RANKS") == "all":
		return p.Ranks
	case os.Getenv("CI") != "" && len(p.Ranks) > 1:
		sum := int(crc32.ChecksumIEEE([]byte(p.Name)))
		if (sum>>16+mpi)%2 != 0 {
			break
		}
		other := sum % (len(p.Ranks) - 1)
		if other >= usual {
			other++
		}
		list = append(list, p.Ranks[other])
	}
	return list
}

// Decode(trace) is what the oracle logged, call by call, parameter by
// parameter, for every program, MPI and number of ranks.
func TestTraces(t *testing.T) {
	shim := recorder(t)
	var mu sync.Mutex
	excused := map[Exception]int{}
	calls := 0
	t.Run("all", func(t *testing.T) {
		for i, m := range mpis.Need(t) {
			for _, p := range mpis.NeedPrograms(t) {
				if !p.RunsOn(m) {
					continue
				}
				for _, ranks := range counts(p, i) {
					t.Run(fmt.Sprintf("%s/%s/%d", m.Name, p.Name, ranks), func(t *testing.T) {
						t.Parallel()
						for _, r := range compareRun(t, shim, m, p, ranks) {
							mu.Lock()
							calls += r.Calls
							for e, n := range r.Excused {
								excused[e] += n
							}
							mu.Unlock()
						}
					})
				}
			}
		}
	})
	t.Logf("%d calls compared; exceptions used:", calls)
	var list []string
	for e := range excused {
		list = append(list, string(e))
	}
	sort.Strings(list)
	for _, e := range list {
		t.Logf("%8d  %s: %s", excused[Exception(e)], e, Reasons[Exception(e)])
	}
}

func compareRun(t *testing.T, shim string, m *mpis.MPI, p *mpis.Program, ranks int) []*Report {
	t.Helper()
	logs, out, r := tracedRun(t, shim, m, p, ranks)
	if p.MayHang(m) && errors.Is(r.Err, mpis.ErrLate) {
		t.Logf("once more, as this may be the MPI's: %v", r)
		logs, out, r = tracedRun(t, shim, m, p, ranks)
	}
	if r.Err != nil {
		t.Errorf("traced run: %v", r)
	}
	for _, line := range strings.Split(r.Stderr, "\n") {
		// Worlds that the program starts share the name of its trace.
		if strings.HasPrefix(line, "spoor:") && !strings.Contains(line, " exists, the trace is ") {
			t.Errorf("the recorder complains: %s", line)
		}
	}
	processes, err := ReadLogs(logs)
	if err != nil {
		t.Fatal(err)
	}
	noteCalls(m, processes)
	if p.Uncompared {
		return nil
	}
	var reports []*Report
	all := worlds(processes)
	for _, w := range all {
		report, err := compareWorld(t, out, all, w)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		reports = append(reports, report...)
	}
	for _, r := range reports {
		for _, text := range r.Wrong {
			t.Error(text)
		}
		if r.Omitted > 0 {
			t.Errorf("and %d more", r.Omitted)
		}
	}
	return reports
}

// tracedRun runs a program with recorder and oracle, and returns the oracle's folder and the
// name of the trace.
func tracedRun(t *testing.T, shim string, m *mpis.MPI, p *mpis.Program, ranks int) (logs, out string, r mpis.Result) {
	t.Helper()
	logs, out = t.TempDir(), filepath.Join(t.TempDir(), "run.spoor")
	env := []string{"LD_PRELOAD=" + preload(t, m) + " " + shim, "ORACLE_DIR=" + logs, "SPOOR_OUT=" + out, "SPOOR_SCRATCH=" + memory(t)}
	if p.Fortran() {
		// The recorder knows a binding's inner call by the library that makes
		// it, and the oracle stands between the two. Not so in C: there what
		// comes through the oracle is the program's, callbacks included.
		env = append(env, "SPOOR_THROUGH=liboracle.so")
	}
	return logs, out, launch(p, m, ranks, env...)
}

// memory is a folder for records, which programs without MPI_COMM_WORLD leave behind.
func memory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "oracle-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// worlds splits the processes of a run by MPI_COMM_WORLD, that of mpiexec
// first. Processes without one are left out: nothing is agreed on them.
func worlds(list []*Process) [][]*Process {
	var result [][]*Process
	for _, p := range list {
		if p.Rank < 0 {
			continue
		}
		if n := len(result); n > 0 && result[n-1][0].Job == p.Job {
			result[n-1] = append(result[n-1], p)
			continue
		}
		result = append(result, []*Process{p})
	}
	return result
}

// traceOf finds the trace of a world among those of a run, whose worlds have traces in the order
// in which they began.
func traceOf(out string, all [][]*Process, world []*Process) (string, error) {
	names, err := filepath.Glob(strings.TrimSuffix(out, ".spoor") + "*.spoor")
	if err != nil {
		return "", err
	}
	if len(names) != len(all) {
		return "", fmt.Errorf("%d worlds, traces %q", len(all), names)
	}
	began := map[string]int64{}
	for _, name := range names {
		if began[name], err = start(name); err != nil {
			return "", err
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(began[a], began[b]) })
	before := 0
	for _, w := range all {
		if w[0].Started < world[0].Started {
			before++
		}
	}
	return names[before], nil
}

// start returns when rank 0 of a trace called MPI_Init.
func start(name string) (int64, error) {
	r, err := trace.Open(name)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	k, err := r.Rank(0)
	if err != nil {
		return 0, err
	}
	process, err := k.Process()
	return process.InitWallClockNs, err
}

func compareWorld(t *testing.T, out string, all [][]*Process, world []*Process) ([]*Report, error) {
	path, err := traceOf(out, all, world)
	if err != nil {
		return nil, err
	}
	r, err := trace.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if r.Ranks() != len(world) {
		return nil, fmt.Errorf("%d processes, the trace has %d ranks", len(world), r.Ranks())
	}
	compareMatrix(t, r)
	compareProfile(t, r)
	comms, err := handles.TableOf(r).Comms()
	if err != nil {
		return nil, err
	}
	var reports []*Report
	for _, p := range world {
		k, err := r.Rank(p.Rank)
		if err != nil {
			return nil, err
		}
		streams := make([][]trace.Call, k.Streams())
		for s := range streams {
			for call, err := range k.Calls(s) {
				if err != nil {
					return nil, fmt.Errorf("rank %d stream %d: %w", p.Rank, s, err)
				}
				streams[s] = append(streams[s], *call)
			}
		}
		find := func(stream int, index uint64, handle int64) *handles.Comm {
			return comms.At(p.Rank, stream, index, handle)
		}
		reports = append(reports, Compare(p, streams, find))
	}
	return reports, nil
}
