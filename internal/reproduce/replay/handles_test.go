package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
)

func TestWordsOfTwoFlavours(t *testing.T) {
	r := mergetest.Run(t, 2, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Send", 1, heap0, 16, 3, tracktest.IntType, tracktest.ProcNull, 7, tracktest.World)
		r.End()
	})
	symbol := func(name string) uint64 { a, _ := (&fake{}).SymbolAddress(name); return a }
	for _, x := range []struct {
		flavour mpi.Flavour
		want    []uint64
	}{
		{mpi.FlavourMPICH, []uint64{3, 0x4c000405, 0xffffffff, 7, 0x44000000}},
		{mpi.FlavourOpenMPI, []uint64{3, symbol("ompi_mpi_int"), 0xfffffffe, 7, symbol("ompi_mpi_comm_world")}},
		{mpi.FlavourABI, []uint64{3, 0x209, 0xfffffffd, 7, 0x101}},
	} {
		f := &fake{}
		if _, err := run(t, r, 1, f, x.flavour, Options{}); err != nil {
			t.Fatal(err)
		}
		w := f.calls[1].Words[1:6]
		w[2] &= 0xffffffff // an int
		if f.log[1] != "MPI_Send" || !slices.Equal(w, x.want) {
			t.Errorf("%v: %s%x, expected %x", x.flavour, f.log[1], w, x.want)
		}
		if f.calls[1].Words[0] == 0 {
			t.Errorf("%v: no buffer", x.flavour)
		}
	}
}

func TestHandlesThatTheProgramMade(t *testing.T) {
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		for range 3 {
			r.Call("MPI_Comm_dup", 1, tracktest.World, 1024, 0, 0, 0, 1, -1, 0, 0)
			r.Call("MPI_Barrier", 2, 1024)
			r.Call("MPI_Comm_free", 3, 1024)
		}
		r.End()
	})
	f := &fake{}
	f.on = map[string]func(c *Call){
		"MPI_Comm_dup": f.makes(1, 4),
		"MPI_Barrier": func(c *Call) {
			if c.Words[0] != 0x5000+f.last {
				t.Errorf("barrier on %x, expected %x", c.Words[0], 0x5000+f.last)
			}
		},
		"MPI_Comm_free": func(c *Call) {
			if got := load(c.Words[0], 4); got != 0x5000+f.last {
				t.Errorf("frees %x, expected %x", got, 0x5000+f.last)
			}
		},
	}
	if _, err := run(t, r, 0, f, mpi.FlavourMPICH, Options{}); err != nil {
		t.Fatal(err)
	}
	f = &fake{lacks: "MPI_Barrier"}
	f.on = map[string]func(c *Call){"MPI_Comm_dup": f.makes(1, 4)}
	if _, err := run(t, r, 0, f, mpi.FlavourMPICH, Options{}); err == nil || !strings.Contains(err.Error(), "call 2 of thread 0, MPI_Barrier: this MPI has no MPI_Barrier") {
		t.Errorf("error %v", err)
	}
}

// Two handles of one number, as the trace's MPI gave the same one twice: freeing the
// number once leaves the first.
func TestHandlesOfOneNumber(t *testing.T) {
	const group = 1024
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Comm_group", 1, tracktest.World, group)
		r.Call("MPI_Comm_group", 1, tracktest.World, group)
		r.Call("MPI_Group_size", 2, group, 1)
		r.Call("MPI_Group_free", 3, group)
		r.Call("MPI_Group_size", 2, group, 1)
		r.Call("MPI_Group_free", 3, group)
		r.Call("MPI_Comm_group", 1, tracktest.World, group)
		r.Call("MPI_Group_free", 3, group)
		r.End()
	})
	f := &fake{}
	var used []uint64
	f.on = map[string]func(c *Call){
		"MPI_Comm_group": f.makes(1, 4),
		"MPI_Group_size": func(c *Call) { used = append(used, c.Words[0]) },
		"MPI_Group_free": func(c *Call) {
			used = append(used, load(c.Words[0], 4))
			store(c.Words[0], 4, 0x08000000)
		},
	}
	p, err := run(t, r, 0, f, mpi.FlavourMPICH, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := []uint64{0x5002, 0x5002, 0x5001, 0x5001, 0x5003}; !slices.Equal(used, want) {
		t.Errorf("handles %#x, expected %#x", used, want)
	}
	if h := p.handles[mpi.KindGroup]; len(h.alive) != 0 || len(h.beneath) != 0 {
		t.Errorf("%d and %d handles are left", len(h.alive), len(h.beneath))
	}
}

// A handle that nobody made ends the replay with a message, not with a hang.
func TestHandleThatWasNeverMade(t *testing.T) {
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		r.Call("MPI_Barrier", 2, 1030)
	})
	_, err := run(t, r, 0, &fake{}, mpi.FlavourOpenMPI, Options{})
	if err == nil || !strings.Contains(err.Error(), "comm 1030 was never made") {
		t.Errorf("error %v", err)
	}
}
