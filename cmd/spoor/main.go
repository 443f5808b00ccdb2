// Command spoor traces MPI programs and answers questions about the traces.
//
// One verb is one file here. A verb parses its flags, calls a package and
// prints; what it knows beyond that belongs into the package.
//
// Exit codes: 0 done; 1 it could not be done, or the answer is no; 2 wrong
// usage. `spoor run` ends with the program's code.
package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/show"
)

func main() {
	if len(os.Args) == 1 && launch.InEpilog() {
		epilog(os.Stderr)
		return
	}
	collectLate()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// collectLate delays garbage collection until the heap has 32 MB, unless the user sets GOGC or GOMEMLIMIT. With most
// traces, verbs need less and are done without any collection.
func collectLate() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(32 << 20)
	runtime.AddCleanup(new(*int), func(int) { // as nothing refers to the pointer, this runs after the first collection
		debug.SetMemoryLimit(math.MaxInt64)
		debug.SetGCPercent(100)
	}, 0)
}

// An exitCode is an error with which a verb that has printed all its messages ends the process with that exit code.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// verdict ends a verb that answers yes or no. The exit code is 1 if the answer is no; it is 2 after an error message
// if there is no answer.
func verdict(cmd *cobra.Command, no bool, err error) error {
	switch {
	case err != nil && !errors.Is(err, syscall.EPIPE):
		complain(cmd, err)
		return exitCode(2)
	case no || err != nil:
		return exitCode(1)
	}
	return nil
}

// A usageError is an error that says what is wrong with the command line. Its verb's usage is printed with it.
type usageError struct {
	cmd *cobra.Command
	err error
}

func (e *usageError) Error() string { return e.err.Error() }

// run runs a command line, and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRoot(args...)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteC()
	var code exitCode
	var usage *usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // EPIPE: the program that reads the output (e.g. head) has ended
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "spoor: %s%s\nusage: %s\nsee: %s --help\n", verbPrefix(usage.cmd), show.ElideMiddle(err.Error()), usage.cmd.UseLine(), usage.cmd.CommandPath())
		return 2
	}
	complain(cmd, err)
	return 1
}

func verbPrefix(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return ""
	}
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ") + ": "
}

func newRoot(args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "spoor VERB [ARGS...]",
		Short: "spoor records every MPI call of a program in one small file, and answers from it",
		Example: `  spoor run mpirun -n 4 ./app     trace a program into app.spoor
  spoor info app.spoor            where its time went, and what ran
  spoor report                    all of it in one HTML page, of the newest trace here`,
		Version:       show.BuildVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE:          rootVerb,
	}
	cobra.EnableCommandSorting = false
	root.DisableFlagsInUseLine = true
	root.SuggestionsMinimumDistance = 2
	root.CompletionOptions.HiddenDefaultCmd = true
	cobra.AddTemplateFunc("flagList", flagList)
	cobra.AddTemplateFunc("verbList", verbList)
	cobra.AddTemplateFunc("pages", pages)
	root.SetHelpTemplate(helpText)
	root.SetHelpCommandGroupID("")
	root.SetVersionTemplate("spoor {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if !cmd.HasParent() && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			return rootVerb(cmd, args) // the verb is unknown: better complain about it than about its flags
		}
		return &usageError{cmd, inWords(instead(cmd, err))}
	})
	made := verbs
	if len(args) > 0 && args[0] == "run" { // making all verbs would take longer than all else before a job starts
		made = func() []verbGroup { return []verbGroup{{"Record", []*cobra.Command{newRun()}}} }
	}
	for i, g := range made() {
		id := strconv.Itoa(i)
		if g.title != "" {
			root.AddGroup(&cobra.Group{ID: id, Title: g.title})
		}
		for _, cmd := range g.verbs {
			prepare(cmd)
			if g.title != "" {
				cmd.GroupID = id
			}
			cmd.SuggestFor = strings.Fields(guesses[cmd.Name()])
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(partTopic(), advancedTopic())
	return root
}

// reasons maps patterns of libraries' errors about flags' values to messages for users. Patterns are compiled when
// needed, as compiling them at the start would delay each job of spoor run.
var reasons = [][2]string{
	{`strconv\.ParseBool: .*`, "write true or false"},
	{`strconv\.\w+: .*: value out of range$`, "this number is too large"},
	{`strconv\.\w+: .*`, "this is not a number"},
	{`time: (invalid|unknown|missing) .*`, "this is not a time; write 500ms, 60s or 5m"},
}

// inWords replaces the part of a flag's error that comes from a library (e.g. strconv.ParseInt: …) by words for users.
func inWords(err error) error {
	for _, r := range reasons {
		if said, text := regexp.MustCompile(r[0]), err.Error(); said.MatchString(text) {
			return errors.New(said.ReplaceAllLiteralString(text, r[1]))
		}
	}
	return err
}

// exclusive matches the error of the flag library, cobra, about flags that exclude each other.
const exclusive = `none of the others can be; \[(.+)\] were all set$`

// prepare has a verb and its subverbs report mistakes in the command line as usage errors.
func prepare(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &usageError{cmd, err}
			}
			if err := cmd.ValidateFlagGroups(); err != nil {
				if m := regexp.MustCompile(exclusive).FindStringSubmatch(err.Error()); m != nil {
					err = errors.New("--" + strings.Join(strings.Fields(m[1]), " and --") + " exclude each other")
				}
				return &usageError{cmd, err}
			}
			return nil
		}
	}
	cmd.DisableFlagsInUseLine = true
	cmd.Flags().SortFlags = false
	for _, c := range cmd.Commands() {
		prepare(c)
	}
}

// rootVerb runs if the command line has no known verb. For a trace file it does what spoor info does.
func rootVerb(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	if st, err := os.Stat(args[0]); err == nil && len(args) == 1 && st.Mode().IsRegular() && isTrace(args[0]) {
		info, _, err := cmd.Find([]string{"info"})
		if err != nil {
			return err
		}
		return info.RunE(info, args)
	}
	err := fmt.Errorf("no verb %q", args[0])
	near := cmd.SuggestionsFor(args[0])
	var meant []string
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, args[0]) {
			meant = append(meant, c.Name())
		}
	}
	if meant != nil {
		near = meant
	}
	if now := goneVerbs[args[0]]; now != "" {
		near = []string{"spoor " + now}
	}
	if len(near) > 0 {
		err = fmt.Errorf("no verb %q; did you mean %s?", args[0], strings.Join(near, " or "))
	}
	return &usageError{cmd, err}
}

// guesses maps verbs to words that people may try in their place.
var guesses = map[string]string{
	"run": "record trace exec launch start", "where": "attach why-hangs deadlock stack status", "recover": "rescue salvage restore", "doctor": "calls tree coverage inspect",
	"info": "summary stat stats show", "profile": "top flat hist histogram sites hotspots callsites", "calltree": "tree callgraph structure loops callpath",
	"efficiency": "balance imbalance pop", "waits": "why wait late delays waitstates critical path", "matrix": "traffic comm heatmap volume", "io": "files posix",
	"dump": "print calls cat list events", "report": "view html page gui timeline open serve", "compare": "regress regression", "scaling": "scale scalability extra-p",
	"diff": "same equal cmp", "db": "database archive", "replay": "rerun play", "proxy": "codegen skeleton generate benchmark miniapp", "simulate": "predict model simulator",
	"machine": "calibrate measure network", "extrapolate": "predict-ranks upscale", "check": "verify validate fsck", "cut": "slice extract window", "reduce": "thin compress shrink lossy",
	"export": "convert to", "import": "from",
	"papers": "rsd thin codecs terms goal loggops pilgrim cypress scalatrace",
}

// A verbGroup is a group of verbs that help lists under a title. With title "", they are hidden.
type verbGroup struct {
	title string
	verbs []*cobra.Command
}

// verbs lists the verbs in the order in which a user meets them.
func verbs() []verbGroup {
	return []verbGroup{
		{"Record", []*cobra.Command{newRun(), newWhere(), newRecover(), newDoctor()}},
		{"Understand", []*cobra.Command{newInfo(), newProfile(), newCalltree(), newEfficiency(), newWaits(), newMatrix(), newIO(), newDump(), newReport()}},
		{"Compare", []*cobra.Command{newCompare(), newScaling(), newDiff(), newDB()}},
		{"Reproduce and predict", []*cobra.Command{newReplay(), newProxy(), newSimulate(), newMachine(), newExtrapolate(), newPapers()}},
		{"Trace files", []*cobra.Command{newCheck(), newCut(), newReduce(), newExport(), newImport()}},
		{"", []*cobra.Command{newMan(), newBring(), newCode(), newReduced()}},
	}
}

// complain prints an error as a message. It doesn't end the verb.
func complain(cmd *cobra.Command, err error) {
	// Errors of package trace name the file, so the package's name is left out.
	fmt.Fprintf(cmd.ErrOrStderr(), "spoor: %s%s\n", verbPrefix(cmd), show.ElideMiddle(strings.TrimPrefix(err.Error(), "trace: ")))
}
