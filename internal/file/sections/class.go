package sections

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// FirstOfGroup returns the first terminal that has the function, the site without stack, and the number of values of the
// given one.
func (c *DecodedClass) FirstOfGroup(terminal int) int {
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
	Group          *SignatureGroup
	SignatureIndex int           // index of the signature in the group
	Site           int           // number of the site with its stack; the group's site is the innermost frame alone
	StoredValues   []*column.Seq // columns for the values that need one, in the order of the values
}

// Key returns what identifies the terminal in its class, except for values that are in columns.
func (t *DecodedTerminal) Key() CallKey { return CallKey{t.Group, t.SignatureIndex, t.Site} }

// EvalSignature evaluates the signature for a rank, the i-th of its class.
func (t *DecodedTerminal) EvalSignature(c *DecodedClass, i, rank, size int) []int64 {
	vals := make([]int64, t.Group.ValueCount)
	k := 0
	for p := range vals {
		list, at := t.Group.FormsOf(t.SignatureIndex, p)
		v := column.StoredValue{Form: list.At(at)}
		switch {
		case v.Form.Kind == column.KindOtherColumn, v.Form.Kind == column.KindOwnRankInColumn:
			c.ResolveReferences(&v)
		case v.Form.Kind.NeedsColumn():
			v.Column = t.StoredValues[k]
			k++
		}
		vals[p] = v.At(i, int64(rank), int64(size))
	}
	if f := t.Group.Function; f != nil { // nil: no values are left out as sums of others
		RestoreDisplacements(f, vals)
	}
	return vals
}

// ResolveReferences looks up the columns that a form refers to.
func (c *DecodedClass) ResolveReferences(v *column.StoredValue) {
	of, size := v.Form.ReferredColumns()
	v.Column = c.StoredColumns[of]
	if size >= 0 {
		v.SizesColumn = c.StoredColumns[size]
	}
}

// StreamsOf returns the streams of a rank, the i-th of the class.
func (c *DecodedClass) StreamsOf(i, rank int) ([]*grammar.Grammar, error) {
	if len(c.VaryingSymbols) == 0 {
		return c.Streams, nil
	}
	return grammar.WithRepetitionCounts(c.Streams, c.VaryingSymbols, func(k int) int64 { return c.RepetitionCounts[k].At(i, int64(rank)) })
}

// Groups returns the group of each terminal.
func (c *DecodedClass) Groups() []*SignatureGroup {
	list := make([]*SignatureGroup, len(c.Terminals))
	for i := range list {
		list[i] = c.Terminals[i].Group
	}
	return list
}

// FirstsOfGroups returns by terminal what FirstOfGroup returns.
func (c *DecodedClass) FirstsOfGroups() []int {
	known := make(map[*SignatureGroup]int)
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
	Streams []*grammar.Grammar
	// indices, among the repeated symbols of Streams, of those whose counts differ between ranks
	VaryingSymbols   []int
	RepetitionCounts []*column.Seq // parallel to VaryingCounts: the counts
	Terminals        []DecodedTerminal
	StoredColumns    []*column.Seq // columns stored for any terminal, to which forms can refer
	Ranks            int
	Lanes            *signature.DecodedLanes // nil: the class has no lanes
	// FirstAlikeButForStack is, by terminal, the first terminal that differs from it in its stack alone; nil if the trace
	// has no stacks.
	FirstAlikeButForStack []int32
	// LoopFamilyOfTerminal is by terminal the family of synthetic loops that contains it, from 1; nil if no class has any.
	LoopFamilyOfTerminal []int
}

// appendLanes returns the section of lanes; nil if no class has lanes.
func appendLanes(classes []Class) ([]byte, error) {
	blobs := make([][]byte, len(classes))
	var t Terminal
	for i := range classes {
		c := &classes[i]
		var err error
		blobs[i], err = signature.AppendLanes(nil, c.Lanes, c.LaneRepetitionCounts, &c.Ranks, func(terminal int) int {
			if terminal >= c.Terminals.Len() {
				return -1
			}
			c.Terminals.Describe(terminal, &t)
			return len(t.Values)
		})
		if err != nil {
			return nil, fmt.Errorf("class %d: lanes: %w", i, err)
		}
	}
	return appendSome(nil, blobs), nil
}

// DecodeLanes reads the lanes of a class whose terminals are known.
func DecodeLanes(r *wire.Reader, c *DecodedClass) *signature.DecodedLanes {
	return signature.DecodeLanes(r, c.Ranks, len(c.Terminals), func(terminal int) int { return c.Terminals[terminal].Group.ValueCount })
}
