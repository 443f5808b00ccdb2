package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spoor-hpc/spoor/internal/analyse/diff"
	"github.com/spoor-hpc/spoor/internal/show"
	"github.com/spoor-hpc/spoor/trace"
)

// newStructure makes the verb spoor papers structure.
func newStructure() *cobra.Command {
	o := dumpOptions{structure: true, stream: -1}
	var window windowFlags
	cmd := &cobra.Command{
		Use:   "structure [flags] [TRACE]",
		Short: "Print the grammar of each class of ranks: loops as the trace stores them",
		Long: `Ranks that made the same calls form a class, as in Pilgrim. Parts that occur in
several places are printed once. "≠" lists the parameters that differ among the
ranks, "~" those that differ from call to call.`,
		Example: `  spoor papers structure app.spoor
  spoor papers structure --rank 3 --sites --times app.spoor`,
		Args: aTrace,
		RunE: window.of(func(cmd *cobra.Command, r *trace.Reader) error { return dump(cmd, r, o) }),
	}
	f := cmd.Flags()
	f.StringVarP(&o.ranks, "rank", "r", "", "the classes of these `ranks`: 0,4-7,10-")
	f.IntVarP(&o.stream, "thread", "t", -1, "only this thread of each rank")
	f.BoolVar(&o.sites, "sites", false, "add call sites: function, file and line")
	f.BoolVar(&o.times, "times", false, "add mean times")
	jsonFlag(f, &o.json)
	debugPathFlag(f, &o.paths)
	window.add(f)
	return cmd
}

// structure prints the grammars of a class of ranks, one for each thread. k is a rank of the class.
func (d *dumper) structure(k *trace.Rank) error {
	var times []trace.Times
	if d.o.times {
		var err error
		if times, err = k.ClassTimes(); err != nil {
			return err
		}
	}
	v, err := d.variation(k)
	if err != nil {
		return err
	}
	for stream := range k.Streams() {
		if d.o.stream >= 0 && stream != d.o.stream {
			continue
		}
		if d.o.json {
			if err := d.structureJSON(k, stream, v); err != nil {
				return err
			}
			continue
		}
		what := "rank"
		if len(v.members) > 1 {
			what = "ranks"
		}
		head := fmt.Sprintf("%s %s", what, show.FormatRanges(v.members))
		if stream > 0 {
			head += fmt.Sprintf(", thread %d", stream)
		}
		fmt.Fprintf(d.out, "%s: %s calls\n", head, v.lengths[stream])
		p := structurePrinter{d: d, k: k, v: v, stream: stream, times: times, uses: k.Structure(stream).RuleUses(), label: make(map[int]int)}
		if err := p.children(k.Structure(stream), 1); err != nil {
			return err
		}
	}
	return d.out.Flush()
}

// A variation is in what the ranks of a class differ.
type variation struct {
	members []int              // ranks of the class
	lengths []extremes         // least and most calls of a rank, by stream
	counts  map[place]extremes // least and greatest repetition count of a symbol on the ranks, by its place
	params  [][]string         // names of parameters whose values differ between the ranks, by terminal
}

// A place is the position of a symbol in a stream's grammar: it is the child-th symbol, from 0, of a rule.
type place struct{ stream, rule, child int }

// extremes are the smallest and the largest of the numbers that the ranks of a class have.
type extremes struct{ least, most uint64 }

func (e extremes) with(n uint64) extremes { return extremes{min(e.least, n), max(e.most, n)} }

func (e extremes) String() string { return span(e.least, e.most) }

// variation finds in what the ranks of k's class differ.
func (d *dumper) variation(k *trace.Rank) (*variation, error) {
	v := &variation{
		members: d.r.Members(k.Class()), counts: make(map[place]extremes), params: make([][]string, k.Terminals()),
	}
	first := make([][]int64, k.Terminals())
	for t := range first {
		v.params[t], first[t] = []string{}, k.Signature(t)
	}
	for stream := range k.Streams() {
		v.lengths = append(v.lengths, extremes{k.CallCount(stream), k.CallCount(stream)})
	}
	for _, rank := range v.members {
		other, err := d.r.Rank(rank)
		if err != nil {
			return nil, err
		}
		for stream := range other.Streams() {
			v.lengths[stream] = v.lengths[stream].with(other.CallCount(stream))
			v.repetitions(stream, other.Structure(stream), make(map[int]bool))
		}
		for t := range first {
			if slices.Equal(other.Signature(t), first[t]) && k.Lane(t).Same(other.Lane(t)) {
				continue
			}
			if err := v.values(t, k, other); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func (v *variation) repetitions(stream int, n trace.Node, seen map[int]bool) {
	seen[n.Rule] = true
	for i, c := range n.Children() {
		at := place{stream, n.Rule, i}
		e, ok := v.counts[at]
		if !ok {
			e = extremes{c.Count, c.Count}
		}
		v.counts[at] = e.with(c.Count)
		if c.Rule >= 0 && !seen[c.Rule] {
			v.repetitions(stream, c, seen)
		}
	}
}

func (v *variation) values(t int, k, other *trace.Rank) error {
	a, err := k.Terminal(t)
	if err != nil {
		return err
	}
	b, err := other.Terminal(t)
	if err != nil {
		return err
	}
	for _, name := range diff.DifferingParams(a, b) {
		if !slices.Contains(v.params[t], name) {
			v.params[t] = append(v.params[t], name)
		}
	}
	return nil
}

// A structurePrinter prints a stream's grammar. A rule that is used several times is printed at its first use and only
// named at others, as the output could otherwise be as long as the expanded trace.
type structurePrinter struct {
	d      *dumper
	k      *trace.Rank
	v      *variation
	stream int
	times  []trace.Times
	uses   map[int]int // how often a rule is used, by rule
	label  map[int]int // N of the name "part N" that a printed rule has, by rule
}

func (p *structurePrinter) children(n trace.Node, depth int) error {
	for i, c := range n.Children() {
		times := p.v.counts[place{p.stream, n.Rule, i}]
		if err := p.node(c, times, depth); err != nil {
			return err
		}
	}
	return nil
}

func (p *structurePrinter) node(n trace.Node, times extremes, depth int) error {
	indent := strings.Repeat("  ", depth)
	head := ""
	if times.most > 1 {
		head = times.String() + " times"
	}
	part, printed := p.part(n)
	if head = joinNonEmpty(": ", head, part); head != "" {
		if printed {
			head += ", see above"
		}
		if _, err := fmt.Fprintf(p.d.out, "%s%s\n", indent, head); err != nil || printed {
			return err
		}
		depth++
	}
	if n.Rule >= 0 {
		return p.children(n, depth)
	}
	c, err := p.k.Terminal(n.Terminal)
	if err != nil {
		return err
	}
	b := append(p.d.line[:0], strings.Repeat("  ", depth)...)
	b = c.AppendText(b)
	if lanes := p.k.LaneTexts(n.Terminal); len(lanes) > 0 {
		b = append(append(b, " ~ "...), strings.Join(lanes, ", ")...)
	}
	if names := p.v.params[n.Terminal]; len(names) > 0 {
		b = append(append(b, " ≠ "...), strings.Join(names, ", ")...)
	}
	p.d.line = append(p.d.appendExtras(b, c, p.times), '\n')
	_, err = p.d.out.Write(p.d.line)
	return err
}

// part returns the name "part N" of node n's rule if that is used several times, else "". printed reports whether the
// rule was printed before.
func (p *structurePrinter) part(n trace.Node) (name string, printed bool) {
	if n.Rule < 0 || p.uses[n.Rule] < 2 {
		return "", false
	}
	label, printed := p.label[n.Rule]
	if !printed {
		label = len(p.label) + 1
		p.label[n.Rule] = label
	}
	return fmt.Sprintf("part %d", label), printed
}

// A jsonStructure is the structure of one thread of a class. Rules has each rule's symbols by the rule's number; rule
// 0 is the whole thread.
type jsonStructure struct {
	Ranks  []int              `json:"ranks"`
	Thread int                `json:"thread"`
	Rules  map[int][]jsonItem `json:"rules"`
	Calls  []*trace.Call      `json:"calls"`           // distinct calls, with the values of the class's first rank
	Vary   [][]string         `json:"varying"`         // names of parameters that differ among ranks, by index in Calls
	Lanes  map[int][]string   `json:"lanes,omitempty"` // lanes of the class's first rank as text, by index in Calls
}

// A jsonItem is a symbol of a rule: a call (an index in Calls) or a rule (a key of Rules), and how often it is
// repeated. If that differs between the ranks of the class, Count is the least number and Most the greatest.
type jsonItem struct {
	Count uint64 `json:"count"`
	Most  uint64 `json:"most,omitempty"`
	Call  *int   `json:"call,omitempty"`
	Rule  *int   `json:"rule,omitempty"`
}

func (d *dumper) structureJSON(k *trace.Rank, stream int, v *variation) error {
	s := jsonStructure{Ranks: v.members, Thread: stream, Rules: make(map[int][]jsonItem), Vary: v.params}
	var walk func(n trace.Node)
	walk = func(n trace.Node) {
		items := []jsonItem{}
		s.Rules[n.Rule] = items
		children := n.Children()
		for i, c := range children {
			e := v.counts[place{stream, n.Rule, i}]
			item := jsonItem{Count: e.least}
			if e.most > e.least {
				item.Most = e.most
			}
			if c.Rule >= 0 {
				item.Rule = &c.Rule
			} else {
				item.Call = &c.Terminal
			}
			items = append(items, item)
		}
		s.Rules[n.Rule] = items
		for _, c := range children {
			if c.Rule >= 0 && s.Rules[c.Rule] == nil {
				walk(c)
			}
		}
	}
	walk(k.Structure(stream))
	var err error
	if s.Calls, err = k.DistinctCalls(); err != nil {
		return err
	}
	for t := range s.Calls {
		if lanes := k.LaneTexts(t); len(lanes) > 0 {
			if s.Lanes == nil {
				s.Lanes = make(map[int][]string)
			}
			s.Lanes[t] = lanes
		}
	}
	return json.NewEncoder(d.out).Encode(s)
}
