package series

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// A cells is one list of times as numbers of cells, and what the cells don't
// say where times are kept exactly.
type cells struct {
	list []int32
	rest wire.BitWriter
}

// cellsOf cuts times into cells.
func cellsOf(values []uint64, keys []uint32, byKey []*levels) *cells {
	c := &cells{list: make([]int32, len(values))}
	for i, x := range values {
		cell, rest, width := byKey[keys[i]].split(x)
		c.list[i] = cell
		c.rest.Put(rest, width)
	}
	return c
}

// timesOf does the reverse: rest is what cells have in rest.
func timesOf(list []int32, keys []uint32, byKey []*levels, rest []byte) ([]uint64, error) {
	r := wire.BitReader{In: rest}
	values := make([]uint64, len(list))
	for i, n := range list {
		l := byKey[keys[i]]
		if n < 0 || n >= l.count() {
			return nil, fmt.Errorf("time %d: no cell %d", i, n)
		}
		values[i] = l.join(n, r.Get(l.open(n)))
	}
	if r.Over() {
		return nil, errShort
	}
	return values, nil
}

// A cellCodec is the part in which codecs of cells differ: it writes and reads
// one list.
type cellCodec struct {
	append func(dst []byte, list []int32, p *planned) []byte
	decode func(src []byte, p *planned) ([]int32, error)
	// clustered: times of a key are put together, keys in order of first use.
	clustered bool
}

// appendCells appends the lists of a batch.
//
//	per list: blob of cells, blob of what they don't say
func appendCells(dst []byte, b Batch, c *Calls, f cellCodec) ([]byte, error) {
	if _, err := b.lists(c); err != nil {
		return nil, err
	}
	p := plan(c, f.clustered)
	for _, list := range [][]uint64{b.Gaps, b.Durations} {
		if list == nil {
			continue
		}
		cells := cellsOf(p.permute(list), p.keys, p.levels)
		dst = appendBlob(dst, f.append(nil, cells.list, p))
		dst = appendBlob(dst, cells.rest.Finish())
	}
	return dst, nil
}

func decodeCells(src []byte, want Lists, c *Calls, f cellCodec) (b Batch, err error) {
	if err := c.check(); err != nil {
		return Batch{}, err
	}
	p := plan(c, f.clustered)
	for i, to := range []*[]uint64{&b.Gaps, &b.Durations} {
		if want>>i&1 == 0 {
			continue
		}
		var coded, rest []byte
		if coded, src, err = blob(src); err == nil {
			rest, src, err = blob(src)
		}
		if err != nil {
			return Batch{}, err
		}
		list, err := f.decode(coded, p)
		if err != nil {
			return Batch{}, err
		}
		values, err := timesOf(list, p.keys, p.levels, rest)
		if err != nil {
			return Batch{}, err
		}
		*to = p.restore(values)
	}
	return b, nil
}

// A planned says in which order the times of a batch are coded, and what is
// known of each.
type planned struct {
	keys   []uint32 // numbers of keys, in the order of coding
	groups []uint32 // by number
	levels []*levels
	order  []int32 // position in the batch of what is coded; nil: the same

	bins, sample int // see Calls
}

func plan(c *Calls, clustered bool) *planned {
	keys, first := dense(c.Keys)
	p := &planned{keys: keys, bins: c.Bins, sample: c.Sample}
	p.groups, p.levels = groupsOf(c, first)
	if !clustered {
		return p
	}
	next := make([]int32, len(first)+1)
	for _, k := range keys {
		next[k+1]++
	}
	for k := range first {
		next[k+1] += next[k]
	}
	p.order, p.keys = make([]int32, len(keys)), make([]uint32, len(keys))
	for i, k := range keys {
		p.order[next[k]], p.keys[next[k]] = int32(i), k
		next[k]++
	}
	return p
}

// permute returns a list in the order of coding, restore the reverse.
func (p *planned) permute(list []uint64) []uint64 {
	if p.order == nil {
		return list
	}
	out := make([]uint64, len(list))
	for i, at := range p.order {
		out[i] = list[at]
	}
	return out
}

func (p *planned) restore(list []uint64) []uint64 {
	if p.order == nil {
		return list
	}
	out := make([]uint64, len(list))
	for i, at := range p.order {
		out[at] = list[i]
	}
	return out
}
