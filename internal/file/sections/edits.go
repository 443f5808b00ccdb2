package sections

import (
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// Classes that differ in a few calls have lists of signatures that differ in a
// few places: a rank at the border of a grid lacks a neighbour, one higher up in
// a tree has one more child. If there are not too many classes, such lists are written
// as what has to be done to that of a class before, and all grammars in front of
// all lists, as like stands best with like.
//
//	together = 255 uint8, per class: streams uvarint, grammars…,
//	           per class: varying counts,
//	           per class: back uvarint, signatures of the terminals if 0, else edits
//	edits    = hunks uvarint, per hunk: copied uvarint, left out uvarint, added uvarint, added varint…
//
// The list edited is that of the class so far back. What is behind the last hunk is copied,
// too. Signatures added are differences to the one before them in the list, at first to 0.
const (
	Together    = 255
	maxTogether = 256     // classes; with more, a list's own form is as good
	maxEditing  = 1 << 14 // places compared to find the least edits
)

// A Common is what the ranks of a class have in common, once read.
type Common struct {
	Streams       []*grammar.Grammar
	Varying, Sigs []int

	Symbols, Grammars, List int // how many symbols; bytes of the grammars, of the list
	Edited                  bool
}

func appendTogether(b []byte, list []column.Streams, sigs [][]int, f *followed, packed func([]byte) int) []byte {
	b = append(b, Together)
	for i := range list {
		b = grammar.AppendAll(b, list[i].List)
	}
	for i := range list {
		b = column.AppendVarying(b, list[i].Varying)
	}
	back, how := edited(sigs)
	for i := range list {
		if b = wire.AppendUvarint(b, uint64(back[i])); back[i] > 0 {
			b = append(b, how[i]...)
		} else {
			b = appendList(b, sigs[i], true, f, packed)
		}
	}
	return b
}

// DecodeTogether reads what n classes have in common.
func DecodeTogether(r *wire.Reader, n int, table *SignatureTable) []Common {
	if n > maxTogether {
		r.Fail("%d classes together", n)
	}
	if r.Byte(); r.Err() != nil {
		return nil
	}
	list := make([]Common, n)
	for i := range list {
		c := &list[i]
		rest := r.Rest()
		if c.Streams = grammar.ReadAll(r, r.Count(1)); r.Err() != nil {
			return nil
		}
		for _, g := range c.Streams {
			c.Symbols += g.Symbols()
		}
		c.Grammars = rest - r.Rest()
	}
	for i := range list {
		list[i].Varying = column.DecodeVarying(r, list[i].Streams)
	}
	for i := range list {
		c := &list[i]
		terminals, ok := grammar.Terminals(c.Streams)
		if !ok {
			r.Fail("terminals are not numbered by first occurrence")
		}
		rest := r.Rest()
		back := r.Int(i)
		if r.Err() != nil {
			return nil
		}
		if back == 0 {
			c.Sigs = decodeList(r, terminals, table)
		} else {
			c.Edited = true
			var hunks []hunk
			if codeEdits(&wire.Coder{R: r}, list[i-back].Sigs, &hunks); r.Err() != nil {
				return nil
			}
			if c.Sigs = edit(list[i-back].Sigs, hunks); len(c.Sigs) != terminals {
				r.Fail("%d signatures for %d terminals", len(c.Sigs), terminals)
			}
		}
		if !listed(r, c.Sigs, table) {
			return nil
		}
		c.List = rest - r.Rest()
	}
	return list
}

type hunk struct {
	copied, left int
	added        []int
}

// edits returns what makes list out of from.
func edits(from, list []int) []hunk {
	head := 0
	for head < len(from) && head < len(list) && from[head] == list[head] {
		head++
	}
	tail := 0
	for tail < len(from)-head && tail < len(list)-head && from[len(from)-1-tail] == list[len(list)-1-tail] {
		tail++
	}
	a, b := from[head:len(from)-tail], list[head:len(list)-tail]
	if len(a)+len(b) == 0 {
		return nil
	}
	if len(a)*len(b) > maxEditing {
		return []hunk{{head, len(a), b}}
	}
	// same[i][k] is how much a[i:] and b[k:] can have in common.
	same := make([][]int, len(a)+1)
	for i := range same {
		same[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if same[i][k] = max(same[i+1][k], same[i][k+1]); a[i] == b[k] {
				same[i][k] = same[i+1][k+1] + 1
			}
		}
	}
	var hunks []hunk
	copied := head
	for i, k := 0, 0; i < len(a) || k < len(b); {
		if i < len(a) && k < len(b) && a[i] == b[k] {
			i, k, copied = i+1, k+1, copied+1
			continue
		}
		h := hunk{copied: copied}
		for i < len(a) || k < len(b) {
			switch {
			case i < len(a) && k < len(b) && a[i] == b[k]:
			case i < len(a) && same[i+1][k] == same[i][k]:
				i++
				h.left++
				continue
			default:
				h.added = append(h.added, b[k])
				k++
				continue
			}
			break
		}
		hunks = append(hunks, h)
		copied = 0
	}
	return hunks
}

// codeEdits: what makes another list out of from.
func codeEdits(c *wire.Coder, from []int, hunks *[]hunk) {
	at, last := 0, 0
	wire.List(c, hunks, 3, func(_ int, h *hunk) {
		wire.Int(c, &h.copied, len(from)-at)
		if at += h.copied; h.copied > 0 {
			last = from[at-1]
		}
		wire.Int(c, &h.left, len(from)-at)
		at += h.left
		wire.List(c, &h.added, 1, func(_ int, s *int) {
			wire.From(c, s, last)
			c.Refuse(*s < 0 || *s >= maxSignatures, "signature %d", *s)
			last = *s
		})
	})
}

// edit makes the list of which hunks are the edits of from.
func edit(from []int, hunks []hunk) (list []int) {
	for _, h := range hunks {
		list = append(append(list, from[:h.copied]...), h.added...)
		from = from[h.copied+h.left:]
	}
	return append(list, from...)
}

// edited returns for each class how far before it the class is out of whose list
// its own is made, 0 for none, and the edits.
func edited(sigs [][]int) (back []int, how [][]byte) {
	back, how = make([]int, len(sigs)), make([][]byte, len(sigs))
	for i, list := range sigs {
		least := len(list)
		for k := i - 1; k >= 0; k-- {
			if 2*len(list) < len(sigs[k]) {
				continue
			}
			hunks := edits(sigs[k], list)
			if e := wire.Append(nil, func(c *wire.Coder) { codeEdits(c, sigs[k], &hunks) }); len(e) < least {
				least, back[i], how[i] = len(e), i-k, e
			}
		}
	}
	return back, how
}
