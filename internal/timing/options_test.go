package timing

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Options come out of the environment as they went in.
func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Mode: Stats},
		{Mode: Path, Bins: 12},
		{Mode: SZSig, Error: 0.05, Errors: map[string]float64{"MPI_Send": 0.01, "MPI_Wait": 1e-6}},
	} {
		env := make(map[string]string)
		for _, v := range o.Environment() {
			env[v[0]] = v[1]
		}
		got, err := ParseOptions(func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(o, got); d != "" {
			t.Error(d)
		}
	}
	for _, bad := range []map[string]string{
		{ModeVariable: "exact"}, {BinsVariable: "1"}, {BinsVariable: "x"}, {ErrorsVariable: "0"}, {ErrorsVariable: "MPI_Send=NaN"}, {ErrorsVariable: "2"},
	} {
		if _, err := ParseOptions(func(name string) string { return bad[name] }); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	o := Options{Mode: SZ, Errors: map[string]float64{"MPI_Send": 0.01}}
	if o.Bound("MPI_Send") != 0.01 || o.Bound("MPI_Recv") != DefaultError {
		t.Errorf("bounds %v and %v", o.Bound("MPI_Send"), o.Bound("MPI_Recv"))
	}
}
