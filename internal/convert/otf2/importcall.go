package otf2

import (
	"fmt"
	"strings"

	"github.com/spoor-hpc/spoor/internal/once"
	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/internal/record/symbol"
	"github.com/spoor-hpc/spoor/mpi"
)

// byteType is the handle of MPI_BYTE, in which most data is counted.
const byteType = 0x247

// bitwiseOr is the handle of MPI_BOR, which is assumed for unknown operations, as it accepts MPI_BYTE.
const bitwiseOr = 0x29

var types = map[uint64]int64{1: byteType, 2: 0x248, 4: 0x250, 8: 0x258, 16: 0x220}

// absent is given as the length of an array that is not significant at this rank, or of which nothing is known.
const absent = -4

// A callValues collects the values of a call's signature: known ones by parameter, and placeholders for others.
type callValues struct {
	call   *mpi.Call
	layout signature.Layout
	in     map[string][]int64
	out    map[string][]int64
	made   []int64
	ended  bool // the call returned
	empty  int64
}

func newForm(c *mpi.Call, known map[*mpi.Call]signature.Layout, empty int64) *callValues {
	l := once.GetOrMake(known, c, func() signature.Layout { return signature.LayoutOf(c) })
	return &callValues{call: c, layout: l, in: make(map[string][]int64), out: make(map[string][]int64), ended: true, empty: empty}
}

func (f *callValues) has(param string) bool { return param != "" && f.call.Index(param) >= 0 }

// set sets the input value of a parameter.
func (f *callValues) set(param string, v ...int64) {
	if f.has(param) {
		f.in[param] = v
	}
}

// give sets the output value of a parameter.
func (f *callValues) give(param string, v ...int64) {
	if f.has(param) {
		f.out[param] = v
	}
}

// values returns the values of the signature.
func (f *callValues) values() []int64 {
	vals := make([]int64, 1, 24)
	if !f.ended {
		vals[0] = neverReturned
	} else if f.layout.ResultValueCount != signature.WidthNone {
		if vals = append(vals, signature.UnknownOutput); f.call.ReturnKind.ValueForm() != mpi.ValueFormInt {
			vals[1] = unknown(&signature.ParamLayout{Width: f.layout.ResultValueCount}, f.call.ReturnKind, f.empty)[0]
		}
	}
	n := 0
	for i := range f.call.Params {
		p := &f.call.Params[i]
		if p.LargeOnly && !f.call.Large {
			continue
		}
		part := &f.layout.Params[n]
		n++
		if part.IsInput {
			vals = append(vals, f.value(f.in, p, part)...)
		}
		if part.IsOutput && f.ended {
			vals = append(vals, f.result(p, part)...)
		}
	}
	if f.ended {
		vals = append(vals, f.made...)
	}
	return vals
}

func (f *callValues) value(of map[string][]int64, p *mpi.Param, part *signature.ParamLayout) []int64 {
	if v, ok := of[p.Name]; ok {
		return v
	}
	if part.Dims == 0 && part.Width == signature.WidthAddress && strings.HasPrefix(p.Name, "recv") {
		return []int64{signature.PackSegName(1, 0, signature.SegClassUnknown), 0} // the two buffers of a call must differ
	}
	return unknown(part, p.Kind, f.empty)
}

// result returns the output value of a parameter. An unknown number is not 0, as 0 is a possible value.
func (f *callValues) result(p *mpi.Param, part *signature.ParamLayout) []int64 {
	if _, told := f.out[p.Name]; !told && part.Dims == 0 && part.Width == 1 && p.Kind.ValueForm() == mpi.ValueFormInt {
		return []int64{signature.UnknownOutput}
	}
	return f.value(f.out, p, part)
}

// unknown returns the value of a parameter that was not recorded.
func unknown(part *signature.ParamLayout, kind mpi.Kind, empty int64) []int64 {
	switch {
	case part.Dims > 0:
		return []int64{absent}
	case part.Width == signature.WidthNone:
		return nil
	case part.Width == signature.WidthAddress:
		return []int64{signature.PackSegName(0, 0, signature.SegClassUnknown), 0}
	case part.Width == signature.WidthStatus:
		return []int64{signature.StatusFormAbsent}
	case kind.IsHandle():
		return []int64{symbol.UnknownHandle}
	}
	switch kind.ValueForm() {
	case mpi.ValueFormString:
		return []int64{empty}
	case mpi.ValueFormInt, mpi.ValueFormDouble, mpi.ValueFormToolObject, mpi.ValueFormFunction:
		return []int64{0}
	}
	panic(fmt.Sprintf("imported: no unknown value of kind %s", kind))
}

// array returns an array preceded by its length.
func array(v []int64) []int64 { return append([]int64{int64(len(v))}, v...) }

// spread divides a sum into n parts.
func spread(sum uint64, n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(sum / uint64(n))
		if uint64(i) < sum%uint64(n) {
			list[i]++
		}
	}
	return list
}

const neverReturned = -1 << 31
