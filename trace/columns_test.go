package trace_test

import (
	"slices"
	"testing"

	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// Columns say what signatures say, value by value, and parameters stand where
// ParamPositions says.
func TestColumns(t *testing.T) {
	for name, program := range map[string]func(r *tracktest.Recorder){
		"stencil": tracktest.Stencil(3), "butterfly": tracktest.Butterfly(2), "transpose": tracktest.Transpose(2), "workers": tracktest.Workers(40),
	} {
		for _, ranks := range []int{1, 4, 12, 16} {
			r := mergetest.Run(t, ranks, program)
			for class := range r.Classes() {
				x, err := r.Columns(class)
				if err != nil {
					t.Fatal(err)
				}
				for member, rank := range x.Ranks() {
					k, err := r.Rank(rank)
					if err != nil {
						t.Fatal(err)
					}
					for terminal := range k.Terminals() {
						want := k.Signature(terminal)
						var got []int64
						for p := range x.ValueCount(terminal) {
							got = append(got, x.At(terminal, p, member))
							if v, ok := x.Uniform(terminal, p); ok && v != want[p] {
								t.Errorf("%s: value %d of call %d is not always %d", name, p, terminal, v)
							}
							if text, others := x.Formula(terminal, p); text == "" && others != nil {
								t.Errorf("%s: others %d of no formula", name, others)
							}
						}
						if !slices.Equal(got, want) {
							t.Errorf("%s on %d: call %d of rank %d: %d, want %d", name, ranks, terminal, rank, got, want)
						}
						params(t, k, terminal, want)
					}
				}
			}
		}
	}
}

func params(t *testing.T, k *trace.Rank, terminal int, vals []int64) {
	t.Helper()
	c, err := k.Terminal(terminal)
	if err != nil {
		t.Fatal(err)
	}
	at, err := k.Positions(terminal)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range c.Params {
		for _, part := range []struct {
			at int
			v  trace.Value
		}{{at.Params[i].In, p.In}, {at.Params[i].Out, p.Out}} {
			if (part.at >= 0) != (part.v.Type != trace.TypeNone) {
				t.Errorf("%s: %s is at %d, and is %+v", c.Name(), p.Name(), part.at, part.v)
			}
			if part.v.Type == trace.TypeInt && vals[part.at] != part.v.Num {
				t.Errorf("%s: %s is %d, not %d", c.Name(), p.Name(), vals[part.at], part.v.Num)
			}
		}
	}
}

func TestFormulas(t *testing.T) {
	peers := func(peer func(rank, size int64) int64) func(r *tracktest.Recorder) {
		return func(r *tracktest.Recorder) {
			r.Begin()
			r.Send(1, 10, peer(int64(r.Rank), int64(r.Size)), 0)
			r.End()
		}
	}
	for _, tc := range []struct {
		want   string
		others []int64
		peer   func(rank, size int64) int64
	}{
		{"7", nil, func(r, n int64) int64 { return 7 }},
		{"rank+1", nil, func(r, n int64) int64 { return r + 1 }},
		{"rank-1", []int64{-3}, func(r, n int64) int64 {
			if r == 0 {
				return tracktest.ProcNull
			}
			return r - 1
		}},
		{"(rank+1) mod 16", nil, func(r, n int64) int64 { return (r + 1) % n }},
		{"(rank-1) mod 16", nil, func(r, n int64) int64 { return (r + n - 1) % n }},
		{"rank xor 4", nil, func(r, n int64) int64 { return r ^ 4 }},
		{"(y, x) of a grid 4 wide", nil, func(r, n int64) int64 { return r%4*4 + r/4 }},
		{"(x+1 mod 4, y) of a grid 4 wide", nil, func(r, n int64) int64 { return (r+1)%4 + r/4*4 }},
		{"", nil, func(r, n int64) int64 { return r * r * 7919 % 13 }},
	} {
		r := mergetest.Run(t, 16, peers(tc.peer))
		x, err := r.Columns(0)
		if err != nil {
			t.Fatal(err)
		}
		k, err := r.Rank(0)
		if err != nil {
			t.Fatal(err)
		}
		at, err := k.Positions(1)
		if err != nil {
			t.Fatal(err)
		}
		if got, others := x.Formula(1, at.Params[3].In); got != tc.want || !slices.Equal(others, tc.others) {
			t.Errorf("%q besides %d, want %q besides %d", got, others, tc.want, tc.others)
		}
	}
}
