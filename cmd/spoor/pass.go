package main

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

func newPass() *cobra.Command {
	var compiler string
	cmd := &cobra.Command{
		Use:    "pass --flag COMPILER",
		Hidden: true,
		Short:  "Print the compiler flag that counts loop iterations",
		Long: `The flag makes clang or flang count the iterations of loops around MPI calls,
for spoor run --rounds. COMPILER is its name (clang-19, flang-new-16) or a
wrapper (mpicc). Nothing has to be linked, and the program behaves the same with
and without spoor. The plugins are built by "make pass" for each installed LLVM.
GCC has none; spoor calltree takes loops from the machine code.
More: docs/rounds.md`,
		Example: `  clang-19 -O2 -g $(spoor pass --flag clang-19) -c solver.c
  mpicc -O2 -g $(spoor pass --flag mpicc) -o app app.c
  spoor run --rounds mpirun -n 4 ./app`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if compiler == "" {
				return &usageError{cmd, errors.New("name a compiler: --flag clang-19")}
			}
			flag, err := passFlag(compiler)
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), flag)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&compiler, "flag", "", "print the flag for this `compiler`")
	return cmd
}

// llvm is how clang and flang tell their version.
const llvm = `(?:clang|flang|flang-new) version (\d+)\.`

// passFlag is the flag for a compiler, by the version that it says it has.
func passFlag(compiler string) (string, error) {
	out, err := exec.Command(compiler, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", compiler, err)
	}
	version := regexp.MustCompile(llvm).FindSubmatch(out)
	if version == nil {
		first, _, _ := strings.Cut(string(out), "\n")
		return "", fmt.Errorf("%s is neither clang nor flang: it says %q", compiler, first)
	}
	path, err := findLibrary(fmt.Sprintf("spoor-pass-%s.so", version[1]))
	if err != nil {
		return "", fmt.Errorf("no plugin for LLVM %s: install llvm-%s-dev and build it with make pass", version[1], version[1])
	}
	return "-fpass-plugin=" + path, nil
}
