package merge

import (
	"spoor/internal/grammar"
	"spoor/internal/track"
	"spoor/internal/wire"
)

// A shape is what the ranks of a class have in common: grammars without the
// numbers of repetitions, and skeletons of signatures. Its encoding is the key
// of the class.
type shape struct {
	streams   []*grammar.Grammar // repeated symbols have the count placeholder
	repeats   int                // number of repeated symbols
	skeletons []skeleton
	width     int // number of values of all terminals
	layout
	like []int // per terminal: the first one with an equal skeleton
}

// finish fills in what follows from the skeletons.
func (s *shape) finish() {
	s.layout = layoutOf(s.skeletons)
	s.like = make([]int, len(s.skeletons))
	first := make(map[skeleton]int)
	for i, k := range s.skeletons {
		// Calls repeat those a few places before.
		if i > 0 && k == s.skeletons[i-1] {
			s.like[i] = s.like[i-1]
			continue
		}
		n, ok := first[k]
		if !ok {
			n = i
			first[k] = i
		}
		s.like[i] = n
	}
}

// A skeleton is a signature without its values.
type skeleton struct {
	call  uint16
	site  uint64
	width int
}

// placeholder stands for any count above 1.
const placeholder = 2

// key encodes the shape of a track and returns it with the counts left out, in
// order of streams, rules and symbols, and with the shape. Ranks whose loops are the same but run
// unequally often so have the same key.
//
//	streams, grammars…, terminals, (call uvarint, site uint64, values uvarint)…
func key(tr *track.Track) (string, *shape, []int64) {
	var counts []int64
	sh := &shape{}
	b := wire.AppendUvarint(nil, uint64(len(tr.Streams)))
	for _, st := range tr.Streams {
		g := st.Grammar.Renumber(func(t uint32) uint32 { return t })
		for _, body := range g.Rules {
			for i := range body {
				if body[i].Count > 1 {
					counts = append(counts, int64(body[i].Count))
					body[i].Count = placeholder
				}
			}
		}
		b = g.AppendBinary(b)
		sh.streams = append(sh.streams, g)
	}
	sh.repeats = len(counts)
	sh.skeletons, sh.width = skeletonsOf(tr)
	sh.finish()
	b = wire.AppendUvarint(b, uint64(len(tr.Sigs)))
	for i := range tr.Sigs {
		b = wire.AppendUvarint(b, uint64(tr.Sigs[i].Call))
		b = wire.AppendUint64(b, tr.Sigs[i].Site)
		b = wire.AppendUvarint(b, uint64(len(tr.Sigs[i].Vals)))
	}
	return string(b), sh, counts
}

// skeletonsOf returns the skeletons of a track's signatures, and how many values
// these have together.
func skeletonsOf(tr *track.Track) (list []skeleton, width int) {
	list = make([]skeleton, len(tr.Sigs))
	for i := range tr.Sigs {
		s := &tr.Sigs[i]
		list[i] = skeleton{s.Call, s.Site, len(s.Vals)}
		width += len(s.Vals)
	}
	return list, width
}

// shape returns what the class's key says.
func (c *class) shape() *shape {
	if c.decoded == nil {
		sh, err := decodeKey(c.key)
		if err != nil {
			panic(err) // the key was made or checked by this package
		}
		c.decoded = &sh
	}
	return c.decoded
}

func decodeKey(key string) (shape, error) {
	var s shape
	r := wire.NewReader([]byte(key), "class key")
	for range r.Count(1) {
		g, n, err := grammar.Decode(r.Remaining())
		r.Check(err)
		if r.Err() != nil {
			return s, r.Err()
		}
		r.Skip(n)
		s.streams = append(s.streams, g)
		for _, body := range g.Rules {
			for _, sym := range body {
				if sym.Count > 1 {
					s.repeats++
				}
			}
		}
	}
	for range r.Count(10) {
		k := skeleton{r.Uint16(), r.Uint64(), r.Int(1 << 30)}
		s.skeletons = append(s.skeletons, k)
		s.width += k.width
	}
	s.finish()
	return s, r.Done()
}
