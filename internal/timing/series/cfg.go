package series

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/grammar"
)

// CFG is the paper's grammar: a Sequitur grammar of the numbers of cells, one
// for the gaps and one for the durations.
type CFG struct{}

// Name implements Codec.
func (CFG) Name() string { return "cfg" }

// Append implements Codec.
func (CFG) Append(dst []byte, b Batch, c *Calls) ([]byte, error) {
	return appendCells(dst, b, c, cfgCells)
}

// Decode implements Codec.
func (CFG) Decode(src []byte, want Lists, c *Calls) (Batch, error) {
	return decodeCells(src, want, c, cfgCells)
}

var cfgCells = cellCodec{
	append: func(dst []byte, list []int32, _ *planned) []byte {
		g := grammar.NewBuilder()
		for _, v := range list {
			g.Append(uint32(v))
		}
		plain := g.Grammar().AppendBinary(nil)
		return appendZstd(appendSize(dst, plain), plain)
	},
	decode: func(src []byte, p *planned) ([]int32, error) {
		n := len(p.keys)
		plain, err := expandSized(src, 32+16*n)
		if err != nil {
			return nil, err
		}
		g, _, err := grammar.Decode(plain)
		if err != nil {
			return nil, err
		}
		if l := g.Len(); l != uint64(n) {
			return nil, fmt.Errorf("a grammar of %d times, want %d", l, n)
		}
		list := make([]int32, 0, n)
		for v := range g.All() {
			list = append(list, int32(v))
		}
		return list, nil
	},
}

// appendSize and expandSized are for compressed data whose size is not known
// from elsewhere, but bounded.
func appendSize(dst, plain []byte) []byte { return appendUint(dst, len(plain)) }

func expandSized(src []byte, limit int) ([]byte, error) {
	size, src, err := uvarint(src)
	if err != nil {
		return nil, err
	}
	if size > uint64(limit) {
		return nil, fmt.Errorf("%d bytes, at most %d expected", size, limit)
	}
	return expandZstd(src, int(size))
}
