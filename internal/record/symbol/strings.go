package symbol

import (
	"encoding/binary"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// Strings stores strings by content hash.
type Strings struct {
	known Map // hash → 1 + index
	bytes []string
	hash  []uint64
	room  []byte
}

// StoreWords returns the content hash of the n bytes at the start of a record's words. words must be long enough.
func (t *Strings) StoreWords(words []uint64, n int) int64 {
	t.room = t.room[:0]
	for _, v := range words[:(n+7)/8] {
		t.room = binary.LittleEndian.AppendUint64(t.room, v)
	}
	return t.StoreBytes(t.room[:n])
}

// StoreBytes returns the content hash of bytes.
func (t *Strings) StoreBytes(b []byte) int64 {
	h := HashString(b)
	if t.known.Get(h) == 0 {
		t.add(h, string(b))
	}
	return int64(h)
}

func (t *Strings) add(h uint64, s string) {
	t.bytes = append(t.bytes, s)
	t.hash = append(t.hash, h)
	t.known.Set(h, int64(len(t.bytes)))
}

// Table returns all strings by hash.
func (t *Strings) Table() map[uint64]string {
	m := make(map[uint64]string, len(t.bytes))
	for i, s := range t.bytes {
		m[t.hash[i]] = s
	}
	return m
}

// Code codes the state.
func (t *Strings) Code(c *wire.Coder) {
	list := t.bytes
	if c.Reader != nil {
		*t = Strings{}
	}
	wire.CodeList(c, &list, 1, func(_ int, s *string) {
		if c.String(s); c.Reader != nil {
			t.add(HashString([]byte(*s)), *s)
		}
	})
}
