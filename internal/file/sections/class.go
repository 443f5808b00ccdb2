package sections

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// FirstLike is the first terminal with the same function, place and number of
// values.
func (c *DecodedClass) FirstLike(terminal int) int {
	g := c.Terminals[terminal].Group
	for i := range c.Terminals {
		if c.Terminals[i].Group == g {
			return i
		}
	}
	return terminal
}

// A DecodedTerminal is a parametric signature with the values that the class keeps for it.
type DecodedTerminal struct {
	Group *Group
	Sig   int           // within the group
	Site  int           // with its stack; the group's is the innermost frame alone
	Seqs  []*column.Seq // of the values that need one, in order
}

// Key identifies the terminal in its class, up to values that are in columns.
func (t *DecodedTerminal) Key() CallKey { return CallKey{t.Group, t.Sig, t.Site} }

// Vals evaluates the signature for a rank, the i-th of its class.
func (t *DecodedTerminal) Vals(c *DecodedClass, i, rank, size int) []int64 {
	vals := make([]int64, t.Group.Width)
	k := 0
	for p := range vals {
		list, at := t.Group.List(t.Sig, p)
		v := column.Value{Form: list.At(at)}
		switch {
		case v.Form.Kind == column.KindLike, v.Form.Kind == column.KindLocal:
			c.Refer(&v)
		case v.Form.Kind.NeedsColumn():
			v.Seq = t.Seqs[k]
			k++
		}
		vals[p] = v.At(i, int64(rank), int64(size))
	}
	if f := t.Group.Function; f != nil { // nil: it has no sums
		FillSums(f, vals)
	}
	return vals
}

// Refer looks up the columns that a form refers to.
func (c *DecodedClass) Refer(v *column.Value) {
	of, size := v.Form.Refs()
	v.Seq = c.Stored[of]
	if size >= 0 {
		v.Sizes = c.Stored[size]
	}
}

// StreamsOf returns the streams of a rank, the i-th of the class.
func (c *DecodedClass) StreamsOf(i, rank int) ([]*grammar.Grammar, error) {
	if len(c.Varying) == 0 {
		return c.Streams, nil
	}
	return grammar.WithCounts(c.Streams, c.Varying, func(k int) int64 { return c.Counts[k].At(i, int64(rank)) })
}

// Groups returns the group of each terminal.
func (c *DecodedClass) Groups() []*Group {
	list := make([]*Group, len(c.Terminals))
	for i := range list {
		list[i] = c.Terminals[i].Group
	}
	return list
}

// FirstLikes are those of FirstLike.
func (c *DecodedClass) FirstLikes() []int {
	known := make(map[*Group]int)
	list := make([]int, len(c.Terminals))
	for t := range c.Terminals {
		g := c.Terminals[t].Group
		if _, ok := known[g]; !ok {
			known[g] = t
		}
		list[t] = known[g]
	}
	return list
}

// DecodedClass is a class as read.
type DecodedClass struct {
	Streams   []*grammar.Grammar
	Varying   []int         // see counted
	Counts    []*column.Seq // parallel to varying
	Terminals []DecodedTerminal
	Stored    []*column.Seq // of all terminals, for forms that refer to them
	Ranks     int
	Lanes     *signature.DecodedLanes // nil: none
	// By terminal: the first one that differs from it in nothing but its stack; nil: there are no stacks.
	Stackless []int32
	// Family is, by terminal, the family of loops whose rounds are drawn that it is in, from 1; nil: no class has any.
	Family []int
}

// appendLanes returns the section; nil if no class has lanes.
func appendLanes(classes []Class) ([]byte, error) {
	blobs := make([][]byte, len(classes))
	var t Terminal
	for i := range classes {
		c := &classes[i]
		var err error
		blobs[i], err = signature.AppendLanes(nil, c.Lanes, c.LaneCounts, &c.Ranks, func(terminal int) int {
			if terminal >= c.Terminals.Len() {
				return -1
			}
			c.Terminals.Describe(terminal, &t)
			return len(t.Vals)
		})
		if err != nil {
			return nil, fmt.Errorf("class %d: lanes: %w", i, err)
		}
	}
	return appendSome(nil, blobs), nil
}

// DecodeLanes reads the lanes of a class whose terminals are known.
func DecodeLanes(r *wire.Reader, c *DecodedClass) *signature.DecodedLanes {
	return signature.DecodeLanes(r, c.Ranks, len(c.Terminals), func(terminal int) int { return c.Terminals[terminal].Group.Width })
}
