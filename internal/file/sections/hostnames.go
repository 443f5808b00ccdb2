package sections

import (
	"strconv"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// Names of hosts mostly are one name with a number that goes on: a table of them is a
// few runs of such names.
//
//	names = runs uvarint, run…
//	run   = first string, more uvarint,
//	        if more > 0: position uvarint, step varint
//
// Behind the first name follow so many more. In each, the digits that begin at the position
// in the first stand for a number that is greater by step than in the one before, with as
// many leading zeros as it takes to be no shorter than in the first. There are at most
// manyNames and namesPerByte for each byte of the runs before, so that a reader takes no more than
// the bytes of the file are worth.
func appendNumbered(b []byte, list []string) []byte {
	var runs [][]byte
	done, size := 0, 0
	for len(list) > 0 {
		run := wire.AppendString(nil, list[0])
		x, n := longestRun(list)
		n = max(1, min(n, manyNames+namesPerByte*size-done))
		run = wire.AppendUvarint(run, uint64(n-1))
		if n > 1 {
			run = wire.AppendVarint(wire.AppendUvarint(run, uint64(len(x.before))), x.step)
		}
		runs, list = append(runs, run), list[n:]
		done, size = done+n, size+len(run)
	}
	b = wire.AppendUvarint(b, uint64(len(runs)))
	for _, run := range runs {
		b = append(b, run...)
	}
	return b
}

const (
	manyNames    = 1 << 12
	namesPerByte = 1 << 6
)

func decodeNumbered(r *wire.Reader, limit int) []string {
	var list []string
	count := r.Count(2)
	start := r.Rest()
	for range count {
		worth := manyNames + namesPerByte*(start-r.Rest())
		first := r.String()
		more := r.Int(max(min(limit, worth)-len(list)-1, 0))
		list = append(list, first)
		if more == 0 {
			continue
		}
		x, ok := numberedAt(first, r.Int(len(first)))
		if x.step = r.Varint(); !ok {
			r.Fail("no number in the name %q", first)
		}
		for i := int64(1); i <= int64(more) && r.Err() == nil; i++ {
			name, ok := x.name(i)
			if !ok {
				r.Fail("name %d after %q has no number", i, first)
			}
			list = append(list, name)
		}
		if r.Err() != nil {
			return nil
		}
	}
	return list
}

// A hostNumber is a name: text, a number of some digits, and text.
type hostNumber struct {
	before, after string
	number, step  int64
	width         int
}

// maxDigits is how many digits a number may have.
const maxDigits = 15

// numberedAt takes the digits for a number that begin at a position.
func numberedAt(name string, at int) (x hostNumber, ok bool) {
	end := at
	for end < len(name) && end-at < maxDigits && name[end] >= '0' && name[end] <= '9' {
		end++
	}
	if end == at {
		return x, false
	}
	n, err := strconv.ParseInt(name[at:end], 10, 64)
	return hostNumber{before: name[:at], after: name[end:], number: n, width: end - at}, err == nil
}

// name is the i-th behind the first.
func (x *hostNumber) name(i int64) (string, bool) {
	const most = 1_000_000_000_000_000 // what has more digits than maxDigits
	if x.step > most/model.MaxRanks || x.step < -most/model.MaxRanks {
		return "", false
	}
	n := x.number + i*x.step
	if n < 0 || n >= most {
		return "", false
	}
	digits := strconv.FormatInt(n, 10)
	return x.before + strings.Repeat("0", max(x.width-len(digits), 0)) + digits + x.after, true
}

// longestRun returns the longest run that a list begins with.
func longestRun(list []string) (best hostNumber, n int) {
	n = 1
	if len(list) < 2 {
		return best, n
	}
	for at := range list[0] {
		if at > 0 && isDigit(list[0][at]) && isDigit(list[0][at-1]) {
			continue // in the middle of a number
		}
		x, ok := numberedAt(list[0], at)
		if !ok {
			continue
		}
		y, ok := numberedAt(list[1], at)
		if !ok {
			continue
		}
		x.step = y.number - x.number
		k := 1
		for k < len(list) && k < model.MaxRanks {
			if name, ok := x.name(int64(k)); !ok || name != list[k] {
				break
			}
			k++
		}
		if k > n {
			best, n = x, k
		}
	}
	return best, n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
