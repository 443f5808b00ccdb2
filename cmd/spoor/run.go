package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/run/deliver"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/internal/timing"
	"github.com/spoor-hpc/spoor/mpi"
)

// defaultStack is how many stack frames a call site has at most by default. It sufficed to reach main in all programs
// that were tried. A higher limit costs no time if stacks are shorter (docs/plugins.md).
const defaultStack = 32

type runOptions struct {
	out        string
	force      bool
	startOff   bool
	scratch    string
	allocMin   string
	stack      int
	phaseNames bool
	noCode     bool
	loops      bool
	plugin     string
	counters   string
	quiet      bool
	hang       time.Duration
	io         fileOptions
	timing     timing.Options
	mode, when string
	errors     []string
	tags       []string
	thin       reduceOptions // how the trace is reduced; used only if reduced is set
	reduced    bool          // the trace is to be reduced at the end of the run, as a flag of thin is given
}

func newRun() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [flags] LAUNCHER [ARGS...]",
		Short: "Run an MPI program under its launcher and trace it",
		Long: `The program prints and returns what it does without spoor. The trace of all
ranks is PROGRAM.spoor, or PROGRAM-2.spoor if that exists. If the program dies,
its records are in PROGRAM.spoor.partial/ (see: spoor recover).
More: docs/run.md`,
		Example: `  spoor run mpirun -n 4 ./app input.txt
  mpiexec -n 8 spoor run ./app
  spoor run -o big.spoor srun -n 512 ./app
  spoor run --timing lossless mpirun -n 4 ./app       the time of every call
  spoor run --hang 60s mpirun -n 4 ./app              says where it hangs
  spoor run --io mpirun -n 4 ./app                    file accesses as well`,
		Args: atLeastOne("a launcher and a program"),
		RunE: func(cmd *cobra.Command, args []string) error { return runTraced(cmd, o, args) },
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	o.io.flags(f)
	f.StringVar(&o.counters, "counters", "", "`events`: counters between calls: instructions,cycles,…")
	f.IntVar(&o.stack, "stack", defaultStack, "`frames` in a call path, up to 64; 0: none")
	f.StringArrayVar(&o.tags, "tag", nil, "store `NAME=VALUE` in the trace; repeatable")
	f.BoolVar(&o.startOff, "start-off", false, "begin with tracing off; MPI_Pcontrol(1) switches it on")
	f.DurationVar(&o.hang, "hang", 0, "print where ranks are after this `time` without a call")
	inGroup(f, "What to record", "io", "counters", "stack", "tag", "start-off", "hang")
	f.StringVar(&o.mode, "timing", "stats", "`mode`: stats (mean, deviation, extremes), hist (histograms), lossless (the time of every call), place (the same within --error), none")
	f.StringArrayVar(&o.errors, "error", nil, "`[FUNCTION=]E`: error of place (default 10%); repeatable")
	f.StringVar((*string)(&o.timing.Waits), "waits", string(timing.WaitsAuto), "`when`: who waited for whom, and which iterations differ: always, never, or auto, if it takes at most 1 % of the run or 1 s")
	f.StringVar(&o.when, "when", "", "`size`: room for when ranks compute and wait, such as 16K; or never (default 1K to 4K, with the wait states)")
	inGroup(f, "Times", "timing", "error", "waits", "when")
	f.StringVarP(&o.out, "output", "o", "", "trace `file` to write (default PROGRAM.spoor); in a Slurm job %j, %A, %a, %N and %x as in sbatch -o")
	forceFlag(f, &o.force)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print only failures")
	inGroup(f, "Output", "output", "force", "quiet")
	o.thin.flags(f)
	inGroup(f, reduceGroup, reduceFlags...)
	f.StringVar(&o.scratch, "scratch", "", "node-local `folder` for records (default /dev/shm or /tmp)")
	f.StringVar(&o.allocMin, "alloc-min", "", "follow heap blocks from this size in `bytes` (default 1024), or off")
	f.StringVar(&o.plugin, "plugin", "", "load this shared `object` into each rank; see spoor.h")
	f.BoolVar(&o.loops, "loop-counters", false, "read loop counters from registers")
	f.BoolVar(&o.noCode, "no-code", false, "do not store functions and loops of the binaries")
	f.BoolVar(&o.phaseNames, "phase-names", false, "phases have the names in MPI_Pcontrol(level, name)")
	f.IntVar(&o.timing.Bins, "bins", 0, "bins of a histogram, 2 to 256 (default 5)")
	inGroup(f, advancedGroup, "scratch", "alloc-min", "plugin", "loop-counters", "no-code", "phase-names", "bins", "io-include", "io-exclude", "io-special")
	return cmd
}

// leastWhen is the least value of --when: about the bytes that the coarsest record of iterations' times takes.
const leastWhen = 256

// parseTiming checks the flags about recorded times, and converts their values to o.timing.
func (o *runOptions) parseTiming() error {
	if err := parseErrors(&o.timing, o.errors); err != nil {
		return err
	}
	switch o.timing.Mode = timing.Mode(o.mode); {
	case slices.Contains(timing.RecordableModes, o.timing.Mode):
	case slices.Contains(timing.Modes, o.timing.Mode):
		return fmt.Errorf("--timing: %s codes times after the run: use --timing lossless, then spoor papers codecs --codec %s", o.mode, o.mode)
	default:
		return fmt.Errorf("--timing: no mode %q; there are %s", o.mode, modeList())
	}
	if w := o.timing.Waits; !slices.Contains([]timing.WaitsPolicy{timing.WaitsAlways, timing.WaitsAuto, timing.WaitsNever}, w) {
		return fmt.Errorf("--waits %s: want always, auto or never", w)
	}
	switch size, err := parseBytes(o.when); {
	case o.when == "":
	case o.when == string(timing.WaitsNever):
		o.timing.WhenSectionBytes = timing.WhenSectionOff
	case err != nil || size < leastWhen:
		return fmt.Errorf("--when %s: want a size from %d bytes on, such as 16K, or never", o.when, leastWhen)
	default:
		o.timing.WhenSectionBytes = size
	}
	switch b := o.timing.Bins; {
	case b != 0 && !o.timing.Mode.HasBins():
		return fmt.Errorf("--bins: only the mode hist has bins, not %s", o.mode)
	case len(o.errors) > 0 && !o.timing.Mode.IsLossy():
		return fmt.Errorf("--error: mode %s has no error; it is for place", o.mode)
	}
	return checkBins(&o.timing)
}

// checkBins checks the number of bins of histograms and the number of sampled calls.
func checkBins(o *timing.Options) error {
	switch {
	case o.Bins != 0 && (o.Bins < 2 || o.Bins > 256):
		return fmt.Errorf("--bins: %d; want 2 to 256", o.Bins)
	case o.SampleCalls < 0:
		return fmt.Errorf("--sample: %d; want 1 or more", o.SampleCalls)
	}
	return nil
}

// parseErrors adds the values of --error to the options: each is a bound for all calls, or for those of one MPI
// function.
func parseErrors(o *timing.Options, list []string) error {
	for _, text := range list {
		if err := o.AddErrorBound(text); err != nil {
			return fmt.Errorf("--error: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.FunctionErrorBounds)) {
		if _, ok := mpi.CallNamed(name); !ok {
			return fmt.Errorf("--error: MPI has no function %q; spoor profile lists those of a trace", name)
		}
	}
	return nil
}

func modeList() string {
	var list []string
	for _, m := range timing.RecordableModes {
		list = append(list, string(m))
	}
	return strings.Join(list, ", ")
}

// isExecutable reports whether a file is an executable binary. With ofMPI, the binary must also load an MPI library.
func isExecutable(name string, ofMPI bool) bool {
	r, err := launch.InspectProgram(lookPath(name))
	return err == nil && r.Kind == "executable" && (!ofMPI || len(r.MPI) > 0)
}

// rankVars are the environment variables that the shim reads in each rank.
func rankVars(o runOptions, shim, out, scratch string) []launch.EnvVar {
	preload := shim
	if old := preloaded(); old != "" {
		preload += ":" + old
	}
	vars := []launch.EnvVar{
		{Name: "LD_PRELOAD", Value: preload},
		{Name: "SPOOR_OUT", Value: out},
		{Name: "SPOOR_SCRATCH", Value: scratch},
	}
	if o.startOff {
		vars = append(vars, launch.EnvVar{Name: "SPOOR_START_OFF", Value: "1"})
	}
	if o.allocMin != "" {
		vars = append(vars, launch.EnvVar{Name: "SPOOR_ALLOC_MIN", Value: o.allocMin})
	}
	for _, v := range o.timing.Environment() {
		vars = append(vars, launch.EnvVar{Name: v[0], Value: v[1]})
	}
	for _, v := range []launch.EnvVar{{Name: "SPOOR_PLUGIN", Value: o.plugin}, {Name: "SPOOR_COUNTERS", Value: o.counters}} {
		if v.Value != "" {
			vars = append(vars, v)
		}
	}
	if len(o.tags) > 0 {
		vars = append(vars, launch.EnvVar{Name: deliver.TagsVariable, Value: deliver.EncodeTags(o.tags)})
	}
	vars = append(vars, o.io.vars()...)
	if o.phaseNames {
		vars = append(vars, launch.EnvVar{Name: "SPOOR_PHASE_NAMES", Value: "1"})
	}
	if o.stack > 1 {
		vars = append(vars, launch.EnvVar{Name: "SPOOR_STACK", Value: strconv.Itoa(o.stack)})
	}
	if o.loops {
		vars = append(vars, launch.EnvVar{Name: "SPOOR_LOOP_COUNTERS", Value: "1"})
	}
	if o.reduced { // who wants a small trace accepts that a recorder with less memory finds fewer repetitions
		vars = append(vars, launch.EnvVar{Name: "SPOOR_LEAN", Value: "1"})
	}
	return vars
}

// preloaded returns LD_PRELOAD as the dynamic linker reads it. If the variable occurs twice, as under eztrace, the
// last one counts, which Go's os.Getenv ignores.
func preloaded() string {
	last := os.Getenv("LD_PRELOAD")
	text, _ := os.ReadFile("/proc/self/environ")
	for v := range strings.SplitSeq(string(text), "\x00") {
		if value, ok := strings.CutPrefix(v, "LD_PRELOAD="); ok {
			last = value
		}
	}
	return last
}

// sanitizerVars are environment variables without which a program built with AddressSanitizer would refuse to start,
// because the shim is loaded before the sanitizer's library.
func sanitizerVars(program string) []launch.EnvVar {
	path := lookPath(program)
	if !launch.MayHaveSanitizerOptions(path) {
		return nil
	}
	r, err := launch.InspectProgram(path)
	if err != nil || !r.WantsFirstPreload {
		return nil
	}
	options := "verify_asan_link_order=0"
	if old := os.Getenv("ASAN_OPTIONS"); old != "" {
		options = old + ":" + options
	}
	return []launch.EnvVar{{Name: "ASAN_OPTIONS", Value: options}}
}

// counterNames are the values of --counters that shim/counters.c knows.
var counterNames = []string{
	"instructions", "cycles", "cache-references", "cache-misses", "branches", "branch-misses", "task-clock", "page-faults",
	"minor-faults", "major-faults", "context-switches", "cpu-migrations",
}

func checkCounters(list string) error {
	if list == "" {
		return nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if !slices.Contains(counterNames, name) {
			return fmt.Errorf("--counters: no counter %q; there are %s", name, strings.Join(counterNames, ", "))
		}
	}
	if len(names) > 8 {
		return fmt.Errorf("--counters: %d counters, at most 8 at a time", len(names))
	}
	return nil
}

// outputPath returns the trace's path. A name that the user gave must be free; a default name gets a number if it is
// taken.
func outputPath(o runOptions, program string) (string, error) {
	if o.out != "" {
		path, err := filepath.Abs(o.out)
		if err != nil {
			return "", err
		}
		if st, err := os.Stat(filepath.Dir(path)); err != nil || !st.IsDir() {
			return "", fmt.Errorf("%s: no such directory for the trace", filepath.Dir(o.out))
		}
		return path, mayWrite(o.out, o.force)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	name := traceName(program)
	path := filepath.Join(dir, name+".spoor")
	for i := 2; !o.force && taken(path); i++ {
		path = filepath.Join(dir, fmt.Sprintf("%s-%d.spoor", name, i))
	}
	return path, nil
}

func taken(path string) bool {
	return exists(path) || exists(path+".partial")
}

// traceName returns the program's name without a suffix such as .py.
func traceName(program string) string {
	name := filepath.Base(program)
	for _, ext := range []string{".py", ".jl", ".sh"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// scratchName is the prefix of the names of scratch folders.
const scratchName = "spoor-"

// makeScratch makes a scratch folder for this run: in the folder that the user chose, else in /dev/shm or another usual
// folder. On other nodes the shim makes a folder of the same name.
func makeScratch(chosen, out string) (string, error) {
	parent, err := scratchParent(chosen)
	if err != nil {
		return "", err
	}
	// The host's name distinguishes folders if several hosts share the file system.
	pattern := fmt.Sprintf("%s%s-", scratchName, hostname())
	dir, err := os.MkdirTemp(parent, pattern)
	if err == nil || chosen != "" {
		return dir, err
	}
	// Try the next best folders: even on a slow file system, the job can run.
	for _, parent := range []string{os.TempDir(), "/tmp", "/var/tmp", filepath.Dir(out)} {
		if dir, err := os.MkdirTemp(parent, pattern); err == nil {
			return dir, nil
		}
	}
	return "", err
}

func scratchParent(chosen string) (string, error) {
	if chosen != "" {
		return filepath.Abs(chosen)
	}
	var st syscall.Statfs_t
	if syscall.Statfs("/dev/shm", &st) == nil && st.Bavail*uint64(st.Bsize) >= 64<<20 {
		return "/dev/shm", nil
	}
	return os.TempDir(), nil
}

// becomeRank replaces this process, which a launcher has started as a rank, by the program with the shim preloaded.
func becomeRank(o runOptions, shim string, args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	out := cmp.Or(o.out, traceName(launch.GuessProgram(launch.NoLauncher, args))+".spoor")
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if o.scratch != "" {
		if o.scratch, err = filepath.Abs(o.scratch); err != nil {
			return err
		}
	}
	env := os.Environ()
	if o.force && !o.reduced {
		env = append(env, "SPOOR_FORCE=1")
	}
	// All ranks of a node share a scratch folder. If they die, no process is left to move their records, so there is a
	// link beside the trace to the folder while it has records.
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	parent, err := scratchParent(o.scratch)
	if err != nil {
		return err
	}
	siblings := launch.SiblingRanksName(host)
	scratch := filepath.Join(parent, fmt.Sprintf("%s%s-%d", scratchName, siblings, os.Getuid()))
	vars := append(rankVars(o, shim, o.made(out), scratch), launch.EnvVar{Name: "SPOOR_LINK", Value: filepath.Join(out+".partial", siblings)})
	if !o.quiet {
		vars = append(vars, launch.EnvVar{Name: "SPOOR_TELL", Value: "1"})
	}
	if tool, err := os.Executable(); err == nil {
		if o.stack > 1 && !o.noCode {
			vars = append(vars, launch.EnvVar{Name: "SPOOR_CODE", Value: tool})
		}
		if o.reduced {
			vars = append(vars, launch.EnvVar{Name: "SPOOR_MODEL", Value: strings.Join(o.thinCommand(tool, out), "\n")})
		}
	}
	for _, v := range append(vars, sanitizerVars(path)...) {
		env = append(env, v.Name+"="+v.Value)
	}
	return fmt.Errorf("%s: %w", args[0], syscall.Exec(path, args, env))
}

// fileOptions are the flags that select which calls on files are traced in addition to MPI calls.
type fileOptions struct {
	whose            string // whose calls on files: "app" (the program's), "all" (also the MPI library's), or "": none
	include, exclude []string
	special          bool
}

func (o *fileOptions) flags(f *pflag.FlagSet) {
	f.StringVar(&o.whose, "io", "", "`app|all`: also calls on files: the program's, or all")
	f.Lookup("io").NoOptDefVal = "app"
	f.StringArrayVar(&o.include, "io-include", nil, "with --io, only files whose path matches this `pattern`, or is below DIR/")
	f.StringArrayVar(&o.exclude, "io-exclude", nil, "with --io, no files whose path matches this `pattern`, or is below DIR/")
	f.BoolVar(&o.special, "io-special", false, "with --io, also pipes, sockets, devices, /proc and /sys")
}

func (o *fileOptions) check() error {
	switch {
	case o.whose != "" && o.whose != "app" && o.whose != "all":
		return fmt.Errorf("--io=%s: app or all", o.whose)
	case o.whose == "" && (len(o.include) > 0 || len(o.exclude) > 0 || o.special):
		return fmt.Errorf("--io-include, --io-exclude and --io-special are for --io")
	}
	for _, p := range append(append([]string{}, o.include...), o.exclude...) {
		if p == "" || strings.Contains(p, ":") {
			return fmt.Errorf("pattern %q: it must not be empty, nor have a colon in it", p)
		}
	}
	return nil
}

// library returns the name of the shim's library: one that also wraps functions on files if their calls are traced.
func (o *fileOptions) library() string {
	if o.whose == "" {
		return "libspoor.so"
	}
	return "libspoor-io.so"
}

// vars returns the environment variables from which the shim in each rank learns these options.
func (o *fileOptions) vars() (list []launch.EnvVar) {
	add := func(name, value string) {
		if value != "" {
			list = append(list, launch.EnvVar{Name: name, Value: value})
		}
	}
	add("SPOOR_IO", o.whose)
	add("SPOOR_IO_INCLUDE", strings.Join(o.include, ":"))
	add("SPOOR_IO_EXCLUDE", strings.Join(o.exclude, ":"))
	if o.special {
		add("SPOOR_IO_SPECIAL", "1")
	}
	return list
}
