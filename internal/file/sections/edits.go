package sections

import (
	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/internal/grammar"
)

// Classes that differ in a few calls have lists of signatures that differ in a few places: a rank at the border of a
// grid lacks a neighbour, one higher up in a tree has one more child. If there are not too many classes, such lists are
// written as edits of an earlier class's list. All grammars precede all lists, which compresses best.
//
//	together = 255 uint8, per class: streams uvarint, grammars…,
//	           per class: varying counts,
//	           per class: back uvarint, signatures of the terminals if 0, else edits
//	edits    = hunks uvarint, per hunk: copied uvarint, left out uvarint, added uvarint, added varint…
//
// The edited list is that of the class this far back. The rest after the last hunk is copied, too. Signatures added are
// differences to the one before them in the list, at first to 0.
const (
	SharedSignaturesMark = 255
	// largest number of classes; with more, lists on their own are as short
	maxTogether = 256
	// largest product of the lengths of the differing parts of two lists for which the fewest edits are searched
	maxEditing = 1 << 14
)

// A ClassCommon is the decoded common part of a class's ranks.
type ClassCommon struct {
	Streams                    []*grammar.Grammar
	VaryingSymbols, Signatures []int

	// number of symbols in the grammars; sizes of the grammars and of the list of signatures in bytes
	SymbolCount, GrammarBytes, SignatureListBytes int
	SignaturesAreEdits                            bool
}

// codeTogether writes or reads all classes. A writer passes, for each class, the distance back to the class whose list
// is edited, and the encoded list.
func codeTogether(c *wire.Coder, list []ClassCommon, table *SignatureTable, back []int, how [][]byte) {
	tag := byte(SharedSignaturesMark)
	wire.CodeByte(c, &tag)
	at := func() int {
		if c.Reader == nil {
			return 0
		}
		return -c.Reader.RemainingLen()
	}
	for i := range list {
		x, from := &list[i], at()
		if grammar.CodeGrammarList(c, &x.Streams); c.Failed() {
			return
		}
		x.GrammarBytes = at() - from
	}
	for i := range list {
		column.CodeVaryingSymbols(c, &list[i].VaryingSymbols, list[i].Streams)
	}
	for i := range list {
		x, from := &list[i], at()
		if wire.CodeBounded(c, &back[i], i); c.Reader == nil {
			c.Buf = append(c.Buf, how[i]...)
			continue
		}
		if !c.Failed() {
			x.SignaturesAreEdits = back[i] > 0
			x.decodeList(c, list[i-back[i]].Signatures, table)
		}
		if c.Failed() {
			return
		}
		x.SignatureListBytes = at() - from
	}
}

func appendTogether(b []byte, list []column.CountedStreams, sigs [][]int, f *followed, packed func([]byte) int) []byte {
	back, how := edited(sigs)
	all := make([]ClassCommon, len(list))
	for i := range list {
		if all[i].Streams, all[i].VaryingSymbols = list[i].Grammars, list[i].VaryingSymbols; back[i] == 0 {
			how[i] = appendList(nil, sigs[i], true, f, packed)
		}
	}
	return wire.AppendEncoded(b, func(c *wire.Coder) { codeTogether(c, all, nil, back, how) })
}

// DecodeClasses reads what n classes have in common.
func DecodeClasses(r *wire.Reader, n int, table *SignatureTable) []ClassCommon {
	if n > maxTogether {
		r.Fail("%d classes together", n)
		return nil
	}
	list := make([]ClassCommon, n)
	if codeTogether(&wire.Coder{Reader: r}, list, table, make([]int, n), nil); r.Err() != nil {
		return nil
	}
	for i := range list {
		for _, g := range list[i].Streams {
			list[i].SymbolCount += g.SymbolCount()
		}
	}
	return list
}

// decodeList reads the signatures of the class's terminals, perhaps as edits of another list.
func (x *ClassCommon) decodeList(c *wire.Coder, of []int, table *SignatureTable) {
	terminals, ok := grammar.CountTerminals(x.Streams)
	if c.RefuseIf(!ok, "terminals are not numbered by first occurrence"); !ok {
		return
	}
	if !x.SignaturesAreEdits {
		x.Signatures = decodeList(c.Reader, terminals, table)
	} else {
		var hunks []hunk
		if codeEdits(c, of, &hunks); c.Failed() {
			return
		}
		x.Signatures = edit(of, hunks)
		c.RefuseIf(len(x.Signatures) != terminals, "%d signatures for %d terminals", len(x.Signatures), terminals)
	}
	listed(c.Reader, x.Signatures, table)
}

type hunk struct {
	copied, left int
	added        []int
}

// edits returns the hunks that turn from into list.
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
	// same[i][k] is the length of the longest common subsequence of a[i:] and b[k:].
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

// codeEdits writes or reads the hunks that turn from into another list.
func codeEdits(c *wire.Coder, from []int, hunks *[]hunk) {
	at, last := 0, 0
	wire.CodeList(c, hunks, 3, func(_ int, h *hunk) {
		wire.CodeBounded(c, &h.copied, len(from)-at)
		if at += h.copied; h.copied > 0 {
			last = from[at-1]
		}
		wire.CodeBounded(c, &h.left, len(from)-at)
		at += h.left
		wire.CodeList(c, &h.added, 1, func(_ int, s *int) {
			wire.CodeRelative(c, s, last)
			c.RefuseIf(*s < 0 || *s >= maxSignatures, "signature %d", *s)
			last = *s
		})
	})
}

// edit returns the list that results if hunks are applied to from.
func edit(from []int, hunks []hunk) (list []int) {
	for _, h := range hunks {
		list = append(append(list, from[:h.copied]...), h.added...)
		from = from[h.copied+h.left:]
	}
	return append(list, from...)
}

// edited returns, for each class, how far before it the class is whose list is edited (0: no list is), and the encoded
// edits.
func edited(sigs [][]int) (back []int, how [][]byte) {
	back, how = make([]int, len(sigs)), make([][]byte, len(sigs))
	for i, list := range sigs {
		least := len(list)
		for k := i - 1; k >= 0; k-- {
			if 2*len(list) < len(sigs[k]) {
				continue
			}
			hunks := edits(sigs[k], list)
			if e := wire.AppendEncoded(nil, func(c *wire.Coder) { codeEdits(c, sigs[k], &hunks) }); len(e) < least {
				least, back[i], how[i] = len(e), i-k, e
			}
		}
	}
	return back, how
}
