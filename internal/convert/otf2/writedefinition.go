package otf2

import (
	"maps"
	"slices"
)

// madeAndFreed is a flag of communicators and windows: there are events of that.
const madeAndFreed = 1

// A definitions is the file of what events refer to.
type definitions struct {
	*file
	texts map[string]uint32
}

// text returns the number of a string, which is written when it first occurs: before the record
// that has it, so it must not be asked for in the middle of one.
func (d *definitions) text(s string) (uint32, error) {
	if id, ok := d.texts[s]; ok {
		return id, nil
	}
	id := uint32(len(d.texts))
	d.texts[s] = id
	d.start(DefString)
	d.u32(id)
	d.file.text(s)
	return id, d.end(0)
}

// A field is one value of a record; a string is written as its number.
type field any

// record writes a definition. Fields are uint8 (one byte), uint32, uint64, int (which must fit into
// 32 bits) or string.
func (d *definitions) add(id byte, fields ...field) error {
	for i, v := range fields {
		if s, ok := v.(string); ok {
			n, err := d.text(s)
			if err != nil {
				return err
			}
			fields[i] = n
		}
	}
	d.start(id)
	for _, v := range fields {
		switch v := v.(type) {
		case uint8:
			d.u8(v)
		case uint32:
			d.u32(v)
		case int:
			d.u32(uint32(v))
		case uint64:
			d.u64(v)
		case []uint64:
			d.u32(uint32(len(v)))
			for _, n := range v {
				d.u64(n)
			}
		}
	}
	return d.end(0)
}

// properties writes texts about what has a number.
func (d *definitions) properties(id byte, of int, texts map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if err := d.add(id, of, name, texts[name], uint8(TypeString), texts[name]); err != nil {
			return err
		}
	}
	return nil
}
