package sqlitefile

import (
	"encoding/binary"
	"math"
)

// A record is a row as SQLite has it: the kinds of its values, then these (2.1).
type record struct{ head, body []byte }

func (r *record) begin() { r.head, r.body = r.head[:0], r.body[:0] }

func (r *record) null() { r.head = append(r.head, 0) }

func (r *record) text(s string) {
	r.head = appendVarint(r.head, 13+2*uint64(len(s)))
	r.body = append(r.body, s...)
}

func (r *record) number(n int64) {
	kind, bytes := byte(6), 8
	switch {
	case n == 0 || n == 1:
		kind, bytes = 8+byte(n), 0
	case int64(int8(n)) == n:
		kind, bytes = 1, 1
	case int64(int16(n)) == n:
		kind, bytes = 2, 2
	case n >= -1<<23 && n < 1<<23:
		kind, bytes = 3, 3
	case n >= math.MinInt32 && n <= math.MaxInt32:
		kind, bytes = 4, 4
	case n >= -1<<47 && n < 1<<47:
		kind, bytes = 5, 6
	}
	r.head = append(r.head, kind)
	end := len(r.body) + bytes
	r.body = binary.BigEndian.AppendUint64(r.body, uint64(n)<<(64-8*bytes))[:end]
}

// before is how many bytes the size of the head takes, which counts itself.
func (r *record) before() int {
	if len(r.head) < 127 {
		return 1
	}
	return 2
}

// size is that of the whole record.
func (r *record) size() int { return r.before() + len(r.head) + len(r.body) }

func (r *record) append(b []byte) []byte {
	b = appendVarint(b, uint64(r.before()+len(r.head)))
	return append(append(b, r.head...), r.body...)
}

func varintLen(n uint64) int {
	l := 1
	for n >>= 7; n > 0; n >>= 7 {
		l++
	}
	return l
}

// appendVarint writes a number seven bits at a time, the highest first (1.6). Numbers here are below 2⁵⁶.
func appendVarint(b []byte, n uint64) []byte {
	if n < 128 {
		return append(b, byte(n))
	}
	for shift := 7 * (varintLen(n) - 1); shift > 0; shift -= 7 {
		b = append(b, 0x80|byte(n>>shift))
	}
	return append(b, byte(n&0x7f))
}
