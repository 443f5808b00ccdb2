package launch

import (
	"bytes"
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
