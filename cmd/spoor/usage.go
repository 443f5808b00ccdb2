package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/show"
)

// helpText is the template of --help: summary, usage, examples, explanation, flags.
const helpText = `{{.Short}}.{{if .Runnable}}

Usage:
  {{.UseLine}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{with .Long}}

{{pages .}}{{end}}{{if .HasAvailableSubCommands}}{{verbList .}}{{end}}{{with flagList .}}
{{.}}{{end}}{{if not .HasParent}}
More about a verb: spoor VERB --help
{{end}}`

// pages replaces names of pages of docs/ and papers/ in a help text by their paths, if they are installed.
func pages(text string) string {
	tool, err := os.Executable()
	if err != nil {
		return text
	}
	installed := filepath.Join(filepath.Dir(filepath.Dir(tool)), "share", "doc", "spoor")
	if !exists(filepath.Join(installed, "guide.md")) {
		return text
	}
	return strings.NewReplacer("More: docs/", "More: "+installed+"/", "papers/README.md", installed+"/papers.md", "More: papers/", "More: "+installed+"/").Replace(text)
}

// helpWidth is the width of help texts in characters.
const helpWidth = 80

// groupAnnotation is the key of a flag's annotation that holds the title under which help lists the flag.
const groupAnnotation = "group"

// inGroup has help list flags under a title.
func inGroup(f *pflag.FlagSet, title string, names ...string) {
	for _, name := range names {
		f.Lookup(name).Annotations = map[string][]string{groupAnnotation: {title}}
	}
}

// Titles of groups of flags of which help lists only the names. The titles say where the flags are explained.
const (
	partGroup     = "Part of the run (see: spoor help part)"
	reduceGroup   = "Lossy trace (see: spoor reduce --help)"
	advancedGroup = "Advanced (see: spoor help advanced)"
)

// flagList is the part of a verb's help that lists its flags. Flags without a group come first.
func flagList(cmd *cobra.Command) string {
	groups := []string{""}
	of := make(map[string][]*pflag.Flag)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		group := strings.Join(f.Annotations[groupAnnotation], "")
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
		of[group] = append(of[group], f)
	})
	namesOnly := func(group string) bool { return group == partGroup || group == reduceGroup || group == advancedGroup }
	slices.SortStableFunc(groups, func(a, b string) int {
		switch {
		case namesOnly(a) == namesOnly(b):
			return 0
		case namesOnly(b):
			return -1
		}
		return 1
	})
	var b strings.Builder
	for _, group := range groups {
		flags := of[group]
		if len(flags) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n", cmp.Or(group, "Flags"))
		if namesOnly(group) {
			var names []string
			for _, f := range flags {
				names = append(names, "--"+f.Name)
			}
			for _, line := range wrapped(strings.Join(names, " "), helpWidth-2) {
				fmt.Fprintf(&b, "  %s\n", line)
			}
			continue
		}
		width := 0
		for _, f := range flags {
			if n := len(flagName(f)); n <= mostFlagWidth {
				width = max(width, n)
			}
		}
		for _, f := range flags {
			writeFlag(&b, f, width)
		}
	}
	return b.String()
}

// mostFlagWidth is up to how many characters a flag (e.g. "-o, --output FILE") may have to be followed by its
// explanation on the same line.
const mostFlagWidth = 24

func writeFlag(b *strings.Builder, f *pflag.Flag, width int) {
	name := flagName(f)
	indent := strings.Repeat(" ", width+4)
	line := "  " + name + strings.Repeat(" ", max(0, width-len(name))) + "  "
	if len(name) > width {
		fmt.Fprintln(b, "  "+name)
		line = indent
	}
	for i, text := range wrapped(flagUsage(f), helpWidth-len(indent)) {
		if i > 0 {
			line = indent
		}
		fmt.Fprintln(b, line+text)
	}
}

// flagName returns a flag as help shows it, e.g. "-o, --output FILE".
func flagName(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	value, _ := flagValue(f)
	switch value {
	case "":
		return name
	case "int", "uint":
		value = "N"
	case "float":
		value = "X"
	case "string", "strings", "stringArray":
		value = "NAME"
	case "duration":
		value = "TIME"
	}
	if f.NoOptDefVal != "" {
		return fmt.Sprintf("%s[=%s]", name, strings.ToUpper(value))
	}
	return name + " " + strings.ToUpper(value)
}

// flagValue splits a flag's usage text into the name of its value and the explanation. The name is in backquotes in the
// explanation, or before it with a colon.
func flagValue(f *pflag.Flag) (name, usage string) {
	name, usage = pflag.UnquoteUsage(f)
	return name, strings.TrimPrefix(usage, name+": ")
}

// flagUsage returns a flag's explanation with its default.
func flagUsage(f *pflag.Flag) string {
	_, usage := flagValue(f)
	switch f.DefValue {
	case "", "0", "false", "[]", "-1", "0s":
		return usage
	}
	return fmt.Sprintf("%s (default %s)", usage, f.DefValue)
}

// wrapped breaks a text into lines of at most width characters.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines, line = append(lines, line), ""
		}
		line = joinNonEmpty(" ", line, word)
	}
	return append(lines, line)
}

// verbList lists the subverbs of a command by group.
func verbList(cmd *cobra.Command) string {
	var b strings.Builder
	list := func(title string, of func(c *cobra.Command) bool) {
		first := true
		for _, c := range cmd.Commands() {
			if c.Hidden || c.Name() == "completion" || c.Name() == "help" || !of(c) {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n\n%s:", title)
				first = false
			}
			fmt.Fprintf(&b, "\n  %-11s  %s", c.Name(), c.Short)
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, func(c *cobra.Command) bool { return c.GroupID == g.ID })
	}
	list("Verbs", func(c *cobra.Command) bool { return c.GroupID == "" && !c.IsAdditionalHelpTopicCommand() })
	list("Topics (spoor help TOPIC)", func(c *cobra.Command) bool { return c.IsAdditionalHelpTopicCommand() })
	return b.String() + "\n"
}

// A percentFlag is a flag whose value is a share from 0 to 1, written as 5% or 0.05.
type percentFlag struct{ share *float64 }

func (p percentFlag) String() string {
	if p.share == nil {
		return ""
	}
	return strconv.FormatFloat(100**p.share, 'g', 4, 64) + "%"
}

func (p percentFlag) Type() string { return "percent" }

func (p percentFlag) Set(text string) (err error) {
	*p.share, err = show.ParseShare(text)
	return err
}

// A toleranceFlag is a flag with a percentage: the largest difference between values that count as equal. As in the
// literature, trace files store the precision instead, which is 100 minus that percentage.
type toleranceFlag struct{ precision *int }

func (t toleranceFlag) String() string {
	if t.precision == nil {
		return ""
	}
	return toleranceText(*t.precision)
}

func (t toleranceFlag) Type() string { return "percent" }

func (t toleranceFlag) Set(text string) error {
	share, err := show.ParseShare(text)
	switch percent := 100 * share; {
	case err != nil:
		return err
	case percent > 100 || percent != float64(int(percent)):
		return fmt.Errorf("%s is not a whole percentage up to 100%%", text)
	default:
		*t.precision = 100 - int(percent)
	}
	return nil
}

// toleranceText writes the tolerance that belongs to a precision: both are percentages, and their sum is 100.
func toleranceText(precision int) string { return strconv.Itoa(100-precision) + "%" }

// The functions below add flags that many verbs have.

func jsonFlag(f *pflag.FlagSet, p *bool) { f.BoolVar(p, "json", false, "print JSON") }

func forceFlag(f *pflag.FlagSet, p *bool) {
	f.BoolVarP(p, "force", "f", false, "replace the file if it exists")
}

func topFlag(f *pflag.FlagSet, p *show.Limit, n int, of string) {
	p.Rows = n
	f.Var(limitFlag{p}, "top", "list the first `N` "+of+"; 0: all")
}

// A limitFlag is the flag --top: the largest number of rows printed.
type limitFlag struct{ *show.Limit }

func (l limitFlag) String() string {
	if l.Limit == nil {
		return ""
	}
	return strconv.Itoa(l.Rows)
}

func (l limitFlag) Type() string { return "int" }

func (l limitFlag) Set(text string) (err error) {
	l.UserChosen = true
	l.Rows, err = strconv.Atoi(text)
	return err
}

// partTopic makes the help topic "spoor help part", about the flags of windowFlags.
func partTopic() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "part",
		Short: "How to look at a part of a run: flags of info, profile, waits and others",
		Long: `Most verbs that read a trace take the flags below. They then answer for a part
of the run instead of the whole run. spoor cut writes such a part as a trace of
its own.`,
		Example: `  spoor profile --from 10s --until 12s app.spoor
  spoor waits --iteration 100:110 app.spoor          iterations of the main loop
  spoor info --loop MPI_Recv@halo.c:88 app.spoor     a loop that begins there
  spoor efficiency --without-init app.spoor`,
	}
	new(windowFlags).add(cmd.Flags())
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Annotations = nil })
	return cmd
}

// advancedTopic makes the help topic "spoor help advanced", about flags of spoor run for special cases.
func advancedTopic() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "advanced",
		Short: "Flags of spoor run for special cases",
		Long:  "spoor run takes these flags besides those in its own help.",
		Example: `  spoor run --io --io-include '/scratch/*.h5' mpirun -n 4 ./app
  spoor run --scratch /local/me srun -n 512 ./app
  spoor run --plugin ./count.so mpirun -n 4 ./app`,
	}
	newRun().Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Equal(f.Annotations[groupAnnotation], []string{advancedGroup}) {
			f.Annotations = nil
			cmd.Flags().AddFlag(f)
		}
	})
	return cmd
}
