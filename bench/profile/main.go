// Command profile renews the outputs in docs/profile.md. It records LAMMPS and HPC Challenge as the page describes,
// runs each of the page's commands whose output is in the following block, and replaces that output.
//
//	make && go run ./bench/profile
//
// It needs Open MPI, and the Debian packages lammps, lammps-examples and hpcc. Its times are valid only on a quiet
// machine: it prints how busy the machine was.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spoor-hpc/spoor/test/inputs"
)

func main() {
	page := flag.String("page", "docs/profile.md", "the page")
	melt := flag.String("melt", "/usr/share/lammps/examples/melt/in.melt", "LAMMPS's input")
	keep := flag.String("keep", "", "a `folder` for the traces; those that are there are not recorded again")
	flag.Parse()
	if err := retake(*page, *melt, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1)
	}
}

// blocks matches a fenced block of commands, the text after it, and the next block.
var blocks = regexp.MustCompile("(?s)```\n((?:spoor [^\n]*\n)+)```\n(\\s*)```\n(.*?)```\n")

func retake(page, melt, dir string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	bin, err := filepath.Abs("bin")
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "profile"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	input, err := os.ReadFile(melt)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"in.melt": input, "hpccinf.txt": []byte(inputs.HPCC)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	shell := func(line string) (string, error) {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("%s: %w", line, err)
		}
		return string(out), nil
	}
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return err
	}
	fmt.Printf("load before: %s", load)
	var failed error
	run := func(line string) string {
		if failed != nil {
			return ""
		}
		if trace, ok := output(line); ok {
			if _, err := os.Stat(filepath.Join(dir, trace)); err == nil {
				return ""
			}
			line += " >program.out"
		}
		fmt.Println(line)
		var out string
		out, failed = shell(line)
		return out
	}
	next := blocks.ReplaceAllStringFunc(string(text), func(match string) string {
		part := blocks.FindStringSubmatch(match)
		var out strings.Builder
		for line := range strings.Lines(part[1]) {
			out.WriteString(run(strings.TrimSpace(line)))
		}
		if failed != nil {
			return match
		}
		return "```\n" + part[1] + "```\n" + part[2] + "```\n" + strings.TrimRight(out.String(), "\n") + "\n```\n"
	})
	if failed != nil {
		return failed
	}
	return os.WriteFile(page, []byte(next), 0o644)
}

// output returns the name of the trace that a command writes, and true, if the command is spoor run with -o.
func output(line string) (string, bool) {
	rest, ok := strings.CutPrefix(line, "spoor run ")
	if !ok {
		return "", false
	}
	_, rest, ok = strings.Cut(rest, "-o ")
	name, _, _ := strings.Cut(rest, " ")
	return name, ok
}
