package trace

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/container"
	"github.com/spoor-hpc/spoor/internal/counts"
	"github.com/spoor-hpc/spoor/internal/grammar"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// A terminal is a parametric signature together with what stands with the
// class.
type terminal struct {
	group *group
	sig   int           // within the group
	site  int           // with its stack; the group's is the innermost frame alone
	seqs  []*column.Seq // of the values that need one, in order
}

// key tells the terminal from others of its class as far as the trace does without columns.
func (t *terminal) key() callKey { return callKey{t.group, t.sig, t.site} }

// vals evaluates the signature for a rank, the i-th of its class.
func (t *terminal) vals(c *class, i, rank, size int) []int64 {
	vals := make([]int64, t.group.width)
	k := 0
	for p := range vals {
		list, at := t.group.list(t.sig, p)
		v := column.Value{Form: list.At(at)}
		switch {
		case v.Form.Kind == column.Like, v.Form.Kind == column.Local:
			c.refer(&v)
		case v.Form.Kind.Columns():
			v.Seq = t.seqs[k]
			k++
		}
		vals[p] = v.At(i, int64(rank), int64(size))
	}
	if f := t.group.function; f != nil { // nil: it has no sums
		fillIn(f, vals)
	}
	return vals
}

// refer looks up the columns that a form refers to.
func (c *class) refer(v *column.Value) {
	of, size := v.Form.Refs()
	v.Seq = c.stored[of]
	if size >= 0 {
		v.Size = c.stored[size]
	}
}

// streamsOf returns the streams of a rank, the i-th of the class.
func (c *class) streamsOf(i, rank int) ([]*grammar.Grammar, error) {
	if len(c.varying) == 0 {
		return c.streams, nil
	}
	return counts.With(c.streams, c.varying, func(k int) int64 { return c.counts[k].At(i, int64(rank)) })
}

// common returns what the ranks of a class have in common.
func (r *Reader) common(t *tables, n int) (c common, err error) {
	if t.together != nil {
		return t.together[n], nil
	}
	w := wire.NewReader(t.classes[n], fmt.Sprintf("class %d", n))
	c.streams, c.varying, c.sigs = decodeClass(w, t.sigs)
	if err := w.Done(); err != nil {
		return c, r.failed(container.Classes, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	return c, nil
}

// classAt decodes a class, once.
func (r *Reader) classAt(n int) (*class, error) {
	t, err := r.tables()
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.class[n]; c != nil {
		return c, nil
	}
	c := &class{ranks: r.members[n]}
	x, err := r.common(t, n)
	if err != nil {
		return nil, err
	}
	sigs := x.sigs
	c.streams, c.varying = x.streams, x.varying
	w := wire.NewReader(t.columns[n], fmt.Sprintf("class %d", n))
	for range c.varying {
		c.counts = append(c.counts, column.DecodeSeq(w, c.ranks))
	}
	for _, s := range sigs {
		var term terminal
		var ok bool
		if term.group, term.sig, term.site, ok = t.sigs.call(s, t.siteList); !ok {
			return nil, r.failed(container.Signatures, fmt.Errorf("call %d is of no signature, or elsewhere: %w", s, ErrFormat))
		}
		for p := range term.group.width {
			list, at := term.group.list(term.sig, p)
			kind := list.Kind(at)
			if kind == column.Like || kind == column.Local {
				if f := list.At(at); !f.Within(len(c.stored), c.ranks, r.Ranks()) {
					of, size := f.Refs()
					w.Fail("value like columns %d and %d of %d, which it can't be", of, size, len(c.stored))
				}
			}
			if !kind.Columns() {
				continue
			}
			seq := column.DecodeSeq(w, c.ranks)
			if seq == nil {
				break
			}
			term.seqs = append(term.seqs, seq)
			if kind == column.Stored {
				c.stored = append(c.stored, seq)
			}
		}
		if w.Err() != nil {
			break
		}
		c.terminals = append(c.terminals, term)
	}
	if t.sigs.sites != nil {
		c.stackless = likes(len(c.terminals), func(i int) callKey { return c.terminals[i].key() })
	}
	if err := w.Done(); err != nil {
		return nil, r.failed(container.Columns, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	blobs, err := r.lanes()
	if err != nil {
		return nil, err
	}
	w = wire.NewReader(blobs[n], fmt.Sprintf("class %d", n))
	c.lanes = decodeLanes(w, c)
	if err := w.Done(); err != nil {
		return nil, r.failed(container.Lanes, fmt.Errorf("%w: %w", err, ErrFormat))
	}
	r.class[n] = c
	return c, nil
}
