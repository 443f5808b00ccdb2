package mpis

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Compile compiles C or Fortran sources to out; modules go to its folder. A program compiled from the same input
// before is copied from build/programs.
func (m *MPI) Compile(out, source string, flags ...string) error {
	compiler := m.CC
	line := append([]string{"-O1", "-g", "-pthread"}, flags...)
	if filepath.Ext(source) != ".c" {
		// mpif.h declares no interfaces: one routine gets buffers of many types.
		compiler = m.Fort
		line = append(line, "-fallow-argument-mismatch", "-ffixed-line-length-none")
	}
	source, err := filepath.Abs(source)
	if err != nil {
		return err
	}
	made, err := m.madeBefore(compiler, source, line)
	if err != nil {
		return err
	}
	if made != "" && duplicate(out, made) == nil {
		return nil
	}
	if compiler == m.Fort {
		line = append(line, "-J", filepath.Dir(out))
	}
	line = filled(underlying(compiler), append(line, "-o", out, source, "-lm"))
	c := exec.Command(line[0], line[1:]...)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, text)
	}
	if made == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(made), 0o777); err != nil {
		return err
	}
	return duplicate(made, out)
}

// Compiler returns the command line that compiles C with these arguments.
func (m *MPI) Compiler(args ...string) []string { return filled(underlying(m.CC), args) }

// madeBefore returns the path in build/programs for a compilation; its name is a hash of all inputs. "" if the flags
// name files.
func (m *MPI) madeBefore(compiler, source string, line []string) (string, error) {
	if slices.ContainsFunc(line, func(flag string) bool { return strings.Contains(flag, "/") }) {
		return "", nil
	}
	path, err := exec.LookPath(compiler)
	if err != nil {
		return "", err
	}
	at, err := os.Stat(path) // a different version of the MPI has a different library
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, underlying(compiler), path, at.ModTime(), at.Size(), m.Version, source, line)
	headers, err := filepath.Glob(filepath.Join(filepath.Dir(source), "*.h"))
	if err != nil {
		return "", err
	}
	for _, part := range append(headers, source) {
		f, err := os.Open(part)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", err
		}
	}
	return Root("build", "programs", fmt.Sprintf("%x", h.Sum(nil)[:12])), nil
}

// duplicate copies a program atomically. Another process does the writing: a process that this one starts at the same
// time would inherit the open file, and a file open for writing can't be run.
func duplicate(to, from string) error {
	made := fmt.Sprintf("%s.%d.%d", to, os.Getpid(), copies.Add(1))
	defer os.Remove(made)
	if out, err := exec.Command("cp", from, made).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return os.Rename(made, to)
}

var copies atomic.Int64

// filled replaces a command's placeholder by arguments.
func filled(command, args []string) []string {
	at := slices.Index(command, placeholder)
	return slices.Concat(command[:at], args, command[at+1:])
}

const placeholder = "placeholder.c"

var underneath sync.Map // compiler -> func() []string

// underlying returns the command that an MPI's compiler starts, with placeholder for its arguments: MPICH's is a
// script that takes as long as compiling a small program. It returns the compiler itself if that does not print the
// command.
func underlying(compiler string) []string {
	find, _ := underneath.LoadOrStore(compiler, sync.OnceValue(func() []string {
		text, err := exec.Command(compiler, "-show", placeholder).Output()
		line := strings.Fields(string(text))
		if err != nil || !slices.Contains(line, placeholder) || strings.ContainsAny(string(text), `"'\\`) {
			return []string{compiler, placeholder}
		}
		return line
	}))
	return find.(func() []string)()
}
