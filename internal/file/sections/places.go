package sections

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// Placed is the mean times of the calls at one leaf, in nanoseconds, where they are not
// those of all calls that look alike. It is of the first thread of a class; see Leaves.
type Placed struct {
	Leaf          int
	Gap, Duration float64
	Entry         float64 // gap before a call with which a loop is entered; NaN: as the others
	// Outer are those before the calls with which the next loop around is entered, too, then the one around that, and so on.
	Outer []float64
}

// appendPlacesOf and DecodePlaces: what leaves have of their own.
//
//	places = per class blob
//	blob   = terminals uvarint, per terminal: (number - the one behind that before) uvarint, gap mean, duration mean,
//	         (2·(leaf, as a difference to the one before) + entry) uvarint, gap mean, duration mean,
//	         entry mean if it is 1, (0 uvarint, mean of outer loops)…
//
// A mean has eight significant bits. What a terminal has is that of all of its leaves, but for those that stand there themselves.

// leafMeans are means as a file has them.
type leafMeans struct{ gap, duration int }

func meansOf(p *Placed) leafMeans {
	return leafMeans{Rounded(p.Gap, meanBits), Rounded(p.Duration, meanBits)}
}

// appendPlacesOf is of a class whose leaves are of these terminals.
func appendPlacesOf(b []byte, list []Placed, terminals []int32) ([]byte, error) {
	if len(list) == 0 {
		return b, nil
	}
	if last := list[len(list)-1].Leaf; last >= len(terminals) {
		return nil, fmt.Errorf("times of leaf %d of %d", last, len(terminals))
	}
	missing := make(map[int32]int) // leaves by terminal, less those that are listed
	for _, t := range terminals {
		missing[t]++
	}
	common := make(map[int32]leafMeans) // of the first leaf of a terminal that has several
	for i := range list {
		t := terminals[list[i].Leaf]
		if _, known := common[t]; !known && missing[t] > 1 && math.IsNaN(list[i].Entry) {
			common[t] = meansOf(&list[i])
		}
		missing[t]--
	}
	maps.DeleteFunc(common, func(t int32, _ leafMeans) bool { return missing[t] > 0 })
	b = wire.AppendUvarint(b, uint64(len(common)))
	next := int32(0)
	for _, t := range slices.Sorted(maps.Keys(common)) {
		b = wire.AppendUvarint(b, uint64(t-next))
		b = wire.AppendUvarint(wire.AppendUvarint(b, uint64(common[t].gap)), uint64(common[t].duration))
		next = t + 1
	}
	last := 0
	for i := range list {
		p := &list[i]
		entry := uint64(1)
		if math.IsNaN(p.Entry) {
			entry = 0
			if m, known := common[terminals[p.Leaf]]; known && m == meansOf(p) {
				continue
			}
		}
		b = wire.AppendUvarint(b, uint64(p.Leaf-last)<<1|entry)
		last = p.Leaf
		b = appendMean(appendMean(b, p.Gap), p.Duration)
		if entry == 1 {
			b = appendMean(b, p.Entry)
			for _, mean := range p.Outer {
				b = appendMean(wire.AppendUvarint(b, 0), mean)
			}
		}
	}
	return b, nil
}

// DecodePlaces reads the blob of a class whose leaves are of these terminals.
func DecodePlaces(r *wire.Reader, terminals []int32) []Placed {
	if r.Rest() == 0 {
		return nil
	}
	common := make(map[int32]Placed)
	next := 0
	for range r.Count(3) {
		t := next + r.Int(math.MaxInt32-next)
		common[int32(t)] = Placed{Gap: decodeMean(r), Duration: decodeMean(r), Entry: math.NaN()}
		next = t + 1
	}
	var list []Placed
	leaf := 0 // the next one
	until := func(end int) {
		for ; leaf < end; leaf++ {
			if p, known := common[terminals[leaf]]; known {
				p.Leaf = leaf
				list = append(list, p)
			}
		}
	}
	last := 0
	for first := true; r.Rest() > 0 && r.Err() == nil; first = false {
		head := r.Uvarint()
		if head == 0 && !first && !math.IsNaN(list[len(list)-1].Entry) {
			x := &list[len(list)-1]
			x.Outer = append(x.Outer, decodeMean(r))
			continue
		}
		if head>>1 == 0 && !first || head>>1 >= uint64(len(terminals)-last) {
			r.Fail("leaf %d and %d more of %d", last, head>>1, len(terminals))
			return nil
		}
		last += int(head >> 1)
		p := Placed{Leaf: last, Gap: decodeMean(r), Duration: decodeMean(r), Entry: math.NaN()}
		if head&1 != 0 {
			p.Entry = decodeMean(r)
		}
		until(last)
		list, leaf = append(list, p), last+1
	}
	until(len(terminals))
	return list
}

// Leaves are the terminals of the leaves of a class's first thread.
func Leaves(streams []*grammar.Grammar) []int32 {
	if len(streams) == 0 {
		return nil
	}
	return grammar.Unfold(streams[0], grammar.UnfoldLimit).Terminal
}

// meanBits is how many bits behind the first one a mean keeps.
const meanBits = 7

func appendMean(b []byte, f float64) []byte { return appendRounded(b, f, meanBits) }

func decodeMean(r *wire.Reader) float64 { return DecodeRounded(r, meanBits) }

// appendMixed and DecodeMixed: the terminals of which it is not known what their calls at single places took.
//
//	mixed = per class blob
func appendMixed(classes []Class) []byte {
	blobs := make([][]byte, len(classes))
	for i := range classes {
		blobs[i] = wire.Append(nil, func(c *wire.Coder) { codeMixed(c, &classes[i].Mixed, 0) })
	}
	return appendSome(nil, blobs)
}

// DecodeMixed reads the terminals of a class, which are below limit.
func DecodeMixed(r *wire.Reader, limit int) (list []int) {
	if codeMixed(&wire.Coder{R: r}, &list, limit); r.Err() != nil {
		return nil
	}
	return list
}

// codeMixed: runs of rising terminals.
//
//	blob = (terminals between this run and the one before, terminals in the run - 1)…
func codeMixed(c *wire.Coder, list *[]int, limit int) {
	left, end := *list, uint64(0) // when writing
	for !c.Failed() && (len(left) > 0 || c.R != nil && c.R.Rest() > 0) {
		var first, more uint64
		if c.R == nil {
			first = uint64(left[0]) - end
			for more++; more < uint64(len(left)) && left[more] == left[0]+int(more); more++ {
			}
			left = left[more:]
			more--
		}
		wire.Uints(c, &first, &more)
		c.Refuse(first > uint64(limit) || more >= uint64(limit) || end+first+more >= uint64(limit), "terminals %d to %d of %d", end+first, end+first+more, limit)
		c.Refuse(first == 0 && end > 0, "two runs of terminals meet at %d", end)
		if end += first; c.R != nil && !c.Failed() {
			for n := range more + 1 {
				*list = append(*list, int(end+n))
			}
		}
		end += more + 1
	}
}
