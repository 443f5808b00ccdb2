package sections

import "github.com/spoor-hpc/spoor/internal/file/wire"

// appendMeta and DecodeMeta: pairs of strings, by key.
//
//	meta = count, (key string, value string)…
func appendMeta(b []byte, meta map[string]string) []byte {
	return wire.Append(b, func(c *wire.Coder) { codeMeta(c, meta) })
}

// DecodeMeta reads what appendMeta wrote.
func DecodeMeta(r *wire.Reader) map[string]string {
	meta := make(map[string]string)
	codeMeta(&wire.Coder{R: r}, meta)
	return meta
}

func codeMeta(c *wire.Coder, meta map[string]string) {
	wire.Map(c, meta, 2, func(key, value *string) {
		c.String(key)
		c.String(value)
	})
}

// appendStrings and DecodeStrings: texts by the hashes that stand for them in
// signatures.
//
//	strings = count, (hash uint64, text string)… by hash
func appendStrings(b []byte, table map[uint64]string) []byte {
	if len(table) == 0 {
		return b
	}
	return wire.Append(b, func(c *wire.Coder) { codeStrings(c, table) })
}

// DecodeStrings reads what appendStrings wrote.
func DecodeStrings(r *wire.Reader) map[uint64]string {
	table := make(map[uint64]string)
	codeStrings(&wire.Coder{R: r}, table)
	return table
}

func codeStrings(c *wire.Coder, table map[uint64]string) {
	wire.Map(c, table, 9, func(hash *uint64, text *string) {
		c.Uint64(hash)
		c.String(text)
	})
}
