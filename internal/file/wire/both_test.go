package wire

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"testing"
)

type coded struct {
	kind  uint8
	small int
	count uint64
	time  int64
	whole uint64
	sure  bool
	name  string
	list  []int64
	times map[string]int64
}

func (x *coded) code(c *Coder) {
	CodeByte(c, &x.kind)
	CodeBounded(c, &x.small, 9)
	CodeNaturals(c, &x.count)
	CodeRelative(c, &x.time, 7)
	CodeUints(c, &x.whole)
	c.Bool(&x.sure)
	c.String(&x.name)
	last := int64(0)
	CodeList(c, &x.list, 1, func(_ int, v *int64) {
		CodeAbove(c, v, last, math.MaxInt)
		last = *v
	})
	CodeMap(c, x.times, 2, func(k *string, v *int64) {
		c.String(k)
		CodeRelative(c, v, 0)
	})
}

func TestCoder(t *testing.T) {
	x := coded{3, 9, 1 << 40, -5, math.MaxUint64, true, "name", []int64{4, 4, 1 << 50}, map[string]int64{"a": -1, "b": 2}}
	var c Coder
	x.code(&c)
	y := coded{times: make(map[string]int64)}
	r := Coder{Reader: NewReader(c.Buf, "test")}
	y.code(&r)
	if err := r.Reader.Finish(); err != nil || !slices.Equal(x.list, y.list) || !maps.Equal(x.times, y.times) || x.whole != y.whole || x.time != y.time {
		t.Errorf("%+v became %+v: %v", x, y, err)
	}
	var again Coder
	if y.code(&again); !bytes.Equal(c.Buf, again.Buf) {
		t.Errorf("%x became %x", c.Buf, again.Buf)
	}
	for n := range c.Buf {
		z := coded{times: make(map[string]int64)}
		short := Coder{Reader: NewReader(c.Buf[:n], "test")}
		if z.code(&short); !short.Failed() {
			t.Errorf("%d bytes of %d are enough", n, len(c.Buf))
		}
	}
}
