package capture

import (
	"testing"

	"github.com/spoor-hpc/spoor/internal/record/event"
	"github.com/spoor-hpc/spoor/mpi"
)

// Raw values of MPICH.
const (
	commNull    = 0x04000000
	commWorld   = 0x44000000
	typeInt     = 0x4c000405
	opSum       = 0x58000003
	requestNull = 0x2c000000
	shared      = 0x6c000000 // the handle of all operations that complete at once
	anySource   = ^uint64(1) // -2
	success     = 0
)

// A synth writes the records of one thread as the shim would.
type synth struct {
	tb     testing.TB
	w      *event.Writer
	site   uint64
	stacks int
}

func newSynth(tb testing.TB, thread int, capacity uint64) *synth {
	tb.Helper()
	w, err := event.NewWriter(thread, capacity)
	if err != nil {
		tb.Fatal(err)
	}
	w.NextTicks = 1000
	w.SetStack(0x7ff000000000, 0x7ff000100000, 0x7ff0000ff000)
	return &synth{tb: tb, w: w, site: 0x401000}
}

func id(tb testing.TB, name string) uint16 {
	c, ok := mpi.CallNamed(name)
	if !ok {
		tb.Helper() // which takes longer than all that benchmarks do with a call
		tb.Fatalf("no call %s", name)
	}
	return c.ID
}

func (s *synth) enter(name string, in ...uint64) {
	if err := s.w.Enter(id(s.tb, name), 0, s.site, in...); err != nil {
		s.tb.Helper()
		s.tb.Fatal(err)
	}
}

func (s *synth) leave(name string, out ...uint64) {
	if err := s.w.Leave(id(s.tb, name), 0, out...); err != nil {
		s.tb.Helper()
		s.tb.Fatal(err)
	}
}

// fail ends a call with an error code and no outputs.
func (s *synth) fail(name string, rc int64) {
	s.tb.Helper()
	if err := s.w.Leave(id(s.tb, name), event.FlagReturnCode|event.FlagNoOutputs, uint64(rc)); err != nil {
		s.tb.Fatal(err)
	}
}

// Parts.

func buffer(addr uint64) []uint64 { return []uint64{event.AddressClassRaw << 56, addr} }

func statusOf(source, tag, bytes int64) []uint64 {
	return []uint64{event.StatusFormFilled, uint64(source), uint64(tag), uint64(bytes), 0, 0}
}

func cat(parts ...any) []uint64 {
	var out []uint64
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = append(out, uint64(int64(p)))
		case uint64:
			out = append(out, p)
		case []uint64:
			out = append(out, p...)
		default:
			panic("cat: bad part")
		}
	}
	return out
}

// from makes a stack the place that the next calls come from.
func (s *synth) from(addrs ...uint64) {
	s.tb.Helper()
	s.stacks++
	s.site = event.StackKey(s.w.Ring.Thread(), s.stacks)
	if err := s.w.Write(0, event.KindStack, 0, append([]uint64{s.site}, addrs...)); err != nil {
		s.tb.Fatal(err)
	}
}

// attach names a value and attaches a number to the last call.
func (s *synth) attach(id uint64, v int64) {
	s.tb.Helper()
	name := uint64('a' + id)
	if err := s.w.Write(0, event.KindAttachedValueName, 0, []uint64{id, 1, name}); err != nil {
		s.tb.Fatal(err)
	}
	if err := s.w.Write(0, event.KindAttachedValues, 0, []uint64{3, id, uint64(v), id, 7}); err != nil {
		s.tb.Fatal(err)
	}
}

const stackBuf = 0x7ff0000fe000

func (s *synth) commRank() {
	s.enter("MPI_Comm_rank", commWorld)
	s.leave("MPI_Comm_rank", 0)
}

func (s *synth) iprobe() {
	s.enter("MPI_Iprobe", anySource, 7, commWorld)
	s.leave("MPI_Iprobe", cat(0, make([]uint64, 6))...)
}

func (s *synth) isend(handle, place uint64) {
	s.enter("MPI_Isend", cat(buffer(stackBuf), 4, typeInt, 1, 3, commWorld)...)
	s.leave("MPI_Isend", handle, place)
}

func (s *synth) irecv(handle, place uint64) {
	s.enter("MPI_Irecv", cat(buffer(stackBuf+64), 4, typeInt, 1, 3, commWorld)...)
	s.leave("MPI_Irecv", handle, place)
}

// waitall waits for requests that stand side by side from place on.
func (s *synth) waitall(place uint64, handles ...uint64) {
	n := len(handles)
	s.enter("MPI_Waitall", cat(n, n, place, 4, handles)...)
	out := []uint64{uint64(n)}
	for range handles {
		out = append(out, statusOf(1, 3, 16)...)
	}
	s.leave("MPI_Waitall", out...)
}

func (s *synth) wait(handle, place uint64) {
	s.enter("MPI_Wait", handle, place)
	s.leave("MPI_Wait", statusOf(1, 3, 16)...)
}

func (s *synth) allreduce() {
	s.enter("MPI_Allreduce", cat(buffer(stackBuf), buffer(stackBuf+8), 1, typeInt, opSum, commWorld)...)
	s.leave("MPI_Allreduce")
}

func testConfig() ProcessConfig {
	return ProcessConfig{Context: Context{
		Flavour: mpi.FlavourMPICH, Rank: 1, Ranks: 4, Cwd: "/home/me", Host: "node", PID: 7, TicksPerNs: 2, StartTicks: 1000, StartNs: 5e9,
	}}
}

// attach makes a capture of the synths' rings.
func attach(tb testing.TB, cfg ProcessConfig, threads ...*synth) *Capture {
	tb.Helper()
	c, err := New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	for i, s := range threads {
		if err := c.AttachRing(i, s.w.Ring); err != nil {
			tb.Fatal(err)
		}
	}
	return c
}
