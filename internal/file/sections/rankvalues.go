package sections

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/timing"
)

// checkRanked refuses columns that are not of the ranks of the class.
func (c *Class) checkRanked() error {
	if err := c.Ranked.Check(c.Ranks.Len(), c.Terminals.Len()); err != nil {
		return err
	}
	sites := c.Terminals.Len()
	if len(c.RankedValues) > 0 {
		sites += LeavesOf(c.Streams)
	}
	for name, cols := range c.RankedValues {
		if err := cols.Check(c.Ranks.Len(), sites); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, ok := c.Values[name]; !ok {
			return fmt.Errorf("%s of ranks that none of them has", name)
		}
	}
	return nil
}

// LeavesOf is how many leaves the threads of a class have; see Leaves.
func LeavesOf(streams []*grammar.Grammar) (n int) {
	for _, g := range streams {
		n += len(grammar.Unfold(g, grammar.UnfoldLimit).Terminal)
	}
	return n
}

// appendRankValues writes the sums of what was attached on each rank of the classes with
// several.
//
//	values = names uvarint, per name: its number in section values uvarint, per class blob
//
// Behind the call sites stand leaves, as if they were further terminals.
func appendRankValues(classes []Class, rest func() int64) []byte {
	var b []byte
	n := 0
	for number, name := range valueNames(classes) {
		list := make([]*timing.TotalColumns, len(classes))
		for i := range classes {
			cols := classes[i].RankedValues[name]
			list[i] = &cols
		}
		if blobs := timing.EncodeTotals(list, rest); blobs != nil {
			b = appendBlobs(wire.AppendUvarint(b, uint64(number)), blobs)
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return append(wire.AppendUvarint(nil, uint64(n)), b...)
}
