package capture

import (
	"fmt"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// array reads the length of an array and its elements.
func (c *Capture) array(s *stream, f *frame, st *instruction, rec []uint64, p int) (int, error) {
	n := int64(rec[p])
	p++
	before := f.array
	f.array = len(f.key)
	f.key = append(f.key, n)
	if n <= 0 {
		if n < event.ArrayLenIgnored {
			return p, fmt.Errorf("array of %d", n)
		}
		if st.element == codeRequest && f.prog.leaves && !f.muted() {
			s.left.ForgetArray()
		}
		return p, nil
	}
	if n > int64(len(rec))*2 {
		return p, errShort
	}
	switch st.element {
	case codeInt, codeTable, codeIndex:
		p, err := c.numbers(f, st, rec, p, int(n))
		if st.adds && err == nil {
			signature.OmitSummedDispls(f.key[before:f.array], f.key[f.array:])
		}
		return p, err
	case codeRequest, codeRequestFree:
		return c.requestArray(s, f, rec, p, int(n))
	case codeStatus:
		return c.statuses(s, f, rec, p, int(n))
	case codeArray:
		inner := *st
		inner.code, inner.element = codeArray, codeString
		return c.elements(s, f, &inner, codeArray, rec, p, int(n))
	}
	return c.elements(s, f, st, st.element, rec, p, int(n))
}

func (c *Capture) elements(s *stream, f *frame, st *instruction, code opcode, rec []uint64, p, n int) (int, error) {
	one := [1]instruction{*st}
	one[0].code, one[0].gate = code, -1
	for range n {
		var err error
		if p, err = c.decode(s, f, one[:], rec, p, 0); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (c *Capture) numbers(f *frame, st *instruction, rec []uint64, p, n int) (int, error) {
	words := n
	narrow := f.prog.call.Width(&mpi.Param{Kind: st.kind}) == mpi.Width32
	if narrow {
		words = (n + 1) / 2
	}
	if p+words > len(rec) {
		return p, errShort
	}
	from := len(f.key)
	if narrow {
		for i := range n {
			f.key = append(f.key, int64(int32(rec[p+i/2]>>(i%2*32))))
		}
	} else {
		for _, w := range rec[p : p+words] {
			f.key = append(f.key, int64(w))
		}
	}
	values := f.key[from:]
	if st.table != nil && !st.table.IsIdentity() {
		for i, v := range values {
			values[i] = st.table.ToABI(v)
		}
	}
	if f.prog.completes && st.kind == mpi.KindIndex {
		f.indices = append(f.indices, values...)
	}
	return p + words, nil
}

// requestArray reads an array of n requests: the address of the program's first variable, the distance in bytes to the
// next one, and the handles.
func (c *Capture) requestArray(s *stream, f *frame, rec []uint64, p, n int) (int, error) {
	if p+2+n > len(rec) {
		return p, errShort
	}
	place, stride := rec[p], rec[p+1]
	c.requests.BeginSearch()
	handles := rec[p+2 : p+2+n]
	for _, handle := range handles {
		c.request(s, f, handle, place)
		place += stride
	}
	if f.prog.leaves && !f.muted() {
		c.pass(s, f, handles)
	}
	return p + 2 + n, nil
}

// pass handles an array of requests of a call that may leave some unfinished. If the previous such call left the
// same array, it is omitted from the key.
func (c *Capture) pass(s *stream, f *frame, handles []uint64) {
	s.passes++
	f.passes = s.passes
	c.passed = c.passed[:0]
	for k, i := range f.requests {
		r, ok := c.requests.ArrayRequest(i, handles[k], s.thread)
		if !ok {
			f.passes = 0
			s.left.ForgetArray()
			return
		}
		c.passed = append(c.passed, r)
	}
	made := c.requests.OneShotsMade(s.thread)
	f.leftOut = s.left.CanOmitArray(c.passed, made)
	if s.left.SetPassedArray(c.passed, made, f.leftOut); f.leftOut {
		f.key = append(f.key[:f.array], signature.LengthFromEarlierCall)
	}
}

func (c *Capture) statuses(s *stream, f *frame, rec []uint64, p, n int) (int, error) {
	var err error
	for f.statuses = 0; f.statuses < n; f.statuses++ {
		if p, err = c.status(s, f, rec, p, true); err != nil {
			return p, err
		}
		if f.rc == mpi.ErrInStatus {
			f.pending = append(f.pending, f.error == mpi.ErrPending)
		}
	}
	return p, nil
}
