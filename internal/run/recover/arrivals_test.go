package recover

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const mark = "spoor-arrival 1\ncall MPI_Session_init\nhost node1\npid 4711\nstart 1700000000000000000\n"

func TestReadArrival(t *testing.T) {
	for _, c := range []struct {
		text               string
		rank, ranks, local int
		job                string
	}{
		{mark, -1, 0, 0, ""},
		{mark + "rank 3\nranks 8\nenv PMI_RANK=1\nenv PMI_SIZE=2\n", 3, 8, 0, ""}, // the world's own count
		{mark + "env PMI_RANK=1\nenv PMI_SIZE=4\nenv MPI_LOCALNRANKS=2\n", 1, 4, 2, ""},
		{mark + "env OMPI_COMM_WORLD_RANK=5\nenv OMPI_COMM_WORLD_SIZE=6\nenv OMPI_COMM_WORLD_LOCAL_SIZE=3\nenv PMIX_NAMESPACE=prte@2\n", 5, 6, 3, "prte@2"},
		{mark + "env SLURM_PROCID=0\nenv SLURM_STEP_NUM_TASKS=2\nenv SLURM_NTASKS=16\n", 0, 2, 0, ""},
	} {
		a, err := ReadInitFinalizeMark([]byte(c.text))
		if err != nil || a.Call != "MPI_Session_init" || a.Host != "node1" || a.PID != 4711 || a.StartNs != 17e17 ||
			a.Rank != c.rank || a.Ranks != c.ranks || a.LocalRanks != c.local || a.Job != c.job {
			t.Errorf("%q: %+v, %v", c.text, a, err)
		}
	}
	for _, text := range []string{"", "spoor-context 1\n", "spoor-arrival 2\n", "spoor-arrival 1\ncall MPI_Init\n", mark + "rank x\n", mark + "rank 4\nranks 4\n"} {
		if a, err := ReadInitFinalizeMark([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, a)
		}
	}
}

func FuzzReadArrival(f *testing.F) {
	f.Add([]byte(mark + "rank 3\nranks 8\nenv PMI_SIZE=4\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if a, err := ReadInitFinalizeMark(text); err == nil && (a.Rank < -1 || a.Ranks < 0 || a.Ranks > 0 && a.Rank >= a.Ranks) {
			t.Errorf("%+v", a)
		}
	})
}

// Jobs are found by processes that have no records yet, and by what starts these.
func TestJobsInInit(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "spoor-1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	put := func(pid int) {
		text := fmt.Sprintf("spoor-arrival 1\ncall MPI_Init\nhost %s\npid %d\nstart %d\n", host, pid, time.Now().UnixNano())
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.in", host, pid)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(1 << 30) // nobody has that number
	if jobs := FindJobs([]string{parent}); len(jobs) != 0 {
		t.Errorf("of a process that has ended: %+v", jobs)
	}
	put(os.Getpid())
	jobs := FindJobs([]string{parent})
	if len(jobs) != 1 || !jobs[0].IsAlive() || !jobs[0].HasProcess(os.Getppid()) || jobs[0].HasProcess(1<<30) {
		t.Fatalf("%+v", jobs)
	}
	if _, pid := jobs[0].Name(); pid != os.Getpid() {
		t.Errorf("its process is %d", pid)
	}
	list := ReadInitFinalizeMarks(parent)
	if len(list) != 2 {
		t.Fatalf("%+v", list)
	}
	RemoveEndedMarks(list)
	if list = ReadInitFinalizeMarks(dir); len(list) != 1 || list[0].PID != os.Getpid() {
		t.Errorf("after the others are forgotten: %+v", list)
	}
}
