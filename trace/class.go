package trace

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// common decodes what all ranks of class n have in common: grammars, which repetition counts vary, and signatures.
func (r *Reader) common(t *tables, n int) (c sections.ClassCommon, err error) {
	if t.together != nil {
		return t.together[n], nil
	}
	err = r.ofClass(container.SectionClasses, n, t.classes[n], func(w *wire.Reader) { c.Streams, c.VaryingSymbols, c.Signatures = sections.DecodeClass(w, t.sigs) })
	return c, err
}

// classAt returns class n, which is decoded at its first use.
func (r *Reader) classAt(n int) (*sections.DecodedClass, error) {
	t, err := r.tables()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.class[n]; c != nil {
		return c, nil
	}
	x, err := r.common(t, n)
	if err != nil {
		return nil, err
	}
	c := &sections.DecodedClass{Ranks: r.members[n], Streams: x.Streams, VaryingSymbols: x.VaryingSymbols}
	if err := r.ofClass(container.SectionColumns, n, t.columns[n], func(w *wire.Reader) { r.readColumns(w, c, t, x.Signatures) }); err != nil {
		return nil, err
	}
	if t.sigs.HasStacks() {
		c.FirstAlikeButForStack = sections.FirstsAlikeButForStack(len(c.Terminals), func(i int) sections.CallKey { return c.Terminals[i].Key() })
	}
	blobs, err := r.lanes()
	if err != nil {
		return nil, err
	}
	if err := r.ofClass(container.SectionLanes, n, blobs[n], func(w *wire.Reader) { c.Lanes = sections.DecodeLanes(w, c) }); err != nil {
		return nil, err
	}
	d, err := r.drawn()
	if err != nil {
		return nil, err
	}
	if d != nil {
		if err := c.DrawTripCounts(d, n); err != nil {
			return nil, r.failed(container.SectionSyntheticLoops, fmt.Errorf("class %d: %w: %w", n, err, ErrFormat))
		}
	}
	r.class[n] = c
	return c, nil
}

// readColumns reads the columns of a class: repetition counts and values that differ between its ranks. sigs are the
// numbers of the signatures of its terminals.
func (r *Reader) readColumns(w *wire.Reader, c *sections.DecodedClass, t *tables, sigs []int) {
	for range c.VaryingSymbols {
		c.RepetitionCounts = append(c.RepetitionCounts, column.DecodeSeq(w, c.Ranks))
	}
	c.Terminals = make([]sections.DecodedTerminal, 0, len(sigs))
	for _, s := range sigs {
		var term sections.DecodedTerminal
		term.Group, term.SignatureIndex, term.Site = t.sigs.DistinctCall(s)
		for p := range term.Group.ValueCount {
			list, at := term.Group.FormsOf(term.SignatureIndex, p)
			kind := list.Kind(at)
			if kind == column.KindOtherColumn || kind == column.KindOwnRankInColumn {
				if f := list.At(at); !f.ReferencesValid(len(c.StoredColumns), c.Ranks, r.Ranks()) {
					of, size := f.ReferredColumns()
					w.Fail("value like columns %d and %d of %d, which it can't be", of, size, len(c.StoredColumns))
				}
			}
			if !kind.NeedsColumn() {
				continue
			}
			seq := column.DecodeSeq(w, c.Ranks)
			if seq == nil {
				break
			}
			term.StoredValues = append(term.StoredValues, seq)
			if kind == column.KindAsStored {
				c.StoredColumns = append(c.StoredColumns, seq)
			}
		}
		if w.Err() != nil {
			return
		}
		c.Terminals = append(c.Terminals, term)
	}
}
