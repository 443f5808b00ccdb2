package launch

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// rankVariables are those by which launchers tell a process that it is a rank.
var rankVariables = []string{
	"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "FLUX_TASK_RANK", "PALS_RANKID", "ALPS_APP_PE", "JSM_NAMESPACE_RANK",
}

// InRank reports whether a launcher started this process as a rank.
func InRank() bool {
	for _, name := range rankVariables {
		if os.Getenv(name) != "" {
			return true
		}
	}
	// Slurm numbers the shell of a batch job too, in a step that has no small number.
	step, err := strconv.ParseUint(os.Getenv("SLURM_STEP_ID"), 10, 32)
	return err == nil && step < 1<<31 && os.Getenv("SLURM_PROCID") != ""
}

// A Place is what a launcher tells a process of its place in the job.
type Place struct {
	Rank  int    // -1: not told, as the following are by 0 and ""
	Ranks int    // of the job
	Local int    // of these on this node
	Job   string // one of several that have to do with each other
}

// Launched reads that from the environment.
func Launched(getenv func(name string) string) Place {
	number := func(without int, names ...string) int {
		for _, name := range names {
			if n, err := strconv.Atoi(getenv(name)); err == nil && n >= 0 {
				return n
			}
		}
		return without
	}
	return Place{
		Rank:  number(-1, append(rankVariables, "PMI_ID", "SLURM_PROCID")...),
		Ranks: number(0, "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE", "PALS_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
		Local: number(0, "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE"),
		Job:   cmp.Or(getenv("PMIX_NAMESPACE"), getenv("PMI_JOBID"), getenv("PMI_KVSNAME")),
	}
}

// Siblings names the processes that this one's parent has started: ranks of one
// job on one node, mostly.
func Siblings() string {
	parent := os.Getppid()
	began := "0"
	// The name, in parentheses, may hold anything.
	if text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(parent), "stat")); err == nil {
		if fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])); len(fields) > 19 {
			began = fields[19]
		}
	}
	return fmt.Sprintf("%d-%s", parent, began)
}
