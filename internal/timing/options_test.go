package timing

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Options come out of the environment as they went in.
func TestOptions(t *testing.T) {
	for _, o := range []Options{
		{Mode: ModeStats, Waits: WaitsNever},
		{Mode: ModeNone, Waits: WaitsAlways},
		{Waits: WaitsAuto, Mode: ModeHist, Bins: 12},
		{Waits: WaitsAuto, Mode: ModeHistSig, Bins: 16, SampleCalls: 1000},
		{Waits: WaitsAuto, Mode: ModeSZSig, ErrorBound: Bound{Relative: 0.05}, FunctionErrorBounds: map[string]Bound{"MPI_Send": {Relative: 0.01}, "MPI_Wait": {Relative: 1e-6}}},
		{Waits: WaitsAuto, Mode: ModePlace, ErrorBound: Bound{Absolute: 10 * time.Microsecond}, FunctionErrorBounds: map[string]Bound{"MPI_Send": {Absolute: 1500 * time.Microsecond}, "MPI_Wait": {Relative: 0.5}}},
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
		{ErrorsVariable: "0us"}, {ErrorsVariable: "-5us"}, {ErrorsVariable: "MPI_Send=10 parsecs"}, {SampleVariable: "0"}, {WaitsVariable: "often"}, {WhenVariable: "0"}, {WhenVariable: "soon"},
	} {
		if _, err := ParseOptions(func(name string) string { return bad[name] }); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	o := Options{Mode: ModeSZ, FunctionErrorBounds: map[string]Bound{"MPI_Send": {Absolute: 5}}}
	if o.Bound("MPI_Send") != (Bound{Absolute: 5}) || o.Bound("MPI_Recv") != (Bound{Relative: DefaultRelativeError}) {
		t.Errorf("bounds %v and %v", o.Bound("MPI_Send"), o.Bound("MPI_Recv"))
	}
}
