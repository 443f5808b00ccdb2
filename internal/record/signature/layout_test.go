package signature_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/spoor-hpc/spoor/internal/record/signature"
	"github.com/spoor-hpc/spoor/mpi"
)

// values draws values for one side of a parameter.
func values(t *rapid.T, p *signature.ParamLayout, dims int, failed bool) []int64 {
	if dims > 0 {
		n := rapid.IntRange(-5, 4).Draw(t, "length")
		vals := []int64{int64(n)}
		for range n {
			vals = append(vals, values(t, p, dims-1, failed)...)
		}
		return vals
	}
	n := int(p.Width)
	if p.Width == signature.WidthStatus {
		form := rapid.IntRange(signature.StatusFormAbsent, signature.StatusFormOfSend).Draw(t, "form")
		n = map[int]int{signature.StatusFormFilled: 5, signature.StatusFormIgnored: 5, signature.StatusFormOfSend: 2}[form]
		if failed && n == 5 {
			n = 6
		}
		return append([]int64{int64(form)}, make([]int64, max(n-1, 0))...)
	}
	return rapid.SliceOfN(rapid.Int64Range(0, 5), n, n).Draw(t, "values")
}

// TestLayout makes calls of every function, and finds each side of each parameter where it
// was put, in both orders.
func TestLayout(t *testing.T) {
	calls := mpi.Calls()
	rapid.Check(t, func(t *rapid.T) {
		call := rapid.SampledFrom(calls).Draw(t, "function")
		l := signature.LayoutOf(call)
		type side struct {
			param int
			out   bool
			vals  []int64
		}
		var ins, outs, both []side
		code := rapid.SampledFrom([]int64{0, mpi.ErrInStatus, 1}).Draw(t, "code")
		add := func(param int, out bool, vals []int64) {
			s := side{param, out, vals}
			if both = append(both, s); out {
				outs = append(outs, s)
			} else {
				ins = append(ins, s)
			}
		}
		if l.ResultValueCount != signature.WidthNone && code != 1 {
			add(signature.ParamResult, true, values(t, &signature.ParamLayout{Width: l.ResultValueCount}, 0, code != 0))
		}
		for i := range l.Params {
			p := &l.Params[i]
			if p.IsInput {
				add(i, false, values(t, p, p.Dims, false))
			}
			if p.IsOutput && code != 1 {
				add(i, true, values(t, p, p.Dims, code != 0))
			}
		}
		if l.NewObjectValueCount > 0 && code == 0 {
			add(signature.ParamNewObject, true, make([]int64, l.NewObjectValueCount))
		}
		for _, x := range []struct {
			sides []side
			find  func([]signature.Span, []int64) ([]signature.Span, error)
		}{{both, l.Spans}, {append(ins, outs...), l.KeySpans}} {
			vals := []int64{code}
			for _, s := range x.sides {
				vals = append(vals, s.vals...)
			}
			spans, err := x.find(nil, vals)
			if err != nil || len(spans) != len(x.sides) {
				t.Fatalf("%s: %v: %d spans, %d expected: %v", call.Name, vals, len(spans), len(x.sides), err)
			}
			at := 1
			for i, s := range spans {
				want := x.sides[i]
				if s.Param != want.param || s.IsOutput != want.out || s.First != at || !slices.Equal(vals[s.First:s.End], want.vals) {
					t.Fatalf("%s: span %d of %v is %+v, not %+v", call.Name, i, vals, s, want)
				}
				if at = s.End; s.Dims > 0 {
					n := 0
					for range s.Elements(vals) {
						n++
					}
					if int64(n) != max(0, vals[s.First]) {
						t.Fatalf("%s: %d elements in %v", call.Name, n, want.vals)
					}
				}
			}
			if spans, err := x.find(nil, append(vals, 1, 2, 3)); err == nil && code == 0 {
				t.Fatalf("%s: three values more are %+v", call.Name, spans)
			}
		}
	})
}

// FuzzLayout takes values that may be no call's apart.
func FuzzLayout(f *testing.F) {
	f.Add(uint16(30), []byte{0, 3, 1, 1, 1, 3, 1, 0, 0, 0, 0})
	f.Add(uint16(60), []byte{0, 0x90, 0x90, 0x90})
	f.Fuzz(func(t *testing.T, id uint16, b []byte) {
		call, ok := mpi.CallByID(id)
		if !ok {
			return
		}
		l := signature.LayoutOf(call)
		vals := make([]int64, len(b))
		for i, x := range b {
			if vals[i] = int64(int8(x)); x == 0x80 {
				vals[i] = -1 << 63
			}
		}
		for _, find := range []func([]signature.Span, []int64) ([]signature.Span, error){l.Spans, l.KeySpans} {
			spans, err := find(nil, vals)
			if err != nil {
				continue
			}
			at := 1
			for _, s := range spans {
				if s.First != at || s.End < at {
					t.Fatalf("%+v, %d expected", s, at)
				}
				at = s.End
				if s.Dims == 0 {
					continue
				}
				for e := range s.Elements(vals) {
					if e.First < s.First || e.End > s.End {
						t.Fatalf("%+v in %+v", e, s)
					}
				}
			}
			if at != len(vals) {
				t.Fatalf("%d of %d values", at, len(vals))
			}
			var m signature.LaneCandidates
			m.FindIn(&l, spans, vals)
			for _, list := range [][]int32{m.Positions, m.LayoutPositions, m.SegmentPositions} {
				if !slices.IsSorted(list) || len(list) > 0 && int(list[len(list)-1]) >= len(vals) {
					t.Fatalf("%d", list)
				}
			}
		}
	})
}
