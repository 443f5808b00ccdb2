package track

import (
	"encoding/binary"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
)

// A Builder makes a rank's track from its calls, one by one. Until Finish, terminals of the track are in the order of
// their first FindOrAddTerminal, and it has no streams.
type Builder struct {
	*Track
	known   map[string]uint32
	key     []byte
	streams []*grammar.Builder
}

// NewBuilder returns a builder for a rank's track.
func NewBuilder(rank int) *Builder {
	return &Builder{Track: &Track{
		Rank: rank, Strings: make(map[uint64]string), Sites: make(map[uint64]Site), CallerSite: make(map[uint64]uint64), SiteWithoutStack: make(map[uint64]uint64),
	}, known: make(map[string]uint32)}
}

// NewBuilderFrom returns a builder that starts with the terminals of track t. FindOrAddTerminal makes a new terminal
// even for a call that t has.
func NewBuilderFrom(t *Track) *Builder {
	own := *t
	return &Builder{Track: &own, known: make(map[string]uint32)}
}

// FindOrAddTerminal returns the terminal of a distinct call; known reports whether it existed before. Calls with
// different strings apart get different terminals. FindOrAddTerminal keeps vals.
func (b *Builder) FindOrAddTerminal(function uint16, site uint64, vals []int64, apart string) (n uint32, known bool) {
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
		b.Signatures = append(b.Signatures, signature.Signature{FunctionID: function, Site: site, Values: vals})
		b.Times = append(b.Track.Times, Times{})
	}
	return n, known
}

// Stream returns the builder of the sequence of calls of thread n.
func (b *Builder) Stream(n int) *grammar.Builder {
	for len(b.streams) <= n {
		b.streams = append(b.streams, grammar.NewBuilder())
	}
	return b.streams[n]
}

// Grammars returns the grammars of all streams. There is at least one, if only of no calls.
func (b *Builder) Grammars() (list []*grammar.Grammar) {
	b.Stream(0)
	for _, s := range b.streams {
		list = append(list, s.Grammar())
	}
	return list
}

// Finish returns the track with the given grammars as streams, and only those terminals that occur in them. It
// renumbers terminals in the grammars. order and number are as in RenumberTerminals.
func (b *Builder) Finish(grammars []*grammar.Grammar) (t *Track, order []uint32, number []int) {
	out := *b.Track
	out.Signatures, out.Times = nil, nil
	out.Streams, order, number = RenumberTerminals(grammars, len(b.Signatures))
	for _, n := range order {
		out.Signatures, out.Times = append(out.Signatures, b.Signatures[n]), append(out.Times, b.Times[n])
	}
	return &out, order, number
}

// RenumberTerminals renumbers the terminals of grammars, all below n, by first occurrence. order is the old number of
// each new terminal. number is the new number of each old terminal, -1 if it does not occur.
func RenumberTerminals(grammars []*grammar.Grammar, n int) (streams []Stream, order []uint32, number []int) {
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
		g.RenumberInPlace(func(n uint32) uint32 { return uint32(number[n]) })
		streams = append(streams, Stream{Grammar: g})
	}
	return streams, order, number
}
