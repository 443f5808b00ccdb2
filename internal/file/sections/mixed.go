package sections

import "github.com/spoor-hpc/spoor/internal/file/wire"

// appendMixed and DecodeMixed: the terminals of which it is not known what their calls at single places took.
//
//	mixed = per class blob
//	blob  = (terminals between this run and the one before, terminals in the run - 1)…
func appendMixed(classes []Class) []byte {
	blobs := make([][]byte, len(classes))
	for i := range classes {
		end := 0
		for list := classes[i].Mixed; len(list) > 0; {
			n := 1
			for n < len(list) && list[n] == list[0]+n {
				n++
			}
			blobs[i] = wire.AppendUvarint(wire.AppendUvarint(blobs[i], uint64(list[0]-end)), uint64(n-1))
			end, list = list[0]+n, list[n:]
		}
	}
	return appendSome(nil, blobs)
}

// DecodeMixed appends the terminals to list, which are below limit.
func DecodeMixed(r *wire.Reader, limit int) (list []int) {
	end := uint64(0)
	for r.Rest() > 0 && r.Err() == nil {
		first, n := r.Uvarint(), r.Uvarint()
		if first > uint64(limit) || n >= uint64(limit) || end+first+n >= uint64(limit) {
			r.Fail("terminals %d to %d of %d", end+first, end+first+n, limit)
			return nil
		}
		if first == 0 && end > 0 {
			r.Fail("two runs of terminals meet at %d", end)
			return nil
		}
		for end += first; ; n-- {
			list = append(list, int(end))
			if end++; n == 0 {
				break
			}
		}
	}
	return list
}
