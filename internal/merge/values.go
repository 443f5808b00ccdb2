package merge

import (
	"spoor/internal/column"
	"spoor/internal/wire"
)

// Most values of most signatures are the same on all ranks, and those of one
// call the same as those of the call of the function before.
//
//	values = per value: sameAgain
//	         | constant, value varint
//	         | varies, runs
const (
	sameAgain = 0 // constant, as in the terminal before with the same function and number of values
	constant  = 1
	varies    = 2
)

// A kin is what terminals have in common whose values are compared.
type kin struct {
	call  uint16
	width int
}

// before goes through terminals and yields where the values of each stand, and
// those of the one before of its kin, -1 if there is none.
func (s *shape) before(yield func(at, prev, width int)) {
	last := make(map[kin]int)
	at := 0
	for _, k := range s.skeletons {
		id := kin{k.call, k.width}
		prev, ok := last[id]
		if !ok {
			prev = -1
		}
		yield(at, prev, k.width)
		last[id] = at
		at += k.width
	}
}

func (c *class) appendVals(b []byte) []byte {
	sh := c.shape()
	sh.before(func(at, prev, width int) {
		for i := range width {
			v, ok := c.vals[at+i].Same()
			if !ok {
				b = c.vals[at+i].AppendRuns(append(b, varies))
				continue
			}
			if prev >= 0 {
				if w, ok := c.vals[prev+i].Same(); ok && w == v {
					b = append(b, sameAgain)
					continue
				}
			}
			b = wire.AppendVarint(append(b, constant), v)
		}
	})
	return b
}

// decodeVals reads the values of a class of n ranks.
func (c *class) decodeVals(r *wire.Reader, sh shape, n int) {
	c.vals = make([]column.Column, sh.width)
	sh.before(func(at, prev, width int) {
		for i := range width {
			to := &c.vals[at+i]
			switch tag := r.Byte(); {
			case r.Err() != nil:
			case tag == varies:
				*to = column.DecodeRuns(r, n)
			case tag == constant:
				*to = column.Constant(r.Varint(), n)
			case tag == sameAgain && prev >= 0:
				v, ok := c.vals[prev+i].Same()
				if !ok {
					r.Fail("value like one that varies")
				}
				*to = column.Constant(v, n)
			default:
				r.Fail("value of unknown form %d", tag)
			}
		}
	})
}
