package track

import (
	"encoding/binary"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// A Builder makes the track of a rank of its calls, which come one by one. The track that it holds has terminals
// in the order in which they came, and no streams.
type Builder struct {
	*Track
	known   map[string]uint32
	key     []byte
	streams []*grammar.Builder
}

// NewBuilder begins the track of a rank.
func NewBuilder(rank int) *Builder {
	return &Builder{Track: &Track{
		Rank: rank, Strings: make(map[uint64]string), Sites: make(map[uint64]Site), CallerSite: make(map[uint64]uint64), WithoutStack: make(map[uint64]uint64),
	}, known: make(map[string]uint32)}
}

// NewBuilderFrom begins with the calls of a track, which are known by number alone.
func NewBuilderFrom(t *Track) *Builder {
	own := *t
	return &Builder{Track: &own, known: make(map[string]uint32)}
}

// TerminalOf returns the terminal of a call. Calls that differ in apart alone are not the same. The values are kept.
func (b *Builder) TerminalOf(function uint16, site uint64, vals []int64, apart string) (n uint32, known bool) {
	b.key = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint16(b.key[:0], function), site)
	b.key = binary.AppendUvarint(b.key, uint64(len(vals)))
	for _, v := range vals {
		b.key = binary.AppendVarint(b.key, v)
	}
	b.key = append(b.key, apart...)
	n, known = b.known[string(b.key)]
	if !known {
		n = uint32(len(b.Signatures))
		b.known[string(b.key)] = n
		b.Signatures = append(b.Signatures, signature.Signature{Call: function, Site: site, Values: vals})
		b.Times = append(b.Track.Times, Times{})
	}
	return n, known
}

// Stream returns the calls of a thread so far, to which more are appended.
func (b *Builder) Stream(n int) *grammar.Builder {
	for len(b.streams) <= n {
		b.streams = append(b.streams, grammar.NewBuilder())
	}
	return b.streams[n]
}

// Grammars returns those of all streams, of one at least.
func (b *Builder) Grammars() (list []*grammar.Grammar) {
	b.Stream(0)
	for _, s := range b.streams {
		list = append(list, s.Grammar())
	}
	return list
}

// Finish returns a track with the terminals, in order, of the grammars, which it renames. order and number are
// those of Ordered.
func (b *Builder) Finish(grammars []*grammar.Grammar) (t *Track, order []uint32, number []int) {
	out := *b.Track
	out.Signatures, out.Times = nil, nil
	out.Streams, order, number = Ordered(grammars, len(b.Signatures))
	for _, n := range order {
		out.Signatures, out.Times = append(out.Signatures, b.Signatures[n]), append(out.Times, b.Times[n])
	}
	return &out, order, number
}

// Ordered renames the terminals of grammars, which are below n, by first occurrence. order has their old numbers,
// number by old numbers the new ones, -1 of what doesn't occur.
func Ordered(grammars []*grammar.Grammar, n int) (streams []Stream, order []uint32, number []int) {
	number = make([]int, n)
	for i := range number {
		number[i] = -1
	}
	for _, g := range grammars {
		for _, n := range g.Terminals() {
			if number[n] < 0 {
				number[n] = len(order)
				order = append(order, n)
			}
		}
		g.Rename(func(n uint32) uint32 { return uint32(number[n]) })
		streams = append(streams, Stream{Grammar: g})
	}
	return streams, order, number
}
