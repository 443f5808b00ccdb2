package sections

import (
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
)

// appendMeta and DecodeMeta: pairs of strings, by key.
//
//	meta = count, (key string, value string)…
func appendMeta(b []byte, meta map[string]string) []byte {
	b = wire.AppendUvarint(b, uint64(len(meta)))
	for _, key := range slices.Sorted(maps.Keys(meta)) {
		b = wire.AppendString(b, key)
		b = wire.AppendString(b, meta[key])
	}
	return b
}

// DecodeMeta reads what appendMeta wrote.
func DecodeMeta(r *wire.Reader) map[string]string {
	meta := make(map[string]string)
	last := ""
	for i := range r.Count(2) {
		key := r.String()
		if i > 0 && key <= last {
			r.Fail("keys out of order")
			return nil
		}
		meta[key], last = r.String(), key
	}
	return meta
}

// appendStrings and DecodeStrings: texts by the hashes that stand for them in
// signatures.
//
//	strings = count, (hash uint64, text string)… by hash
func appendStrings(b []byte, table map[uint64]string) []byte {
	if len(table) == 0 {
		return b
	}
	b = wire.AppendUvarint(b, uint64(len(table)))
	for _, h := range slices.Sorted(maps.Keys(table)) {
		b = wire.AppendUint64(b, h)
		b = wire.AppendString(b, table[h])
	}
	return b
}

// DecodeStrings reads what appendStrings wrote.
func DecodeStrings(r *wire.Reader) map[uint64]string {
	table := make(map[uint64]string)
	last := uint64(0)
	for i := range r.Count(9) {
		h := r.Uint64()
		if i > 0 && h <= last {
			r.Fail("hashes out of order")
			return nil
		}
		table[h], last = r.String(), h
	}
	return table
}
