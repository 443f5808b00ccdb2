package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/mpi"
)

// listFunctions prints whether and how each MPI function is traced. With an argument, it prints all that is known of
// the function with that name.
func listFunctions(cmd *cobra.Command, args []string, o output) error {
	if len(args) == 0 {
		return o.print(cmd, callList(mpi.Calls()), func(w io.Writer) {
			printCoverage(w)
			fmt.Fprintln(w)
			printAllCalls(w)
		}, nil)
	}
	c := findCall(args[0])
	if c == nil {
		return fmt.Errorf("%s: MPI has no such function; spoor doctor --functions lists them", args[0])
	}
	return o.print(cmd, describe(c), func(w io.Writer) { printCall(w, c) }, nil)
}

// chapters maps the numbers of the MPI standard's chapters that define functions to their titles.
var chapters = map[string]string{
	"3": "Point-to-point communication", "4": "Partitioned communication", "5": "Datatypes", "6": "Collective communication",
	"7": "Groups, contexts, communicators", "8": "Virtual topologies", "9": "Environment", "10": "Info objects",
	"11": "Processes and sessions", "12": "One-sided communication", "13": "External interfaces", "14": "I/O",
	"15": "Tool support", "16": "Deprecated functions", "17": "Removed functions", "19": "Language bindings",
	"20": "Application binary interface",
}

type coverage struct {
	chapter string
	counts  [3]int // number of the chapter's functions, by mpi.WrapperClass
}

func printCoverage(w io.Writer) {
	var list []*coverage
	index := make(map[string]*coverage)
	total := coverage{}
	for _, c := range mpi.Calls() {
		chapter, _, _ := strings.Cut(c.Section, ".")
		k := once.GetOrAppend(index, chapter, &list, func() *coverage { return &coverage{chapter: chapter} })
		k.counts[c.WrapperClass]++
		total.counts[c.WrapperClass]++
	}
	// mpi.Calls isn't in the order of chapters: deprecated functions come next to their replacements.
	slices.SortFunc(list, func(a, b *coverage) int {
		return cmp.Or(cmp.Compare(len(a.chapter), len(b.chapter)), cmp.Compare(a.chapter, b.chapter))
	})
	total.chapter = "all"
	show.WriteText(w, append(list, &total), 0, func(c *show.Row, k *coverage) {
		regular, irregular, unwrapped := k.counts[mpi.WrapperGenerated], k.counts[mpi.WrapperHandwritten], k.counts[mpi.WrapperAbsent]
		c.Value("functions", regular+irregular+unwrapped).Value("regular", regular).Value("irregular", irregular).Value("unwrapped", unwrapped)
		c.Text("chapter", strings.TrimSpace(k.chapter+" "+chapters[k.chapter]))
	})
	if total.counts[mpi.WrapperAbsent] > 0 {
		fmt.Fprintf(w, "\nnot traced:\n")
		printReasons(w)
	}
}

// printReasons lists the functions without a wrapper, grouped by the reason for that.
func printReasons(w io.Writer) {
	var order []string
	names := make(map[string][]string)
	for _, c := range mpi.Calls() {
		if c.WrapperClass != mpi.WrapperAbsent {
			continue
		}
		if names[c.UnwrappedReason] == nil {
			order = append(order, c.UnwrappedReason)
		}
		names[c.UnwrappedReason] = append(names[c.UnwrappedReason], c.Name)
	}
	for _, reason := range order {
		fmt.Fprintf(w, "  %s\n      %s\n", strings.Join(names[reason], ", "), reason)
	}
}

func printAllCalls(w io.Writer) {
	section := ""
	for _, c := range mpi.Calls() {
		if c.Section != section {
			section = c.Section
			fmt.Fprintf(w, "%s %s\n", c.Section, c.SectionTitle)
		}
		line := fmt.Sprintf("  %-34s %-10s %s", c.Name, c.WrapperClass, cmp.Or(c.UnwrappedReason, c.Attrs.String()))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

type jsonCall struct {
	ID      uint16      `json:"id"`
	Name    string      `json:"name"`
	Section string      `json:"section"`
	Class   string      `json:"class"`
	Reason  string      `json:"reason,omitempty"`
	Attrs   []string    `json:"attributes"`
	Returns string      `json:"returns"`
	Params  []jsonParam `json:"parameters"`
}

type jsonParam struct {
	Name      string `json:"name"`
	Direction string `json:"direction"`
	Kind      string `json:"kind"`
	Length    string `json:"length,omitempty"`
	Remark    string `json:"remark,omitempty"`
}

func callList(calls []*mpi.Call) []jsonCall {
	list := make([]jsonCall, len(calls))
	for i, c := range calls {
		list[i] = describe(c)
	}
	return list
}

func describe(c *mpi.Call) jsonCall {
	j := jsonCall{
		ID: c.ID, Name: c.Name, Section: c.Section + " " + c.SectionTitle, Class: c.WrapperClass.String(), Reason: c.UnwrappedReason,
		Attrs: strings.Fields(c.Attrs.String()), Returns: c.ReturnKind.Name(), Params: []jsonParam{},
	}
	for i := range c.Params {
		p := &c.Params[i]
		if p.LargeOnly && !c.Large {
			continue
		}
		q := jsonParam{Name: p.Name, Direction: p.Dir.String(), Kind: p.Kind.Name(), Remark: remark(p)}
		if p.Len != nil {
			q.Length = p.Len.String()
			if p.InnerLen != nil {
				q.Length += "," + p.InnerLen.String()
			}
		}
		j.Params = append(j.Params, q)
	}
	return j
}

func remark(p *mpi.Param) string {
	var list []string
	if p.WrittenLen != nil {
		list = append(list, "the MPI writes "+p.WrittenLen.String())
	}
	if p.OnlyRoot {
		list = append(list, "significant at the root only")
	}
	if p.ValidIfNonZero != "" {
		list = append(list, "valid if "+p.ValidIfNonZero+" comes out true")
	}
	if p.IgnoredIfInPlace != "" {
		list = append(list, "not significant if "+p.IgnoredIfInPlace+" is MPI_IN_PLACE")
	}
	return strings.Join(list, "; ")
}

func printCall(w io.Writer, c *mpi.Call) {
	j := describe(c)
	fmt.Fprintf(w, "%s: %s\nsection %s\n", j.Name, strings.Join(append([]string{j.Class}, j.Attrs...), ", "), j.Section)
	if j.Reason != "" {
		fmt.Fprintf(w, "not traced: %s\n", j.Reason)
	}
	if j.Returns != "error" {
		fmt.Fprintf(w, "returns %s\n", j.Returns)
	}
	show.WriteText(w, j.Params, 0, func(c *show.Row, p jsonParam) {
		kind := p.Kind
		if p.Length != "" {
			kind += "[" + p.Length + "]"
		}
		c.Text("", "  "+p.Name).Text("", p.Direction).Text("", kind).Text("", p.Remark)
	})
	if c.LargeForm != nil {
		fmt.Fprintf(w, "large-count form: %s\n", c.LargeForm.Name)
	}
}

// findCall finds an MPI function by its name in upper or lower case, with or without "MPI_".
func findCall(name string) *mpi.Call {
	for _, c := range mpi.Calls() {
		if strings.EqualFold(c.Name, name) || strings.EqualFold(c.Name, "MPI_"+name) {
			return c
		}
	}
	return nil
}
