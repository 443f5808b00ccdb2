package trace

import (
	"cmp"
	"maps"
	"slices"

	"spoor/internal/wire"
)

// appendMeta and decodeMeta: pairs of strings, by key.
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

func decodeMeta(r *wire.Reader) map[string]string {
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

// appendSchema and decodeSchema: functions, by id.
func appendSchema(b []byte, schema []Function) []byte {
	b = wire.AppendUvarint(b, uint64(len(schema)))
	for i := range schema {
		b = appendFunction(b, &schema[i])
	}
	return b
}

func decodeSchema(r *wire.Reader) []*Function {
	var list []*Function
	for range r.Count(5) {
		f := decodeFunction(r)
		if r.Err() != nil {
			return nil
		}
		if n := len(list); n > 0 && list[n-1].ID >= f.ID {
			r.Fail("function %q out of order", f.Name)
			return nil
		}
		list = append(list, &f)
	}
	return list
}

// appendStrings and decodeStrings: texts by the hashes that stand for them in
// signatures.
//
//	strings = count, (hash uint64, text string)… by hash
func appendStrings(b []byte, table map[uint64]string) []byte {
	b = wire.AppendUvarint(b, uint64(len(table)))
	for _, h := range slices.Sorted(maps.Keys(table)) {
		b = wire.AppendUint64(b, h)
		b = wire.AppendString(b, table[h])
	}
	return b
}

func decodeStrings(r *wire.Reader) map[uint64]string {
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

// A siteTable numbers the sites of a trace; number 0 is an unknown place.
type siteTable struct {
	list   []Site
	number map[uint64]int  // by hash
	named  map[uint64]bool // hashes that occur as values: callbacks
}

// newSiteTable takes the sites in order of module and offset.
func newSiteTable(sites map[uint64]Site) *siteTable {
	t := &siteTable{list: []Site{{}}, number: make(map[uint64]int), named: make(map[uint64]bool)}
	hashes := slices.Collect(maps.Keys(sites))
	slices.SortFunc(hashes, func(a, b uint64) int {
		s, u := sites[a], sites[b]
		return cmp.Or(cmp.Compare(s.Module, u.Module), cmp.Compare(s.BuildID, u.BuildID),
			cmp.Compare(s.Offset, u.Offset), cmp.Compare(a, b))
	})
	for _, h := range hashes {
		if s := sites[h]; s != t.list[len(t.list)-1] {
			t.list = append(t.list, s)
		}
		t.number[h] = len(t.list) - 1
	}
	return t
}

// append writes the table: modules, then sites by module and offset, then the
// hashes of those that occur as values of parameters.
//
//	sites  = count, (path string, build id string)…,
//	         per module: count, offset difference uvarint…
//	         count, (site uvarint, hash uint64)…
func (t *siteTable) append(b []byte) []byte {
	var modules [][]Site
	for _, s := range t.list[1:] {
		if n := len(modules); n == 0 || modules[n-1][0].Module != s.Module || modules[n-1][0].BuildID != s.BuildID {
			modules = append(modules, nil)
		}
		m := &modules[len(modules)-1]
		*m = append(*m, s)
	}
	b = wire.AppendUvarint(b, uint64(len(modules)))
	for _, m := range modules {
		b = wire.AppendString(b, m[0].Module)
		b = wire.AppendString(b, m[0].BuildID)
	}
	for _, m := range modules {
		b = wire.AppendUvarint(b, uint64(len(m)))
		last := uint64(0)
		for _, s := range m {
			b = wire.AppendUvarint(b, s.Offset-last)
			last = s.Offset
		}
	}
	hashes := slices.Sorted(maps.Keys(t.named))
	b = wire.AppendUvarint(b, uint64(len(hashes)))
	for _, h := range hashes {
		b = wire.AppendUvarint(b, uint64(t.number[h]))
		b = wire.AppendUint64(b, h)
	}
	return b
}

// decodeSites reads the table: all sites by number, and by hash those that
// occur as values.
func decodeSites(r *wire.Reader) ([]Site, map[uint64]Site) {
	list := []Site{{}}
	modules := make([]Site, r.Count(2))
	for i := range modules {
		modules[i] = Site{Module: r.String(), BuildID: r.String()}
	}
	for _, s := range modules {
		s.Offset = 0
		for range r.Count(1) {
			s.Offset += r.Uvarint()
			list = append(list, s)
		}
	}
	named := make(map[uint64]Site)
	for range r.Count(9) {
		i := r.Int(len(list) - 1)
		h := r.Uint64()
		named[h] = list[i]
	}
	return list, named
}
