package signature

import (
	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// CodeKeys codes the signatures from number first on. It calls insert for each signature that it reads. Signatures
// are never removed, so that the new ones complete an older copy.
func (t *Table) CodeKeys(c *wire.Coder, first int, insert func(Key) error) {
	n := t.Len() - first
	for c.Count(&n, 10); n > 0 && !c.Failed(); n-- {
		var call, site uint64
		var words []int64
		if c.Reader == nil {
			k := t.PeekKey(uint32(t.Len() - n))
			call, site, words = uint64(k[0]), k.Site(), k[KeyHeaderWords:]
		}
		wire.CodeUints(c, &call)
		c.Uint64(&site)
		if c.Integers(&words); c.Reader == nil || c.Failed() {
			continue
		}
		k := append(Key{int64(call), int64(site)}, words...)
		_, twice := t.LookUp(k)
		if c.RefuseIf(twice, "a signature appears twice"); !twice {
			c.RecordError(insert(k))
		}
	}
}

// CodeTimes codes the times of all signatures.
func (t *Table) CodeTimes(c *wire.Coder) {
	for n := range uint32(t.Len()) {
		duration, gap := t.TimesOf(n)
		codeStat(c, &duration)
		if codeStat(c, &gap); c.Failed() {
			return
		}
		if c.Reader != nil {
			*t.Times(n) = Times{duration, gap}
		}
	}
}

func codeStat(c *wire.Coder, s *model.Stat) {
	wire.CodeUints(c, &s.Count, &s.Sum, &s.Min, &s.Max, &s.Squares.Hi, &s.Squares.Lo)
}
