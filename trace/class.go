package trace

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/file/column"
	"github.com/spoor-hpc/spoor/internal/file/container"
	"github.com/spoor-hpc/spoor/internal/file/sections"
	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// common returns what the ranks of a class have in common.
func (r *Reader) common(t *tables, n int) (c sections.Common, err error) {
	if t.together != nil {
		return t.together[n], nil
	}
	w := wire.NewReader(t.classes[n], fmt.Sprintf("class %d", n))
	c.Streams, c.Varying, c.Sigs = sections.DecodeClass(w, t.sigs)
	if err := w.Done(); err != nil {
		return c, r.failed(container.Classes, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	return c, nil
}

// classAt decodes a class, once.
func (r *Reader) classAt(n int) (*sections.Decoded, error) {
	t, err := r.tables()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.class[n]; c != nil {
		return c, nil
	}
	c := &sections.Decoded{Ranks: r.members[n]}
	x, err := r.common(t, n)
	if err != nil {
		return nil, err
	}
	sigs := x.Sigs
	c.Streams, c.Varying = x.Streams, x.Varying
	w := wire.NewReader(t.columns[n], fmt.Sprintf("class %d", n))
	for range c.Varying {
		c.Counts = append(c.Counts, column.DecodeSeq(w, c.Ranks))
	}
	c.Terminals = make([]sections.DecodedTerminal, 0, len(sigs))
	for _, s := range sigs {
		var term sections.DecodedTerminal
		term.Group, term.Sig, term.Site = t.sigs.Call(s)
		for p := range term.Group.Width {
			list, at := term.Group.List(term.Sig, p)
			kind := list.Kind(at)
			if kind == column.Like || kind == column.Local {
				if f := list.At(at); !f.Within(len(c.Stored), c.Ranks, r.Ranks()) {
					of, size := f.Refs()
					w.Fail("value like columns %d and %d of %d, which it can't be", of, size, len(c.Stored))
				}
			}
			if !kind.Columns() {
				continue
			}
			seq := column.DecodeSeq(w, c.Ranks)
			if seq == nil {
				break
			}
			term.Seqs = append(term.Seqs, seq)
			if kind == column.Stored {
				c.Stored = append(c.Stored, seq)
			}
		}
		if w.Err() != nil {
			break
		}
		c.Terminals = append(c.Terminals, term)
	}
	if t.sigs.Stacked() {
		c.Stackless = sections.Likes(len(c.Terminals), func(i int) sections.CallKey { return c.Terminals[i].Key() })
	}
	if err := w.Done(); err != nil {
		return nil, r.failed(container.Columns, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	blobs, err := r.lanes()
	if err != nil {
		return nil, err
	}
	w = wire.NewReader(blobs[n], fmt.Sprintf("class %d", n))
	c.Lanes = sections.DecodeLanes(w, c)
	if err := w.Done(); err != nil {
		return nil, r.failed(container.Lanes, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	d, err := r.drawn()
	if err != nil {
		return nil, err
	}
	if d != nil {
		if err := c.Draw(d, n); err != nil {
			return nil, r.failed(container.Drawn, fmt.Errorf("class %d: %w: %w", n, err, ErrFormat))
		}
	}
	r.class[n] = c
	return c, nil
}
