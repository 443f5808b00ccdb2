package signature

import (
	"bytes"
	"strconv"
)

// File names that differ only by the rank's number are stored as one template. In it a NUL, which no name contains,
// replaces the number. A digit follows: the number's width if it has leading zeros, else 0.

// FileTemplate returns a file's name with the rank's number replaced, if it occurs. It replaces the occurrence with
// the most digits; of several the last. It may change b.
func FileTemplate(b []byte, rank int) []byte {
	var number [20]byte
	digits := strconv.AppendInt(number[:0], int64(rank), 10)
	if rank < 0 || !bytes.Contains(b, digits) || bytes.IndexByte(b, 0) >= 0 {
		return b
	}
	from, to := 0, 0
	for i := 0; i < len(b); {
		if !isDigit(b[i]) {
			i++
			continue
		}
		end := i
		for end < len(b) && isDigit(b[end]) {
			end++
		}
		if n := end - i; n <= 9 && n >= to-from && isNumber(b[i:end], digits) {
			from, to = i, end
		}
		i = end
	}
	if from == to {
		return b
	}
	width := byte('0')
	if to-from > len(digits) {
		width += byte(to - from)
	}
	rest := append([]byte{0, width}, b[to:]...)
	return append(b[:from], rest...)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isNumber reports whether a run of digits is the number, perhaps with leading zeros.
func isNumber(run, digits []byte) bool {
	return bytes.HasSuffix(run, digits) && len(bytes.TrimLeft(run[:len(run)-len(digits)], "0")) == 0
}

// FileNameOfRank returns the file name of a rank. For rank -1 the number is shown as a printf format.
func FileNameOfRank(template string, rank int) string {
	b := []byte(template)
	at := bytes.IndexByte(b, 0)
	if at < 0 || at+1 >= len(b) || !isDigit(b[at+1]) {
		return template
	}
	width := int(b[at+1] - '0')
	out := append([]byte{}, b[:at]...)
	switch number := strconv.Itoa(rank); {
	case rank >= 0:
		for range width - len(number) {
			out = append(out, '0')
		}
		out = append(out, number...)
	case width == 0:
		out = append(out, "%d"...)
	default:
		out = append(out, "%0"...)
		out = append(strconv.AppendInt(out, int64(width), 10), 'd')
	}
	return string(append(out, b[at+2:]...))
}
