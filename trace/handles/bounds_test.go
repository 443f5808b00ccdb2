package handles

import (
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/trace"
)

func TestSpanOfTypes(t *testing.T) {
	b := NewHandleBounds(4)
	b.datatype(1024, &trace.NewType{Size: 8, LowerBound: 0, Extent: 100, TrueLowerBound: -4, TrueExtent: 50})
	if low, high := b.BufferSpan(1024, 3); low != -4 || high != 246 {
		t.Errorf("three of a type reach from %d to %d", low, high)
	}
	b.datatype(1024, &trace.NewType{Size: 8, Extent: -10, TrueLowerBound: 0, TrueExtent: 8})
	if low, high := b.BufferSpan(1024, 2); low != -4 || high != 146 {
		t.Errorf("a number used twice reaches from %d to %d", low, high)
	}
	if low, high := b.BufferSpan(0x209, 0); low != 0 || high != 0 {
		t.Errorf("nothing reaches from %d to %d", low, high)
	}
}

func TestPredefinedExtents(t *testing.T) {
	for name, extent := range map[string]int64{
		"MPI_INT": 4, "MPI_INT64_T": 8, "MPI_UINT8_T": 1, "MPI_REAL8": 8, "MPI_COMPLEX16": 16, "MPI_COMPLEX32": 32,
		"MPI_INTEGER2": 2, "MPI_LOGICAL4": 4, "MPI_BYTE": 1, "MPI_LONG_DOUBLE": 16,
		"MPI_SHORT_INT": 8, "MPI_DOUBLE_INT": 16, "MPI_2INT": 8, "MPI_DATATYPE_NULL": 0,
	} {
		c, ok := mpi.ConstantNamed(name)
		if !ok {
			t.Fatalf("no constant %s", name)
		}
		if got := NewHandleBounds(1).Type(c.Value).Extent; got != extent {
			t.Errorf("%s extends over %d bytes, expected %d", name, got, extent)
		}
	}
}
