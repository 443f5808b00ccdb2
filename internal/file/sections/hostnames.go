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
// After the first name comes this number of others. In each, the digits that begin at the position
// in the first are a number that is greater by step than in the name before. It has
// leading zeros if it is shorter than in the first. There are at most manyNames and
// namesPerByte for each byte of the runs before, so that a reader takes no more than
// the bytes of the file are worth.
const (
	manyNames    = 1 << 12
	namesPerByte = 1 << 6
)

// A nameRun is a name and the number of further names that continue it.
type nameRun struct {
	first    string
	more, at int
	step     int64
}

// code writes or reads a run. A reader passes the largest number of further names in most.
func (x *nameRun) code(c *wire.Coder, most int) {
	c.String(&x.first)
	if wire.CodeBounded(c, &x.more, most); x.more > 0 {
		wire.CodeBounded(c, &x.at, len(x.first))
		wire.CodeIntegers(c, &x.step)
	}
}

// names appends the names of a run to a list.
func (x *nameRun) names(c *wire.Coder, list []string) []string {
	list = append(list, x.first)
	if x.more == 0 || c.Failed() {
		return list
	}
	number, ok := numberedAt(x.first, x.at)
	c.RefuseIf(!ok, "no number in the name %q", x.first)
	number.step = x.step
	for i := int64(1); i <= int64(x.more) && !c.Failed(); i++ {
		name, ok := number.name(i)
		c.RefuseIf(!ok, "name %d after %q has no number", i, x.first)
		list = append(list, name)
	}
	return list
}

// nameRuns divides a list into runs.
func nameRuns(list []string) (runs []nameRun) {
	done, size := 0, 0
	for len(list) > 0 {
		x, n := longestRun(list)
		n = max(1, min(n, manyNames+namesPerByte*size-done))
		run := nameRun{list[0], n - 1, len(x.before), x.step}
		runs, list = append(runs, run), list[n:]
		done, size = done+n, size+len(wire.AppendEncoded(nil, func(c *wire.Coder) { run.code(c, 0) }))
	}
	return runs
}

// codeNames writes or reads a list of at most limit names.
func codeNames(c *wire.Coder, list *[]string, limit int) {
	if c.Reader == nil {
		runs := nameRuns(*list)
		wire.CodeList(c, &runs, 2, func(_ int, x *nameRun) { x.code(c, 0) })
		return
	}
	*list = nil
	var runs []nameRun
	start := 0
	wire.CodeList(c, &runs, 2, func(i int, x *nameRun) {
		if i == 0 {
			start = c.Reader.RemainingLen()
		}
		worth := manyNames + namesPerByte*(start-c.Reader.RemainingLen())
		x.code(c, max(min(limit, worth)-len(*list)-1, 0))
		*list = x.names(c, *list)
	})
}

// A hostNumber is a host name divided into text, a number, and text.
type hostNumber struct {
	before, after string
	number, step  int64
	width         int
}

// maxDigits is the largest number of digits of a number in a name.
const maxDigits = 15

// numberedAt divides a name at the digits that begin at a position; ok is false if no digit is there.
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

// name returns the i-th name after the first one of a run, counted from 1.
func (x *hostNumber) name(i int64) (string, bool) {
	const most = 1_000_000_000_000_000 // the smallest number with more than maxDigits digits
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

// longestRun returns the longest run at the beginning of a list.
func longestRun(list []string) (best hostNumber, n int) {
	n = 1
	if len(list) < 2 {
		return best, n
	}
	for at := range list[0] {
		if at > 0 && isDigit(list[0][at]) && isDigit(list[0][at-1]) {
			continue // at is inside a number, not at its begin
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
