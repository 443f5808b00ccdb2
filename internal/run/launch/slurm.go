package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// StartsThroughSlurm reports whether Slurm starts the processes of a command: by srun, or by another launcher inside a Slurm
// job.
func StartsThroughSlurm(args []string) bool {
	return filepath.Base(args[0]) == "srun" || os.Getenv("SLURM_JOB_ID") != ""
}

// taskEpilog is the environment variable that names the program which Slurm runs, as the user and without arguments,
// after each task of a step. The program has five seconds, even when a job is ending and can start no more steps.
const taskEpilog = "SLURM_TASK_EPILOG"

// EpilogVariables returns the variable that makes program the task epilog of a command; nil outside of Slurm, or if the
// user has set one.
func EpilogVariables(args []string, program string) []EnvVar {
	if !StartsThroughSlurm(args) || os.Getenv(taskEpilog) != "" {
		return nil
	}
	return []EnvVar{{taskEpilog, program}}
}

// InEpilog reports whether Slurm runs this process as a task epilog.
func InEpilog() bool { return os.Getenv("SLURM_SCRIPT_CONTEXT") == "epilog_task" }

// EpilogStepNodes lists the hosts of the step whose epilog this process is.
func EpilogStepNodes() []string { return hosts(os.Getenv("SLURM_STEP_NODELIST")) }

// JobNodes lists the hosts of this process's Slurm job; nil: not in a job.
func JobNodes() []string {
	n, err := strconv.Atoi(os.Getenv("SLURM_HET_SIZE"))
	if err != nil {
		return hosts(os.Getenv("SLURM_JOB_NODELIST"))
	}
	var list []string
	for i := range n { // of the parts of a heterogeneous job
		list = append(list, hosts(os.Getenv("SLURM_JOB_NODELIST_HET_GROUP_"+strconv.Itoa(i)))...)
	}
	return list
}

// hosts expands a list of host names in Slurm's notation, such as login,node[1-3,07-10]-ib.
func hosts(text string) (list []string) {
	for text != "" {
		end, inside := 0, false
		for end < len(text) && (inside || text[end] != ',') {
			switch text[end] {
			case '[':
				inside = true
			case ']':
				inside = false
			}
			end++
		}
		list = append(list, expand(text[:end])...)
		text = strings.TrimPrefix(text[end:], ",")
	}
	return list
}

// expand expands a host name with ranges of numbers in brackets.
func expand(name string) (list []string) {
	before, rest, ok := strings.Cut(name, "[")
	ranges, after, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return []string{name}
	}
	for r := range strings.SplitSeq(ranges, ",") {
		first, last, ok := strings.Cut(r, "-")
		if !ok {
			last = first
		}
		low, e1 := strconv.Atoi(first)
		high, e2 := strconv.Atoi(last)
		const most = 1 << 20 // no machine has more hosts
		if e1 != nil || e2 != nil || high-low > most {
			return nil
		}
		for n := low; n <= high; n++ {
			for _, end := range expand(after) {
				list = append(list, fmt.Sprintf("%s%0*d%s", before, len(first), n, end))
			}
		}
	}
	return list
}

// CommandOnNodes returns the srun command that starts one process on each host. With within set it is a step of this
// Slurm job, beside its other steps; else it is a new job.
func CommandOnNodes(nodes []string, within bool, program ...string) []string {
	n := strconv.Itoa(len(nodes))
	line := []string{"srun", "-w", strings.Join(nodes, ","), "-N", n, "-n", n}
	if p := os.Getenv("SLURM_JOB_PARTITION"); within {
		line = append(line, "--overlap", "--mpi=none")
	} else if p != "" {
		line = append(line, "-p", p)
	}
	return append(line, program...)
}

// SameHost reports whether two host names are equal. Either may have a domain.
func SameHost(a, b string) bool {
	a, _, _ = strings.Cut(a, ".")
	b, _, _ = strings.Cut(b, ".")
	return a == b
}

// keepsEnvironment is the variable by which a job's --export also applies to its steps.
const keepsEnvironment = "SLURM_EXPORT_ENV"

// WhatBlocksEnvironment returns what stops srun from passing the environment: its option, or a variable; "" if it
// passes the environment.
func WhatBlocksEnvironment(args []string) string {
	for i, a := range args {
		if a == "--export" && i+1 < len(args) {
			a += "=" + args[i+1]
		}
		if list, ok := strings.CutPrefix(a, "--export="); ok {
			if passesAll(list) {
				return ""
			}
			return a
		}
	}
	if list := os.Getenv(keepsEnvironment); list != "" && !passesAll(list) && StartsThroughSlurm(args) {
		return keepsEnvironment + "=" + list
	}
	return ""
}

func passesAll(list string) bool { return slices.Contains(strings.Split(list, ","), "ALL") }

// ExpandJobName replaces the patterns of Slurm's file names: %j by the job's number, %A and %a by those of an array
// and of the job in it, %N by the first node, %x by the job's name. Outside of a job the name stays unchanged.
func ExpandJobName(name string) (string, error) {
	job := os.Getenv("SLURM_JOB_ID")
	if job == "" {
		return name, nil
	}
	node := ""
	if nodes := JobNodes(); len(nodes) > 0 {
		node = nodes[0]
	}
	values := map[byte]string{'j': job, 'A': os.Getenv("SLURM_ARRAY_JOB_ID"), 'a': os.Getenv("SLURM_ARRAY_TASK_ID"), 'N': node, 'x': os.Getenv("SLURM_JOB_NAME"), '%': "%"}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] != '%' || i+1 == len(name) {
			b.WriteByte(name[i])
			continue
		}
		i++
		value, known := values[name[i]]
		if !known {
			return "", fmt.Errorf("%s: %%%c is nothing of a Slurm job; there are %%j, %%A, %%a, %%N and %%x, and %%%% for %%", name, name[i])
		}
		if value == "" {
			return "", fmt.Errorf("%s: this Slurm job has no %%%c", name, name[i])
		}
		b.WriteString(value)
	}
	return b.String(), nil
}
