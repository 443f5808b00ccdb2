package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spoor-hpc/spoor/internal/show"
)

// newMan makes the hidden verb that the Makefile calls. It writes the man pages of all verbs, and the pages of docs/
// and papers/ as they are installed.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:    "man DIR [PAGE...]",
		Short:  "Write the man pages of all verbs, and pages with the flags of verbs, into a directory",
		Hidden: true,
		Args:   cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			for _, page := range args[1:] {
				text, err := os.ReadFile(page)
				if err != nil {
					return err
				}
				text = []byte(installed.Replace(string(text)))
				if err := os.WriteFile(filepath.Join(args[0], installed.Replace(filepath.Base(page))), withFlags(cmd.Root(), text), 0o644); err != nil {
					return err
				}
			}
			for _, c := range append(visible(cmd.Root()), cmd.Root()) {
				name := filepath.Join(args[0], pageName(c)+".1")
				if err := os.WriteFile(name, manPage(c), 0o644); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// installed adapts links between pages of docs/ and papers/, which are in one folder when installed. papers/README.md
// is named papers.md there.
var installed = strings.NewReplacer("](../papers/", "](", "](../docs/", "](", "papers/README.md", "papers.md", "README.md", "papers.md")

// examplesOf matches the HTML comment in a page after which the examples of a verb are inserted.
const examplesOf = `<!-- examples: (\S+) -->\n`

// withFlags appends to a page the flags of the verbs whose examples it shows.
func withFlags(root *cobra.Command, page []byte) []byte {
	for _, m := range regexp.MustCompile(examplesOf).FindAllSubmatch(page, -1) {
		if c, _, err := root.Find([]string{string(m[1])}); err == nil {
			page = fmt.Appendf(page, "\n## Flags of %s\n\n```\n%s```\n", c.CommandPath(), strings.TrimPrefix(flagList(c), "\n"))
		}
	}
	return page
}

func visible(root *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, c := range root.Commands() {
		if !c.Hidden && c.Name() != "help" && c.Name() != "completion" {
			list = append(append(list, c), visible(c)...)
		}
	}
	return list
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage returns the man page of a verb, written with troff's man macros.
func manPage(c *cobra.Command) []byte {
	var b strings.Builder
	name := pageName(c)
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"spoor %s\" \"spoor\"\n", strings.ToUpper(roff(name)), show.Version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(name), roff(c.Short))
	use := c.UseLine()
	if !c.HasParent() {
		use = "spoor VERB [flags] [ARGS...]"
	}
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(use))
	b.WriteString(".SH DESCRIPTION\n" + paragraphs(c.Long))
	if !c.HasParent() {
		b.WriteString(".SH VERBS\n")
		for _, v := range visible(c) {
			fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff(pageName(v)), roff(v.Short))
		}
	}
	flags := c.LocalFlags()
	if flags.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		flags.VisitAll(func(f *pflag.Flag) { b.WriteString(option(f)) })
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", literal(c.Example))
	}
	b.WriteString(".SH EXIT STATUS\n")
	if c.Name() == "run" {
		b.WriteString("The program's, or the launcher's. 2 if the program wasn't started because of wrong usage, 1 if it couldn't be.\n")
	} else {
		b.WriteString(list(statuses))
	}
	if c.Name() == "run" || !c.HasParent() {
		b.WriteString(".SH ENVIRONMENT\n" + list(settings) + ".SH FILES\n" + list(left))
	}
	b.WriteString(".SH SEE ALSO\n")
	if c.HasParent() {
		b.WriteString(".BR spoor (1)\n")
	} else {
		b.WriteString(".BR mpirun (1)\n")
	}
	return []byte(b.String())
}

// list writes names and their descriptions as a list of a man page.
func list(entries []setting) string {
	var b strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(e.name), roff(e.what))
	}
	return b.String()
}

func option(f *pflag.Flag) string {
	if f.Hidden {
		return ""
	}
	return fmt.Sprintf(".TP\n.B %s\n%s\n", roff(flagName(f)), roff(flagUsage(f)))
}

// paragraphs formats text for a man page. Its paragraphs are separated by empty lines; lines of indented paragraphs
// aren't filled.
func paragraphs(text string) string {
	var b strings.Builder
	for i, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(p, "  ") {
			fmt.Fprintf(&b, ".nf\n%s\n.fi\n", literal(p))
		} else {
			b.WriteString(literal(p) + "\n")
		}
	}
	return b.String()
}

// literal escapes a text's lines, so that a man page shows them as they are.
func literal(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if lines[i] = roff(l); strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + lines[i] // else a line that begins with . or ' would be a request of troff
		}
	}
	return strings.Join(lines, "\n")
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...")

func roff(s string) string { return roffEscapes.Replace(s) }
