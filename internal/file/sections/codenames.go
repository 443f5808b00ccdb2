package sections

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spoor-hpc/spoor/internal/file/wire"
	"github.com/spoor-hpc/spoor/trace/model"
)

// A codeText is a name, or the name of a file. References to texts are coded first, then their bytes.
type codeText struct {
	s  string
	of int // index of the function with this name, if the name is only its address; else 0: function 0 has no such name
}

// text writes or reads a reference to the text s, and returns the text's index. expected is the index that it mostly
// has. of is the function with that name, or 0.
func (x *codeCoder) text(s string, expected, of int) int {
	const isNew, isAddress, older = 1, 2, 3
	last := len(x.texts) - 1
	if x.Reader != nil {
		switch n := x.Reader.Int(last + older); n {
		case 0:
			return expected
		case isNew, isAddress:
			t := codeText{}
			if n == isAddress {
				t.of = of
				if of == 0 {
					x.Reader.Fail("an address for a name")
				}
			}
			x.texts = append(x.texts, t)
			return last + 1
		default:
			return last + older - n
		}
	}
	n, known := x.number[s]
	switch {
	case known && n == expected:
		x.uvarint(0, 0)
	case known:
		x.uvarint(last+older-n, 0)
	default:
		n = last + 1
		x.number[s] = n
		if _, ok := x.beginning(s, of); ok {
			x.uvarint(isAddress, 0)
		} else {
			of = 0
			x.uvarint(isNew, 0)
		}
		x.texts = append(x.texts, codeText{s, of})
	}
	return n
}

// nameless is the format of names for functions without symbols, with their address.
const nameless = "fn@0x%x"

// beginning returns a function's address from its name; ok is false if it has another name.
func (x *codeCoder) beginning(name string, of int) (at uint64, ok bool) {
	if of == 0 || x.lowest[of] == 0 {
		return 0, false
	}
	_, err := fmt.Sscanf(name, nameless, &at)
	return at, err == nil && fmt.Sprintf(nameless, at) == name
}

// addresses writes or reads the addresses of unnamed functions, relative to the first known place in them. Most are
// multiples of 16.
func (x *codeCoder) addresses() {
	for i := range x.texts {
		t := &x.texts[i]
		if t.of == 0 {
			continue
		}
		from := int64(x.lowest[t.of])
		at, _ := x.beginning(t.s, t.of)
		units := x.varint(2*(from>>4-int64(at)>>4) + int64(bit(at%16 != 0)))
		low := 0
		if units&1 != 0 {
			low = x.uvarint(int(at%16), 15)
		}
		if x.Reader != nil {
			t.s = fmt.Sprintf(nameless, uint64(from>>4-units>>1)<<4+uint64(low))
		}
	}
}

// strings writes or reads the bytes of the texts.
func (x *codeCoder) strings() {
	for i := 1; i < len(x.texts); i++ {
		t := &x.texts[i]
		switch {
		case t.of != 0:
		case x.Reader == nil && strings.IndexByte(t.s, 0) < 0:
			x.Buf = append(append(x.Buf, t.s...), 0)
		case x.Reader == nil:
			x.Buf = wire.AppendString(append(x.Buf, 0), t.s)
		default:
			n := bytes.IndexByte(x.Reader.Remaining(), 0)
			if t.s = string(x.Reader.Bytes(n)); n == 0 {
				x.Reader.Byte()
				if t.s = x.Reader.String(); t.s == "" {
					x.Reader.Fail("text %d is empty", i)
				}
				break
			}
			x.Reader.Byte()
		}
		if x.Failed() {
			return
		}
	}
	if x.Reader != nil {
		x.give()
	}
}

// give sets the names and files of vertices to the texts that were read.
func (x *codeCoder) give() {
	for i := range x.c.Vertices {
		v := &x.c.Vertices[i]
		if t := x.name[i]; t >= 0 {
			v.Name = x.texts[t].s
		}
		v.File = x.texts[x.file[i]].s
		for _, t := range x.inlined[i] {
			v.Inlined = append(v.Inlined, x.texts[t].s)
		}
	}
}

// functions returns by vertex the function that contains it; 0 for the outermost ones, which no function contains.
func (x *codeCoder) functions() []int {
	list := x.c.Vertices
	in := make([]int, len(list))
	for i := range list {
		if p := list[i].Parent; p >= 0 {
			if in[i] = p; list[p].Kind == model.LoopVertex {
				in[i] = in[p]
			}
		}
	}
	return in
}

// alike returns, by function, an earlier one that is the same by the calls in it; -1: none is known. It also sets
// x.lowest.
func (x *codeCoder) alike() []int {
	list := x.c.Vertices
	alike := make([]int, len(list))
	x.lowest = make([]uint64, len(list))
	for i := range list {
		v, of := &list[i], x.in[i]
		if alike[i] = -1; v.Kind == model.FunctionVertex {
			alike[i] = x.like[i]
		}
		if v.Parent < 0 {
			continue
		}
		if low := &x.lowest[of]; v.Kind != model.LoopVertex && !v.TailCall && (*low == 0 || v.Offset < *low) {
			*low = v.Offset
		}
		if n := x.like[i]; n >= 0 && alike[of] < 0 && x.in[n] < of {
			alike[of] = x.in[n]
		}
	}
	return alike
}

// names writes or reads the names of functions, and of calls with names of their own.
func (x *codeCoder) names() {
	x.in = x.functions()
	alike := x.alike()
	x.name = make([]int, len(alike))
	for i := range x.c.Vertices {
		x.name[i] = -1
		switch v := &x.c.Vertices[i]; {
		case v.Kind == model.FunctionVertex:
			expected := 0
			if n := alike[i]; n >= 0 {
				expected = x.name[n]
			}
			x.name[i] = x.text(v.Name, expected, i)
		case v.Kind == model.CallVertex && x.flags[i]&codeNamed != 0:
			x.name[i] = x.text(v.Name, 0, 0)
		case v.Kind == model.CallVertex && x.Reader != nil:
			v.Name = x.functionOf(i)
		}
		if x.Failed() {
			return
		}
	}
}

// functionOf returns the name of the function that a call vertex calls.
func (x *codeCoder) functionOf(v int) string {
	if len(x.contexts[v]) == 0 {
		return ""
	}
	return x.calls[x.contexts[v][0]].Name
}

// anew reports whether the place (file, line, inlined functions) of a vertex is in the section, not that of an earlier
// vertex.
func (x *codeCoder) anew(i int) bool {
	return x.c.Vertices[i].Parent >= 0 && (x.like[i] < 0 || x.flags[i]&codeAnew != 0)
}

// places writes or reads the files, lines and inlined functions of places.
func (x *codeCoder) places() {
	list := x.c.Vertices
	x.files()
	x.lines()
	x.inlined = make([][]int, len(list))
	for i := range list {
		v := &list[i]
		if n := x.like[i]; x.Reader != nil && n >= 0 && !x.anew(i) {
			x.inlined[i] = x.inlined[n]
		} else if x.flags[i]&codeInlined != 0 && x.anew(i) {
			for k := range x.uvarint(len(v.Inlined)-1, maxLevels) + 1 {
				s := ""
				if x.Reader == nil {
					s = v.Inlined[k]
				}
				x.inlined[i] = append(x.inlined[i], x.text(s, 0, 0))
				if x.Failed() {
					return
				}
			}
		}
	}
}

func (x *codeCoder) files() {
	list := x.c.Vertices
	x.file = make([]int, len(list))
	before := slices.Repeat([]int{-1}, len(list)) // by function: index in texts of the last file in it; -1: none
	last := 0
	for i := range list {
		v := &list[i]
		if v.Parent < 0 {
			continue
		}
		if x.anew(i) {
			expected := before[x.in[i]]
			if expected <= 0 {
				expected = last
			}
			x.file[i] = x.text(v.File, expected, 0)
		} else {
			x.file[i] = x.file[x.like[i]]
		}
		before[x.in[i]], last = x.file[i], x.file[i]
		if x.Failed() {
			return
		}
	}
}

func (x *codeCoder) lines() {
	list := x.c.Vertices
	line := make([]int, len(list)) // by function: the last line in it; 0: none
	before := 0
	for i := range list {
		v := &list[i]
		if v.Parent < 0 {
			continue
		}
		if x.anew(i) && x.file[i] != 0 {
			expected := cmp.Or(line[x.in[i]], before)
			n := x.varint(int64(v.Line-expected)) + int64(expected)
			if v.Line = int(n); x.Reader != nil && (n < 0 || n > 1<<31) {
				x.Reader.Fail("vertex %d is in line %d", i, n)
				return
			}
		} else if n := x.like[i]; x.Reader != nil && n >= 0 && !x.anew(i) {
			v.Line = list[n].Line
		}
		if v.Line > 0 {
			line[x.in[i]], before = v.Line, v.Line
		}
	}
}
