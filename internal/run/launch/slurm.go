package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// InSlurm reports whether Slurm starts the processes of a command: with its own launcher, or with one that asks it to in a job.
func InSlurm(args []string) bool {
	return filepath.Base(args[0]) == "srun" || os.Getenv("SLURM_JOB_ID") != ""
}

// taskEpilog names the program that Slurm runs, as the user and without arguments, after each task of a step. It is given five seconds,
// also when a job is being ended and has no more steps.
const taskEpilog = "SLURM_TASK_EPILOG"

// Epilog sets a program for that, unless the user has one.
func Epilog(args []string, program string) []Var {
	if !InSlurm(args) || os.Getenv(taskEpilog) != "" {
		return nil
	}
	return []Var{{taskEpilog, program}}
}

// InEpilog reports whether Slurm runs this process as such.
func InEpilog() bool { return os.Getenv("SLURM_SCRIPT_CONTEXT") == "epilog_task" }

// Nodes lists the hosts of the Slurm job that this process is in; nil: of none.
func Nodes() []string {
	list := []string{os.Getenv("SLURM_JOB_NODELIST")}
	if n, err := strconv.Atoi(os.Getenv("SLURM_HET_SIZE")); err == nil { // of a job with several parts
		list = nil
		for i := range n {
			list = append(list, os.Getenv("SLURM_JOB_NODELIST_HET_GROUP_"+strconv.Itoa(i)))
		}
	}
	list = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	if list == nil {
		return nil
	}
	out, err := exec.Command("scontrol", "show", "hostnames", strings.Join(list, ",")).Output()
	if err != nil {
		return nil
	}
	return strings.Fields(string(out))
}

// OnNodes is the command that starts one process on each of some hosts: within a job of Slurm that has them, as a step beside others, or else
// as a new job.
func OnNodes(nodes []string, within bool, program ...string) []string {
	n := strconv.Itoa(len(nodes))
	line := []string{"srun", "-w", strings.Join(nodes, ","), "-N", n, "-n", n}
	if p := os.Getenv("SLURM_JOB_PARTITION"); within {
		line = append(line, "--overlap", "--mpi=none")
	} else if p != "" {
		line = append(line, "-p", p)
	}
	return append(line, program...)
}

// SameHost compares names of hosts, which may have a domain.
func SameHost(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a == b
}
