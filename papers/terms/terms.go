// Package terms writes call trees as the terms of "Tracing MPI binaries for knowledge discovery" (Grosclaude et al.):
// calls and computation, joined by +, and loops as a term with its trip count.
package terms

import (
	"fmt"
	"io"
	"strings"

	"github.com/spoor-hpc/spoor/internal/analyse/profile"
	"github.com/spoor-hpc/spoor/internal/calltree"
)

// A notation writes terms as in figures 2 to 4 of Grosclaude et al., as text or as LaTeX. A call f from site i is f
// with subscript i, the computation before it CPU with the same subscript. Terms in a row are joined by +. A loop of n
// iterations is a term in brackets followed by [n]. After a colon comes the time in µs: within a loop the mean of one
// iteration, outside the total.
type notation interface {
	term(name string, site int) string
	rounds(body, count string, several bool) string
	plus() string
	rest() string // what is written in place of omitted terms
	timed(term string, us string) string
	thread(w io.Writer, title string, lines []string)
	begin(w io.Writer, p *profile.Profile)
	end(w io.Writer, p *profile.Profile)
}

// Styles of Write.
type Style uint8

const (
	Detailed Style = iota // text as figures 2 and 3 of the paper: with times also within loops
	Terse                 // text as figure 4 of the paper: without times within loops
	LaTeX                 // a LaTeX document with the terms of Detailed
)

// Write writes a profile as terms.
func Write(w io.Writer, p *profile.Profile, s Style, v profile.View) {
	var n notation = textNotation{}
	if s == LaTeX {
		n = latexNotation{p.Timeless()}
	}
	n.begin(w, p)
	for i := range p.Threads {
		t := &p.Threads[i]
		x := papers{p: p, n: n, terse: s == Terse, min: max(0, v.MinTimeNs), depth: v.ExpandedLoopDepth}
		x.top(plain(t.Body))
		n.thread(w, p.HeadText(t), x.lines)
	}
	n.end(w, p)
}

type papers struct {
	p     *profile.Profile
	n     notation
	terse bool
	min   float64
	depth int
	lines []string
	parts []*calltree.Node
}

// timed returns a term with its time (us, text in µs), or the term alone if the trace has no times.
func (x *papers) timed(term, us string) string {
	if x.p.Timeless() {
		return term
	}
	return x.n.timed(term, us)
}

// top writes each item of the thread that is outside of loops on its own line: calls, the computation before each call,
// loops and groups. The contents of groups, which several places share and refer to by number, follow.
func (x *papers) top(nodes []*calltree.Node) {
	skipped := 0.0
	flush := func() {
		if skipped > 0 {
			x.lines = append(x.lines, x.timed(x.n.rest(), micros(skipped, true)))
			skipped = 0
		}
	}
	for _, c := range nodes {
		if c.Sums.TotalNs() < x.min {
			skipped += c.Sums.TotalNs()
			continue
		}
		flush()
		if c.Kind == "call" && c.MostRounds == 1 {
			cpu, call := x.call(c)
			x.lines = append(x.lines, x.timed(cpu, micros(c.Sums.ComputeNs, true)), x.timed(call, micros(c.Sums.InCallsNs(), true)))
			continue
		}
		text := x.node(c, 0)
		x.lines = append(x.lines, x.timed(text, micros(c.Sums.TotalNs(), true)))
	}
	flush()
	for i := 0; i < len(x.parts); i++ {
		c := x.parts[i]
		text := x.sequence(c.Body, 1, c.Entries)
		x.lines = append(x.lines, fmt.Sprintf("%s = %s", x.n.term("part", c.PartNumber), text))
	}
}

func (x *papers) call(c *calltree.Node) (cpu, call string) {
	name := strings.TrimPrefix(x.p.Sites[c.SiteNumber-1].Function, "MPI_")
	return x.n.term("CPU", c.SiteNumber), x.n.term(name, c.SiteNumber)
}

// node returns a call, a loop or a group as a term. level is the number of loops around it.
func (x *papers) node(c *calltree.Node, level int) string {
	per := max(1, c.Rounds)
	switch c.Kind {
	case "call":
		cpu, call := x.call(c)
		if !x.terse && c.Sums.Calls > 0 {
			cpu = x.timed(cpu, micros(c.Sums.ComputeNs/float64(c.Sums.Calls), false))
			call = x.timed(call, micros(c.Sums.InCallsNs()/float64(c.Sums.Calls), false))
		}
		if c.MostRounds > 1 {
			return x.n.rounds(cpu+x.n.plus()+call, profile.TripCountText(c), true)
		}
		return cpu + x.n.plus() + call
	case "loop":
		if x.depth >= 0 && level >= x.depth {
			return x.n.rounds(x.n.rest(), profile.TripCountText(c), false)
		}
		return x.n.rounds(x.sequence(c.Body, level+1, per), profile.TripCountText(c), true)
	}
	if c.Body != nil {
		x.parts = append(x.parts, c)
	}
	return x.n.term("part", c.PartNumber)
}

func (x *papers) sequence(nodes []*calltree.Node, level int, rounds uint64) string {
	var list []string
	skipping := false
	for _, c := range nodes {
		if c.Sums.TotalNs() < x.min {
			if !skipping {
				list = append(list, x.n.rest())
			}
			skipping = true
			continue
		}
		skipping = false
		text := x.node(c, level)
		if c.Kind != "call" && !x.terse {
			text = x.timed(text, micros(c.Sums.TotalNs()/float64(max(1, rounds)), false))
		}
		list = append(list, text)
	}
	return strings.Join(list, x.n.plus())
}

// micros returns a time as text in µs. Means (total is false) and times below 10 µs have two decimals.
func micros(ns float64, total bool) string {
	if total && (ns >= 10_000 || ns == 0) {
		return fmt.Sprintf("%.0f", ns/1000)
	}
	return fmt.Sprintf("%.2f", ns/1000)
}

type textNotation struct{}

var subscripts = strings.NewReplacer("0", "₀", "1", "₁", "2", "₂", "3", "₃", "4", "₄", "5", "₅", "6", "₆", "7", "₇", "8", "₈", "9", "₉")

func (textNotation) term(name string, site int) string {
	return name + subscripts.Replace(fmt.Sprint(site))
}

func (textNotation) rounds(body, count string, several bool) string {
	if several {
		body = "(" + body + ")"
	}
	return body + "[" + count + "]"
}

func (textNotation) plus() string                 { return " + " }
func (textNotation) rest() string                 { return "…" }
func (textNotation) timed(term, us string) string { return term + " : " + us }

func (textNotation) begin(io.Writer, *profile.Profile) {}

func (textNotation) thread(w io.Writer, title string, lines []string) {
	fmt.Fprintf(w, "%s\n\n", title)
	for i, line := range lines {
		fmt.Fprintf(w, "%d. %s\n", i+1, line)
	}
	fmt.Fprintln(w)
}

func (textNotation) end(w io.Writer, p *profile.Profile) {
	for i := range p.Sites {
		s := &p.Sites[i]
		fmt.Fprintf(w, "%3d  %s  %s\n", i+1, s.Function, s.Text)
	}
}

// latexNotation writes a document that needs no packages besides inputenc.
type latexNotation struct{ timeless bool }

var latexEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "_", `\_`, "%", `\%`, "&", `\&`, "#", `\#`,
	"$", `\$`, "^", `\^{}`, "~", `\~{}`, "<", `$<$`, ">", `$>$`, "…", `\ldots{}`, "–", "--", "µ", `$\mu$`, "→", `$\to$`, "←", `$\gets$`)

func latexText(s string) string {
	var b strings.Builder
	for _, r := range latexEscapes.Replace(s) {
		if r > 126 {
			r = '?' // LaTeX's standard fonts lack it
		}
		b.WriteRune(r)
	}
	return b.String()
}

func (latexNotation) term(name string, site int) string {
	return fmt.Sprintf(`\mathrm{%s}_{%d}`, strings.ReplaceAll(name, "_", `\_`), site)
}

func (latexNotation) rounds(body, count string, several bool) string {
	if several {
		body = "(" + body + ")"
	}
	return body + `[\mathrm{` + strings.ReplaceAll(strings.ReplaceAll(count, "–", `\mbox{--}`), ",", `{,}`) + `}]`
}

func (latexNotation) plus() string                 { return " + " }
func (latexNotation) rest() string                 { return `\ldots` }
func (latexNotation) timed(term, us string) string { return term + " : " + us }

func (latexNotation) begin(w io.Writer, p *profile.Profile) {
	fmt.Fprintf(w, `\documentclass{article}
\usepackage[utf8]{inputenc}
\begin{document}
\raggedright
\section*{%s}
`, latexText(p.Trace))
}

func (n latexNotation) thread(w io.Writer, title string, lines []string) {
	unit := " Times in $\\mu$s."
	if n.timeless {
		unit = ""
	}
	fmt.Fprintf(w, "%s.%s\n\\begin{enumerate}\n", latexText(title), unit)
	for _, line := range lines {
		fmt.Fprintf(w, "\\item $%s$\n", line)
	}
	fmt.Fprint(w, "\\end{enumerate}\n")
}

func (latexNotation) end(w io.Writer, p *profile.Profile) {
	fmt.Fprint(w, "\\subsection*{Call sites}\n\\begin{enumerate}\n")
	for i := range p.Sites {
		s := &p.Sites[i]
		fmt.Fprintf(w, "\\item \\texttt{%s} %s\n", latexText(s.Function), latexText(s.Text))
	}
	fmt.Fprint(w, "\\end{enumerate}\n\\end{document}\n")
}

// plain returns a call tree in which the bodies of functions replace them: the paper has only loops and calls.
func plain(list []*calltree.Node) []*calltree.Node {
	var out []*calltree.Node
	for _, n := range list {
		if n.Kind == "function" {
			out = append(out, plain(n.Body)...)
			continue
		}
		if n.Body != nil {
			c := *n
			c.Body = plain(n.Body)
			n = &c
		}
		out = append(out, n)
	}
	return out
}
