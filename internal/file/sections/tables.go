package sections

import "github.com/spoor-hpc/spoor/internal/file/wire"

// DecodeMeta reads the section of metadata: strings by key.
//
//	meta = count, (key string, value string)…
func DecodeMeta(r *wire.Reader) map[string]string {
	meta := make(map[string]string)
	codeMeta(&wire.Coder{Reader: r}, meta)
	return meta
}

func appendMeta(meta map[string]string) []byte {
	return wire.AppendEncoded(nil, func(c *wire.Coder) { codeMeta(c, meta) })
}

func codeMeta(c *wire.Coder, meta map[string]string) {
	wire.CodeMap(c, meta, 2, func(key, value *string) {
		c.String(key)
		c.String(value)
	})
}

// DecodeStrings reads texts by the hashes that signatures have for them.
//
//	strings = count, (hash uint64, text string)… by hash
func DecodeStrings(r *wire.Reader) map[uint64]string {
	table := make(map[uint64]string)
	codeStrings(&wire.Coder{Reader: r}, table)
	return table
}

func codeStrings(c *wire.Coder, table map[uint64]string) {
	wire.CodeMap(c, table, 9, func(hash *uint64, text *string) {
		c.Uint64(hash)
		c.String(text)
	})
}
