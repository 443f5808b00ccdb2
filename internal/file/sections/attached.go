package sections

import (
	"maps"
	"slices"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// AttachedValues is the section of attached values. A trace without any has none.
type AttachedValues struct {
	Names []string
	Blobs [][]byte // per class
}

// appendValues and DecodeValues: what was attached to the calls of each class.
//
//	values = names uvarint, name string…, per class blob
//	blob   = per name: terminals uvarint, (terminal, as a difference to the one before uvarint,
//	         count uvarint, min varint, (max - min) uvarint, sum varint)…
func appendValues(classes []Class) []byte {
	names := valueNames(classes)
	if len(names) == 0 {
		return nil
	}
	b := wire.AppendUvarint(nil, uint64(len(names)))
	for _, name := range names {
		b = wire.AppendString(b, name)
	}
	blobs := make([][]byte, len(classes))
	for i := range classes {
		for _, name := range names {
			blobs[i] = appendValueStats(blobs[i], classes[i].Values[name])
		}
	}
	return appendBlobs(b, blobs)
}

// valueNames are the names under which numbers were attached in some class, in order.
func valueNames(classes []Class) []string {
	all := make(map[string]bool)
	for i := range classes {
		for name := range classes[i].Values {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// appendValueStats writes those of one name, by terminal.
func appendValueStats(b []byte, list []model.ValueStat) []byte {
	n := 0
	for _, s := range list {
		if s.Count > 0 {
			n++
		}
	}
	b = wire.AppendUvarint(b, uint64(n))
	last := 0
	for i, s := range list {
		if s.Count == 0 {
			continue
		}
		b = wire.AppendUvarint(b, uint64(i-last))
		last = i
		b = wire.AppendUvarint(b, s.Count)
		b = wire.AppendVarint(b, s.Min)
		b = wire.AppendUvarint(b, uint64(s.Max-s.Min))
		b = wire.AppendVarint(b, s.Sum)
	}
	return b
}

// DecodeValueStats reads what appendValueStats wrote.
func DecodeValueStats(r *wire.Reader, terminals int) []model.ValueStat {
	list := make([]model.ValueStat, terminals)
	at := 0
	for range r.Count(5) {
		at += r.Int(max(0, terminals-1-at))
		s := model.ValueStat{Count: r.Uvarint(), Min: r.Varint()}
		s.Max = s.Min + int64(r.Uvarint())
		s.Sum = r.Varint()
		if at >= terminals || s.Count == 0 || s.Max < s.Min {
			r.Fail("values of terminal %d of %d, %d of them from %d to %d", at, terminals, s.Count, s.Min, s.Max)
		}
		if r.Err() != nil {
			return list
		}
		list[at] = s
	}
	return list
}

// DecodeValues reads names, and the blobs of classes as they are.
func DecodeValues(r *wire.Reader, classes int) *AttachedValues {
	v := &AttachedValues{}
	for range r.Count(1) {
		v.Names = append(v.Names, r.String())
		if n := len(v.Names); n > 1 && v.Names[n-2] >= v.Names[n-1] {
			r.Fail("names of values out of order")
			return v
		}
	}
	v.Blobs = DecodeBlobs(r, classes)
	return v
}
