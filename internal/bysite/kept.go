package bysite

import (
	"slices"

	columns "github.com/spoor-hpc/spoor/internal/column"
	"github.com/spoor-hpc/spoor/internal/wire"
)

// Codings of numbers that are kept, one list for each rank.
const (
	plain     = iota // as they are
	steps            // as differences
	dictioned        // as numbers of distinct ones
	grammared        // as columns of files
	formed           // where several ranks have as many, as forms of the rank, one for each number
	codings
)

// keep writes the lists of all ranks in whichever way gets shortest.
func keep(lists [][]int64) []byte {
	var best []byte
	size := 0
	for relative := range 2 {
		for coding := range codings {
			if relative == 1 && coding == formed {
				continue
			}
			b := keepAs(lists, coding, relative == 1)
			if n := wire.Packed(b); best == nil || n < size {
				best, size = b, n
			}
		}
	}
	return best
}

func keepAs(lists [][]int64, coding int, relative bool) []byte {
	b := []byte{byte(coding) << 1}
	if coding == formed {
		return appendForms(b, lists)
	}
	if relative {
		b[0]++
		lists = less(lists, -1)
	}
	// Ranks with equal lists share one.
	number := make(map[string]int64)
	var ids []int64
	var distinct [][]int64
	for _, list := range lists {
		key := string(columns.EncodePlain(nil, ptr(columns.Of(list...))))
		n, ok := number[key]
		if !ok {
			n = int64(len(distinct))
			number[key] = n
			distinct = append(distinct, list)
		}
		ids = append(ids, n)
	}
	b = columns.EncodeValues(b, ids)
	var known map[int64]int64
	if coding == dictioned {
		known = make(map[int64]int64)
		var dict []int64
		for _, list := range distinct {
			for _, v := range list {
				if _, ok := known[v]; !ok {
					known[v] = 0
					dict = append(dict, v)
				}
			}
		}
		slices.Sort(dict)
		b = wire.AppendUvarint(b, uint64(len(dict)))
		last := int64(0)
		for i, v := range dict {
			b = wire.AppendVarint(b, v-last)
			known[v], last = int64(i), v
		}
	}
	for _, list := range distinct {
		last := int64(0)
		switch coding {
		case plain:
			for _, v := range list {
				b = wire.AppendVarint(b, v)
			}
		case steps:
			for _, v := range list {
				b = wire.AppendVarint(b, v-last)
				last = v
			}
		case dictioned:
			for _, v := range list {
				b = wire.AppendUvarint(b, uint64(known[v]))
			}
		case grammared:
			b = columns.EncodeValues(b, list)
		}
	}
	return b
}

func ptr[T any](v T) *T { return &v }

// less returns the lists with the rank times a factor added.
func less(lists [][]int64, factor int64) [][]int64 {
	out := make([][]int64, len(lists))
	for rank, list := range lists {
		out[rank] = make([]int64, len(list))
		for i, v := range list {
			out[rank][i] = v + factor*int64(rank)
		}
	}
	return out
}

// readKept reads lists, of which those of the ranks have so many numbers.
func readKept(r *wire.Reader, sizes []int, room *budget) [][]int64 {
	tag := r.Byte()
	coding := int(tag >> 1)
	if coding >= codings || coding == formed && tag&1 != 0 {
		r.Fail("coding %d", tag)
		return nil
	}
	for _, size := range sizes {
		if err := take(&room.stored, int64(size)); err != nil {
			r.Check(err)
			return nil
		}
	}
	if coding == formed {
		return readForms(r, sizes)
	}
	ids := columns.DecodeSeq(r, len(sizes))
	if ids == nil {
		return nil
	}
	var dict []int64
	if coding == dictioned {
		dict = make([]int64, r.Count(1))
		last := int64(0)
		for i := range dict {
			last += r.Varint()
			dict[i] = last
		}
	}
	var distinct [][]int64
	out := make([][]int64, len(sizes))
	for rank, size := range sizes {
		id := ids.At(rank, 0)
		if id < 0 || id > int64(len(distinct)) {
			r.Fail("list %d of %d", id, len(distinct))
		}
		if r.Err() != nil {
			return nil
		}
		if id == int64(len(distinct)) {
			list := make([]int64, size)
			last := int64(0)
			var seq *columns.Seq
			if coding == grammared {
				if seq = columns.DecodeSeq(r, size); seq == nil {
					return nil
				}
			}
			for i := range list {
				switch coding {
				case plain:
					list[i] = r.Varint()
				case steps:
					last += r.Varint()
					list[i] = last
				case dictioned:
					if k := r.Int(len(dict) - 1); k < len(dict) {
						list[i] = dict[k]
					}
				case grammared:
					list[i] = seq.At(i, 0)
				}
			}
			distinct = append(distinct, list)
		}
		if out[rank] = distinct[id]; len(out[rank]) != size {
			r.Fail("list of %d numbers, not %d", len(out[rank]), size)
			return nil
		}
	}
	if tag&1 != 0 {
		out = less(out, 1)
	}
	return out
}

// groups returns the ranks with lists of one length, by length.
func groups(sizes []int) (out [][]int64) {
	at := make(map[int]int)
	for rank, n := range sizes {
		i, ok := at[n]
		if !ok {
			i = len(out)
			at[n] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], int64(rank))
	}
	return out
}

// appendForms writes a column over the ranks for each number, as classes have them.
func appendForms(b []byte, lists [][]int64) []byte {
	sizes := make([]int, len(lists))
	for rank := range lists {
		sizes[rank] = len(lists[rank])
	}
	for _, ranks := range groups(sizes) {
		of := columns.Of(ranks...)
		f := columns.NewFitter(of, len(lists))
		var forms columns.FormList
		var stored []byte
		for i := range sizes[ranks[0]] {
			var c columns.Column
			for _, rank := range ranks {
				c.Append(lists[rank][i])
			}
			form, payload := f.Fit(&c, false)
			forms.Take(form.Append(nil))
			stored = append(stored, payload...)
		}
		if sizes[ranks[0]] > 0 {
			b = append(forms.AppendCoefficients(forms.AppendKinds(b)), stored...)
		}
	}
	return b
}

func readForms(r *wire.Reader, sizes []int) [][]int64 {
	out := make([][]int64, len(sizes))
	for _, ranks := range groups(sizes) {
		n := sizes[ranks[0]]
		if n == 0 {
			continue
		}
		forms := columns.DecodeForms(r, n)
		if r.Err() != nil {
			return nil
		}
		forms.DecodeCoefficients(r)
		var stored []*columns.Seq
		for i := range n {
			if r.Err() != nil {
				return nil
			}
			v := columns.Value{Form: forms.At(i)}
			if v.Form.Kind.Columns() {
				v.Seq = columns.DecodeSeq(r, len(ranks))
			} else if of, size := v.Form.Refs(); of >= 0 {
				if !v.Form.Within(len(stored), len(ranks), len(sizes)) {
					r.Fail("column %d or %d of %d", of, size, len(stored))
					return nil
				}
				v.Seq = stored[of]
				if size >= 0 {
					v.Size = stored[size]
				}
			}
			if r.Err() != nil {
				return nil
			}
			if v.Form.Kind == columns.Stored {
				stored = append(stored, v.Seq)
			}
			for i, rank := range ranks {
				out[rank] = append(out[rank], v.At(i, rank, int64(len(sizes))))
			}
		}
	}
	return out
}
