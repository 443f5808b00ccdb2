package mpi

import "testing"

// MPICH's numbers of basic datatypes hold their sizes.
func TestTypeSize(t *testing.T) {
	seen := 0
	for _, c := range Constants(KindDatatype) {
		n, ok := PredefinedTypeSize(c.Value)
		if c.Name == "MPI_DATATYPE_NULL" {
			if ok {
				t.Errorf("%s has a size", c.Name)
			}
			continue
		}
		if !ok {
			t.Errorf("%s has no size", c.Name)
			continue
		}
		raw, known := c.ValueIn(FlavourMPICH)
		if !known || raw>>24 != 0x4c {
			continue
		}
		if want := raw >> 8 & 0xff; n != int64(want) {
			t.Errorf("%s has %d bytes, want %d", c.Name, n, want)
		}
		seen++
	}
	if seen < 50 {
		t.Errorf("only %d compared", seen)
	}
}
