// Package pilgrim compresses the tracks of all ranks as Pilgrim's authors describe it (TPDS 2022, sections 2.4 and
// 2.5), as a baseline. Partners are relative to the own rank; there is one table of distinct signatures; each
// distinct grammar is stored once; and Sequitur runs over all of them at last.
//
// It models sizes: nothing reads its output. In doubt it favours Pilgrim: it leaves out what Pilgrim doesn't record,
// uses the best names for requests, and adds a coding as varints with zstd, which Pilgrim lacks.
package pilgrim

import (
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/track"
	"github.com/spoor-hpc/spoor/mpi"
)

// Limits of a World: with more signatures or grammar symbols, it would need too much memory for a benchmark.
const (
	maxSignatures = 1 << 22
	maxSymbols    = 1 << 25
)

// A World collects the tracks of all ranks and stores each distinct signature and grammar once.
type World struct {
	sigs     map[string]uint32
	table    []byte // distinct signatures as varints
	plain    int    // bytes of the table of distinct signatures in Pilgrim's own format
	sites    map[uint64]uint64
	grammars map[string]int64
	unique   []*grammar.Grammar
	ofRank   []int64
	symbols  int
	full     bool
	ranks    int // number of added ranks
	names    []byte
	named    map[string]bool
}

// New returns an empty World for a number of ranks.
func New(ranks int) *World {
	return &World{
		sigs: make(map[string]uint32), sites: make(map[uint64]uint64),
		grammars: make(map[string]int64), ofRank: make([]int64, ranks), named: make(map[string]bool),
	}
}

// Add adds a rank's track. It returns false if no more tracks may be added, because a limit was exceeded.
func (w *World) Add(t *track.Track) bool {
	if w.full {
		return false
	}
	number := make([]uint32, len(t.Signatures))
	var key []byte
	for i := range t.Signatures {
		s := &t.Signatures[i]
		site, ok := w.sites[s.Site]
		if !ok {
			site = uint64(len(w.sites))
			w.sites[s.Site] = site
			// A reader without the program needs the names of module and function, and the site's offset.
			at := t.Sites[s.Site]
			w.name(at.Module + "\x00" + at.BuildID)
			w.names = binary.AppendUvarint(w.names, at.Offset)
			if call, ok := mpi.CallByID(s.FunctionID); ok {
				w.name(call.Name)
			}
		}
		vals := relative(s.FunctionID, s.Values, int64(t.Rank))
		key = binary.AppendUvarint(key[:0], uint64(s.FunctionID))
		key = binary.AppendUvarint(key, site)
		for _, v := range vals {
			key = binary.AppendVarint(key, v)
		}
		n, ok := w.sigs[string(key)]
		if !ok {
			n = uint32(len(w.sigs))
			w.sigs[string(key)] = n
			w.table = append(w.table, key...)
			// An entry is four integers (terminal, length of the key, count, mean duration), then the function in two
			// bytes and its arguments in four bytes each.
			w.plain += 4*4 + 2 + 4*len(vals)
		}
		number[i] = n
	}
	g := t.Streams[0].Grammar.Renumber(func(n uint32) uint32 { return number[n] })
	b := g.AppendBinary(nil)
	id, ok := w.grammars[string(b)]
	if !ok {
		id = int64(len(w.unique))
		w.grammars[string(b)] = id
		w.unique = append(w.unique, g)
		for _, body := range g.Rules {
			w.symbols += len(body)
		}
	}
	w.ofRank[t.Rank] = id
	w.ranks++
	w.full = len(w.sigs) > maxSignatures || w.symbols > maxSymbols
	return !w.full
}

// name appends a text to names unless it is there.
func (w *World) name(s string) {
	if !w.named[s] {
		w.named[s] = true
		w.names = append(append(w.names, s...), 0)
	}
}

// A Size is the size of a trace. If Add reached its limits, it is the size for the first ranks, a lower bound.
type Size struct {
	Known      bool
	Bound      bool // the sizes are lower bounds: Add reached its limits before the last rank
	Plain      int  // bytes in Pilgrim's own format: plain integers
	Packed     int  // bytes as varints, compressed with zstd
	Named      int  // bytes as varints with names of functions and call sites, compressed with zstd
	Signatures int
	Grammars   int
}

// Size returns the sizes of the trace of all added ranks.
func (w *World) Size() Size {
	s := Size{Known: true, Bound: w.full, Signatures: len(w.sigs), Grammars: len(w.unique)}
	// The last pass runs over all rules of all grammars, written as integers.
	last := grammar.NewBuilder()
	var once []byte
	for _, g := range w.unique {
		last.Append(uint32(len(g.Rules)))
		for _, body := range g.Rules {
			last.Append(uint32(len(body)))
			for _, x := range body {
				last.Append(uint32(x.TerminalOrRule<<1 ^ x.TerminalOrRule>>31))
				last.Append(uint32(x.Count))
			}
		}
		once = g.AppendBinary(once)
	}
	order := grammar.NewBuilder()
	for _, id := range w.ofRank[:w.ranks] {
		order.Append(uint32(id))
	}
	s.Plain = w.plain + ints(last.Grammar()) + ints(order.Grammar())
	ranks := order.Grammar().AppendBinary(nil)
	passed := last.Grammar().AppendBinary(nil)
	s.Packed = min(compressed(w.table, passed, ranks), compressed(w.table, once, ranks))
	s.Named = min(compressed(w.names, w.table, passed, ranks), compressed(w.names, w.table, once, ranks))
	return s
}

// ints is the size of a grammar in bytes, with four for each integer: number of rules; number and length of each rule;
// number and count of each of its symbols.
func ints(g *grammar.Grammar) int {
	n := 4
	for _, body := range g.Rules {
		n += 4 * (2 + 2*len(body))
	}
	return n
}

func compressed(parts ...[]byte) int {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderCRC(false),
		zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20), zstd.WithSingleSegment(true))
	if err != nil {
		panic(err) // the options are constants
	}
	defer e.Close()
	return len(e.EncodeAll(all, nil))
}

// relative returns a call's values with partners' ranks relative to the calling rank, and without values that Pilgrim
// doesn't record: members of new communicators and layouts of new datatypes.
func relative(id uint16, vals []int64, rank int64) []int64 {
	call, ok := mpi.CallByID(id)
	if !ok {
		panic("pilgrim: unknown call")
	}
	r := reader{vals: vals, rank: rank}
	r.take(1) // return code
	for i := range call.Params {
		p := &call.Params[i]
		if p.LargeOnly && !call.Large {
			continue
		}
		if p.HasEnterPart() {
			r.part(p)
		}
		if p.HasLeavePart() {
			r.part(p)
		}
	}
	return r.out
}

type reader struct {
	vals, out []int64
	rank      int64
}

func (r *reader) take(n int) {
	r.out = append(r.out, r.vals[:n]...)
	r.vals = r.vals[n:]
}

func (r *reader) partner() {
	v := r.vals[0]
	r.take(1)
	if v >= 0 {
		r.out[len(r.out)-1] = v - r.rank
	}
}

func (r *reader) part(p *mpi.Param) {
	n := int64(1)
	if p.Array {
		var summed bool
		if n, summed = signature.ArrayLength(r.vals[0]); summed {
			r.sums(int(n))
			return
		}
		r.take(1)
	}
	for range max(n, 0) {
		switch p.Kind {
		case mpi.KindBuffer:
			r.take(2)
		case mpi.KindRank:
			if p.Name == "root" {
				r.take(1)
			} else {
				r.partner()
			}
		case mpi.KindSplitColor, mpi.KindSplitKey:
			r.partner()
		case mpi.KindStatus:
			form := r.vals[0]
			r.take(1)
			switch form {
			case 1, 2:
				r.partner()
				r.take(3)
			case 4:
				r.take(1)
			}
		default:
			r.take(1)
		}
	}
}

// sums adds n displacements that the track leaves out because they are the sums of the counts, the n values before.
func (r *reader) sums(n int) {
	displs := slices.Clone(r.vals[:1+n])
	if !signature.RestoreSummedDispls(r.out[len(r.out)-1-n:], displs) {
		panic("pilgrim: no sums")
	}
	r.out = append(r.out, displs...)
	r.vals = r.vals[1+n:]
}
