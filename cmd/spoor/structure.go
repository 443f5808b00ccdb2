package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"spoor/internal/diff"
	"spoor/internal/recover"
	"spoor/trace"
)

// structure prints the loops of a class of ranks, of which k is one.
func (d *dumper) structure(k *trace.Rank) error {
	var times []trace.Times
	if d.o.times {
		var err error
		if times, err = k.Times(); err != nil {
			return err
		}
	}
	members := d.r.Members(k.Class())
	for stream := range k.Streams() {
		if d.o.stream >= 0 && stream != d.o.stream {
			continue
		}
		if d.o.json {
			if err := d.structureJSON(k, stream, members); err != nil {
				return err
			}
			continue
		}
		what := "rank"
		if len(members) > 1 {
			what = "ranks"
		}
		head := fmt.Sprintf("%s %s", what, recover.Ranges(members))
		if stream > 0 {
			head += fmt.Sprintf(", thread %d", stream)
		}
		fmt.Fprintf(d.out, "%s: %s\n", head, plural(k.Len(stream), "call"))
		varying, err := d.varying(k, members)
		if err != nil {
			return err
		}
		p := structurePrinter{d: d, k: k, times: times, varying: varying, uses: make(map[int]int), label: make(map[int]int)}
		root := k.Structure(stream)
		p.count(root)
		if err := p.children(root, 1); err != nil {
			return err
		}
	}
	return d.out.Flush()
}

// A structurePrinter prints a structure; parts that occur in several places are
// printed once and referred to from then on, or the output could be as long as
// the expanded trace.
type structurePrinter struct {
	d       *dumper
	k       *trace.Rank
	times   []trace.Times
	varying [][]string  // by terminal: parameters that are not the same in all ranks
	uses    map[int]int // by rule: number of places
	label   map[int]int // by rule printed
}

func (p *structurePrinter) count(n trace.Node) {
	for _, c := range n.Children() {
		if c.Kind == trace.CallNode || c.Rule < 0 {
			continue
		}
		if p.uses[c.Rule]++; p.uses[c.Rule] == 1 {
			p.count(c)
		}
	}
}

func (p *structurePrinter) children(n trace.Node, depth int) error {
	for _, c := range n.Children() {
		if err := p.node(c, depth); err != nil {
			return err
		}
	}
	return nil
}

func (p *structurePrinter) node(n trace.Node, depth int) error {
	indent := strings.Repeat("  ", depth)
	if n.Kind == trace.CallNode {
		c, err := p.k.Terminal(n.Terminal)
		if err != nil {
			return err
		}
		b := append(p.d.line[:0], indent...)
		b = c.AppendText(b)
		if names := p.varying[n.Terminal]; len(names) > 0 {
			b = append(append(b, " ≠ "...), strings.Join(names, ", ")...)
		}
		b = p.d.appendExtras(b, c, p.times)
		p.d.line = append(b, '\n')
		_, err = p.d.out.Write(p.d.line)
		return err
	}
	head, below := "", depth
	if n.Kind == trace.LoopNode {
		head = fmt.Sprintf("%s times", grouped(n.Count))
	}
	if p.uses[n.Rule] > 1 && n.Rule >= 0 {
		label, printed := p.label[n.Rule]
		if !printed {
			label = len(p.label) + 1
			p.label[n.Rule] = label
		}
		head = joinNonEmpty(": ", head, fmt.Sprintf("part %d", label))
		if printed {
			_, err := fmt.Fprintf(p.d.out, "%s%s, see above\n", indent, head)
			return err
		}
	}
	if head != "" {
		if _, err := fmt.Fprintf(p.d.out, "%s%s\n", indent, head); err != nil {
			return err
		}
		below++
	}
	return p.children(n, below)
}

// varying finds, for each distinct call of a class, the parameters that differ
// among its ranks.
func (d *dumper) varying(k *trace.Rank, members []int) ([][]string, error) {
	list := make([][]string, k.Terminals())
	first := make([][]int64, k.Terminals())
	for t := range first {
		list[t], first[t] = []string{}, k.Signature(t)
	}
	for _, rank := range members[1:] {
		other, err := d.r.Rank(rank)
		if err != nil {
			return nil, err
		}
		for t := range list {
			if slices.Equal(other.Signature(t), first[t]) {
				continue
			}
			a, err := k.Terminal(t)
			if err != nil {
				return nil, err
			}
			b, err := other.Terminal(t)
			if err != nil {
				return nil, err
			}
			for _, name := range diff.Params(a, b) {
				if !slices.Contains(list[t], name) {
					list[t] = append(list[t], name)
				}
			}
		}
	}
	return list, nil
}

// A jsonStructure is the structure of one thread of a class. Rules is the
// sequence of items behind each number; the thread is rule 0.
type jsonStructure struct {
	Ranks  []int              `json:"ranks"`
	Thread int                `json:"thread"`
	Length uint64             `json:"length"`
	Rules  map[int][]jsonItem `json:"rules"`
	Calls  []*trace.Call      `json:"calls"`   // values of the first rank
	Vary   [][]string         `json:"varying"` // parameters that differ among the ranks, by call
}

type jsonItem struct {
	Count uint64 `json:"count"`
	Call  *int   `json:"call,omitempty"`
	Rule  *int   `json:"rule,omitempty"`
}

func (d *dumper) structureJSON(k *trace.Rank, stream int, members []int) error {
	s := jsonStructure{Ranks: members, Thread: stream, Length: k.Len(stream), Rules: make(map[int][]jsonItem)}
	var walk func(n trace.Node)
	walk = func(n trace.Node) {
		if s.Rules[n.Rule] != nil {
			return
		}
		items := []jsonItem{}
		children := n.Children()
		for _, c := range children {
			item := jsonItem{Count: max(1, c.Count)}
			if c.Rule >= 0 {
				item.Rule = &c.Rule
			} else {
				item.Call = &c.Terminal
			}
			items = append(items, item)
		}
		s.Rules[n.Rule] = items
		for _, c := range children {
			if c.Rule >= 0 {
				walk(c)
			}
		}
	}
	walk(k.Structure(stream))
	var err error
	if s.Vary, err = d.varying(k, members); err != nil {
		return err
	}
	for t := range k.Terminals() {
		c, err := k.Terminal(t)
		if err != nil {
			return err
		}
		s.Calls = append(s.Calls, c)
	}
	return json.NewEncoder(d.out).Encode(s)
}
