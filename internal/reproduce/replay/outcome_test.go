package replay

import (
	"fmt"
	"testing"

	"github.com/spoor-hpc/spoor/mpi"
	"github.com/spoor-hpc/spoor/test/mergetest"
	"github.com/spoor-hpc/spoor/test/tracktest"
	"github.com/spoor-hpc/spoor/trace"
)

// What the calls are told about how to end.
func TestOutcomes(t *testing.T) {
	r := mergetest.Run(t, 1, func(r *tracktest.Recorder) {
		r.Begin()
		// A receive from any source, tag any, of a message from 5 with tag 9.
		r.Call("MPI_Recv", 1, heap0, 0, 4, tracktest.IntType, -1, -2, tracktest.World, 2, 5, 9, 16, 0)
		// One that ends in a later Waitany as the second of two.
		r.Irecv(2, 4, -1, -2)
		r.Irecv(3, 4, 1, 1)
		r.Call("MPI_Waitany", 4, 2, 2, 2, 4, 1, 2, 6, 8, 16, 0)
		r.Call("MPI_Test", 5, 2, 0, 0)
		r.Call("MPI_Test", 6, 2, 1, 1, 1, 1, 16, 0)
		r.Call("MPI_Iprobe", 7, -1, -2, tracktest.World, 1, 1, 3, 4, 16, 0)
		r.Call("MPI_Iprobe", 8, -1, -2, tracktest.World, 0, 0)
		r.End()
	})
	type outcome struct {
		function          string
		flag, source, tag int32
		index             []int32
	}
	f := &fake{}
	var got []outcome
	made := f.makes(6, 4)
	note := func(c *Call) {
		if c.OutcomeAddress == 0 {
			got = append(got, outcome{})
			return
		}
		at := func(off uint64) int32 { return int32(load(c.OutcomeAddress+off, 4)) }
		o := outcome{function: textAt(load(c.OutcomeAddress, 8)), flag: at(8), source: at(12), tag: at(16)}
		for i := range at(20) {
			o.index = append(o.index, at(32+4*uint64(i)))
		}
		got = append(got, o)
	}
	f.on = map[string]func(c *Call){
		"MPI_Recv": note, "MPI_Waitany": note, "MPI_Test": note, "MPI_Iprobe": note,
		"MPI_Irecv": func(c *Call) { made(c); note(c) },
	}
	if _, err := run(t, r, 0, f, mpi.FlavourMPICH, Options{}); err != nil {
		t.Fatal(err)
	}
	want := []outcome{
		{"PMPI_Recv", 0, 5, 9, nil},
		{"PMPI_Irecv", 0, 6, 8, nil},
		{},
		{"PMPI_Waitany", 0, 0, 0, []int32{1}},
		{"PMPI_Test", 0, 0, 0, nil},
		{"PMPI_Test", 1, 0, 0, nil},
		{"PMPI_Iprobe", 1, 3, 4, nil},
		{"PMPI_Iprobe", 0, 0, 0, nil},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("outcomes\n%v, expected\n%v", got, want)
	}
}

func TestStatusLayouts(t *testing.T) {
	for _, flavour := range mpi.Flavours() {
		f := &fake{}
		s := &Stream{p: &Process{host: f, flavour: flavour, layout: mpi.LayoutOf(flavour)}}
		at, err := f.Alloc(256)
		if err != nil {
			t.Fatal(err)
		}
		s.fillStatus(at, &trace.StatusValue{Form: trace.StatusFormFilled, Source: -3, Tag: 11, ReceivedBytes: 5<<32 + 7, Cancelled: true})
		l := mpi.LayoutOf(flavour).Status
		source := mpi.NumberTableOf(flavour, mpi.KindRank).ToABI(int64(int32(load(at+uint64(l.SourceOffset), 4))))
		if tag := load(at+uint64(l.TagOffset), 4); source != -3 || tag != 11 {
			t.Errorf("%v: source %d, tag %d", flavour, source, tag)
		}
		switch l.CountForm {
		case mpi.StatusCountSplit:
			if low, high := load(at, 4), load(at+4, 4); low != 7 || high != 5<<1|1 {
				t.Errorf("%v: count in %x and %x", flavour, low, high)
			}
		case mpi.StatusCountWord:
			if n, c := load(at+16, 8), load(at+12, 4); n != 5<<32+7 || c != 1 {
				t.Errorf("%v: count %x, cancelled %d", flavour, n, c)
			}
		}
	}
}
