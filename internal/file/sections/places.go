package sections

import (
	"fmt"
	"maps"
	"math"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// LeafMeanTimes is the mean times of the calls at one leaf of a class's first thread, in nanoseconds, if they differ
// from the mean of all equal calls; see trace.Leaves.
type LeafMeanTimes struct {
	Leaf                  int
	MeanGap, MeanDuration float64
	MeanEntryGap          float64 // mean gap in ns before a call that enters a loop; NaN: as for all calls
	// MeanOuterEntryGaps is the mean gaps before those calls that also enter the next enclosing loop, then the one around that,
	// and so on.
	MeanOuterEntryGaps []float64
}

// A placesBlob is the encoded times of a class's leaves.
//
//	places = per class blob
//	blob   = terminals uvarint, per terminal: (number - the one behind that before) uvarint,
//	         gap mean, duration mean,
//	         (2·(leaf, as a difference to the one before) + entry) uvarint, gap mean, duration mean,
//	         entry mean if it is 1, (0 uvarint, mean of outer loops)…
//
// A mean has eight significant bits. A terminal's mean is that of its leaves without means of their own.
type placesBlob struct {
	common map[int32]leafMeans // by terminal: means of its leaves without means of their own
	own    []LeafMeanTimes
}

// leafMeans are the means of a leaf as RoundToFloatCode encodes them.
type leafMeans struct{ gap, duration int }

func meansOf(p *LeafMeanTimes) leafMeans {
	return leafMeans{RoundToFloatCode(p.MeanGap, meanBits), RoundToFloatCode(p.MeanDuration, meanBits)}
}

// code writes or reads the blob of a class. leaves is the number of the class's leaves.
func (x *placesBlob) code(c *wire.Coder, leaves int) {
	next := int32(0)
	wire.CodeMap(c, x.common, 3, func(t *int32, m *leafMeans) {
		wire.CodeAbove(c, t, next, int(math.MaxInt32-next))
		wire.CodeBounded(c, &m.gap, mostRounded(meanBits))
		wire.CodeBounded(c, &m.duration, mostRounded(meanBits))
		next = *t + 1
	})
	if c.Reader != nil {
		x.own = make([]LeafMeanTimes, 0, c.Reader.RemainingLen()/8) // most leaves take about 8 bytes
	}
	last := 0
	for i := 0; i < len(x.own) || c.Reader != nil && c.Reader.RemainingLen() > 0; i++ {
		if c.Reader != nil {
			x.own = append(x.own, LeafMeanTimes{MeanEntryGap: math.NaN()})
		}
		p := &x.own[i]
		head := (p.Leaf-last)<<1 | bit(!math.IsNaN(p.MeanEntryGap))
		wire.CodeBounded(c, &head, math.MaxInt)
		if head>>1 == 0 && i > 0 || head>>1 >= leaves-last || c.Failed() {
			c.RefuseIf(true, "leaf %d and %d more of %d", last, head>>1, leaves)
			return
		}
		last += head >> 1
		p.Leaf = last
		codeMean(c, &p.MeanGap)
		codeMean(c, &p.MeanDuration)
		if head&1 == 0 {
			continue
		}
		codeMean(c, &p.MeanEntryGap)
		for k := 0; k < len(p.MeanOuterEntryGaps) || c.Reader != nil && c.Reader.RemainingLen() > 0 && c.Reader.Remaining()[0] == 0; k++ {
			if c.Reader != nil {
				p.MeanOuterEntryGaps = append(p.MeanOuterEntryGaps, 0)
			}
			loop := 0
			wire.CodeBounded(c, &loop, 0)
			codeMean(c, &p.MeanOuterEntryGaps[k])
		}
	}
}

// appendPlacesOf appends the blob of a class. terminals has the terminal of each leaf.
func appendPlacesOf(b []byte, list []LeafMeanTimes, terminals []int32) ([]byte, error) {
	if len(list) == 0 {
		return b, nil
	}
	if last := list[len(list)-1].Leaf; last >= len(terminals) {
		return nil, fmt.Errorf("times of leaf %d of %d", last, len(terminals))
	}
	missing := make(map[int32]int) // by terminal: number of leaves that are not in list
	for _, t := range terminals {
		missing[t]++
	}
	// common has at first the means of the first leaf of each terminal with several leaves.
	x := placesBlob{common: make(map[int32]leafMeans)}
	for i := range list {
		t := terminals[list[i].Leaf]
		if _, known := x.common[t]; !known && missing[t] > 1 && math.IsNaN(list[i].MeanEntryGap) {
			x.common[t] = meansOf(&list[i])
		}
		missing[t]--
	}
	maps.DeleteFunc(x.common, func(t int32, _ leafMeans) bool { return missing[t] > 0 })
	for i := range list {
		if m, known := x.common[terminals[list[i].Leaf]]; !known || m != meansOf(&list[i]) || !math.IsNaN(list[i].MeanEntryGap) {
			x.own = append(x.own, list[i])
		}
	}
	return wire.AppendEncoded(b, func(c *wire.Coder) { x.code(c, len(terminals)) }), nil
}

// DecodeLeafMeanTimes reads the blob of a class. terminals has the terminal of each leaf.
func DecodeLeafMeanTimes(r *wire.Reader, terminals []int32) (list []LeafMeanTimes) {
	if r.RemainingLen() == 0 {
		return nil
	}
	x := placesBlob{common: make(map[int32]leafMeans)}
	if x.code(&wire.Coder{Reader: r}, len(terminals)); r.Err() != nil {
		return nil
	}
	if len(x.common) == 0 {
		return x.own
	}
	list = make([]LeafMeanTimes, 0, len(x.own)+len(x.common))
	for leaf, t := range terminals {
		if len(x.own) > 0 && x.own[0].Leaf == leaf {
			list, x.own = append(list, x.own[0]), x.own[1:]
		} else if m, known := x.common[t]; known {
			list = append(list, LeafMeanTimes{Leaf: leaf, MeanGap: unrounded(m.gap, meanBits), MeanDuration: unrounded(m.duration, meanBits), MeanEntryGap: math.NaN()})
		}
	}
	return list
}

// LeafTerminals returns the terminal of each leaf of a class's first thread.
func LeafTerminals(streams []*grammar.Grammar) []int32 {
	if len(streams) == 0 {
		return nil
	}
	return grammar.Unfold(streams[0], grammar.UnfoldLimit).OriginalTerminal
}

// meanBits is the number of mantissa bits kept of a mean, after the leading one.
const meanBits = 7

func codeMean(c *wire.Coder, f *float64) { codeRounded(c, f, meanBits) }

// A FirstCallMeanTimes is the mean times of the ranks' first calls at a leaf, in ns, if far longer than later ones.
type FirstCallMeanTimes struct {
	Leaf                  int
	MeanGap, MeanDuration float64
}

// appendFirsts returns the section of the first calls at leaves, which DecodeFirstCallMeanTimes reads. What section places has
// of these leaves is the mean of all calls, these included.
//
//	firsts = per class blob
//	blob   = (leaf - the one behind that before, gap mean, duration mean)…
func appendFirsts(classes []Class) []byte {
	blobs := make([][]byte, len(classes))
	for i := range classes {
		blobs[i] = wire.AppendEncoded(nil, func(c *wire.Coder) { codeFirsts(c, &classes[i].FirstCallMeanTimes, math.MaxInt32) })
	}
	return appendSome(nil, blobs)
}

// DecodeFirstCallMeanTimes reads the first calls of a class with that number of leaves.
func DecodeFirstCallMeanTimes(r *wire.Reader, leaves int) (list []FirstCallMeanTimes) {
	if codeFirsts(&wire.Coder{Reader: r}, &list, leaves); r.Err() != nil {
		return nil
	}
	return list
}

func codeFirsts(c *wire.Coder, list *[]FirstCallMeanTimes, leaves int) {
	next := 0
	for i := 0; !c.Failed() && (i < len(*list) || c.Reader != nil && c.Reader.RemainingLen() > 0); i++ {
		if c.Reader != nil {
			*list = append(*list, FirstCallMeanTimes{})
		}
		x := &(*list)[i]
		c.RefuseIf(next >= leaves, "a first call at leaf %d of %d", next, leaves)
		wire.CodeAbove(c, &x.Leaf, next, max(0, leaves-1-next))
		codeMean(c, &x.MeanGap)
		codeMean(c, &x.MeanDuration)
		next = x.Leaf + 1
	}
}

// appendMixed returns the section of the terminals whose times at single leaves are not known. DecodeUnknownLeafTimes reads
// it for one class.
//
//	mixed = per class blob
func appendMixed(classes []Class) []byte {
	blobs := make([][]byte, len(classes))
	for i := range classes {
		blobs[i] = wire.AppendEncoded(nil, func(c *wire.Coder) { codeMixed(c, &classes[i].TerminalsWithoutLeafTimes, 0) })
	}
	return appendSome(nil, blobs)
}

// DecodeUnknownLeafTimes reads the terminals of a class, which are below limit.
func DecodeUnknownLeafTimes(r *wire.Reader, limit int) (list []int) {
	if codeMixed(&wire.Coder{Reader: r}, &list, limit); r.Err() != nil {
		return nil
	}
	return list
}

// codeMixed writes or reads runs of rising terminals.
//
//	blob = (terminals between this run and the one before, terminals in the run - 1)…
func codeMixed(c *wire.Coder, list *[]int, limit int) {
	left, end := *list, uint64(0) // left has the terminals that are not yet written
	for !c.Failed() && (len(left) > 0 || c.Reader != nil && c.Reader.RemainingLen() > 0) {
		var first, more uint64
		if c.Reader == nil {
			first = uint64(left[0]) - end
			for more++; more < uint64(len(left)) && left[more] == left[0]+int(more); more++ {
			}
			left = left[more:]
			more--
		}
		wire.CodeUints(c, &first, &more)
		c.RefuseIf(first > uint64(limit) || more >= uint64(limit) || end+first+more >= uint64(limit), "terminals %d to %d of %d", end+first, end+first+more, limit)
		c.RefuseIf(first == 0 && end > 0, "two runs of terminals meet at %d", end)
		if end += first; c.Reader != nil && !c.Failed() {
			for n := range more + 1 {
				*list = append(*list, int(end+n))
			}
		}
		end += more + 1
	}
}
