package main

/*
#include <stdlib.h>
#include "call.h"
#include "measure.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/reproduce/replay"
	"github.com/spoor-hpc/spoor/internal/simulate/machine"
	"github.com/spoor-hpc/spoor/mpi"
)

// lab is one rank's part of a measurement in which all ranks of the job run experiments that rank 0 chooses.
type lab struct {
	rank, size int
	out        *C.int64_t // room for the samples of an experiment, outside of Go's heap
	seats      []machine.ProcessorBinding
}

// Tags of the messages between rank 0 and the others: processor bindings, experiments to run, their samples.
const (
	tagSeat = iota + 1
	tagTask
	tagSamples
)

const mostSamples = 1024

// calibration is the main function of a rank of `spoor machine measure`.
func calibration(h *host, task *machine.MeasureTask) error {
	debug.SetGCPercent(-1) // garbage collections would disturb the measurements, and little is allocated
	if rc := h.call("MPI_Init", 0, 0); rc != 0 {
		return fmt.Errorf("MPI_Init returned %d", rc)
	}
	l, err := newLab(h, task.TestFile)
	if err != nil {
		return err
	}
	if l.rank != 0 {
		err = l.serve()
	} else if err = l.lead(h, task); err == nil {
		err = l.end()
	}
	if err != nil {
		return err
	}
	if rc := h.call("MPI_Finalize"); rc != 0 {
		return fmt.Errorf("MPI_Finalize returned %d", rc)
	}
	return nil
}

// initialise calls MPI_Init_thread with MPI_THREAD_MULTIPLE.
func (h *host) initialise() error {
	provided, err := h.Alloc(8)
	if err != nil {
		return err
	}
	if rc := h.call("MPI_Init_thread", 0, 0, 3, provided); rc != 0 { // 3 is MPI_THREAD_MULTIPLE
		return fmt.Errorf("MPI_Init_thread returned %d", rc)
	}
	return nil
}

// call calls a function of the MPI, or a preloaded tracer's wrapper of it, with the arguments words. It returns the
// result, -1 if the function doesn't exist.
func (h *host) call(name string, words ...uint64) int {
	at, _ := h.Alloc(int64(unsafe.Sizeof(replay.Call{})))
	c := (*replay.Call)(*(*unsafe.Pointer)(unsafe.Pointer(&at)))
	c.FunctionAddress = uint64(uintptr(h.plain(name)))
	copy(c.Words[:], words)
	if c.FunctionAddress == 0 {
		return -1
	}
	h.MakeCall(c)
	return int(int32(c.Result))
}

// plain returns the function that a program would call by this name if the replay's library weren't there: a tracer's
// if one is preloaded, else the MPI's.
func (h *host) plain(name string) unsafe.Pointer {
	if h.HasTool() {
		if f := h.found(name); f != nil {
			return f
		}
	}
	return h.own(name)
}

func (h *host) handle(name string) C.uint64_t {
	c, _ := mpi.ConstantNamed(name)
	if symbol := c.SymbolIn(h.flavour); symbol != "" {
		return C.uint64_t(uintptr(h.own(symbol)))
	}
	v, _ := c.ValueIn(h.flavour)
	return C.uint64_t(uint32(v))
}

func newLab(h *host, file string) (*lab, error) {
	m := C.struct_measure_mpi{
		send: h.plain("MPI_Send"), ssend: h.plain("MPI_Ssend"), isend: h.plain("MPI_Isend"), recv: h.plain("MPI_Recv"), irecv: h.plain("MPI_Irecv"),
		wait: h.plain("MPI_Wait"), iprobe: h.plain("MPI_Iprobe"), comm_rank: h.plain("MPI_Comm_rank"),
		barrier: h.plain("MPI_Barrier"), allreduce: h.plain("MPI_Allreduce"), allgather: h.plain("MPI_Allgather"), alltoall: h.plain("MPI_Alltoall"),
		reduce_scatter: h.plain("MPI_Reduce_scatter"), reduce_local: h.plain("MPI_Reduce_local"),
		file_open: h.plain("MPI_File_open"), file_close: h.plain("MPI_File_close"), file_delete: h.plain("MPI_File_delete"), file_sync: h.plain("MPI_File_sync"),
		file_write_at: h.plain("MPI_File_write_at"), file_read_at: h.plain("MPI_File_read_at"), file_write_at_all: h.plain("MPI_File_write_at_all"),
		self: h.handle("MPI_COMM_SELF"), no_info: h.handle("MPI_INFO_NULL"), mode: h.handle("MPI_MODE_CREATE") | h.handle("MPI_MODE_RDWR"), file: C.CString(file),
		world: h.handle("MPI_COMM_WORLD"), byte: h.handle("MPI_BYTE"), number: h.handle("MPI_DOUBLE"), sum: h.handle("MPI_SUM"),
		ignore: C.uint64_t(mpi.LayoutOf(h.flavour).CSentinels.StatusIgnore.Value),
	}
	at, err := h.Alloc(4096 + 8*mostSamples)
	if err != nil {
		return nil, err
	}
	numbers := *(*unsafe.Pointer)(unsafe.Pointer(&at))
	if h.call("MPI_Comm_rank", uint64(m.world), at) != 0 || h.call("MPI_Comm_size", uint64(m.world), at+4) != 0 {
		return nil, errors.New("MPI_Comm_rank failed")
	}
	m.rank, m.size = *(*C.int32_t)(numbers), *(*C.int32_t)(unsafe.Add(numbers, 4))
	if C.measure_prepare(&m) == 0 {
		return nil, errors.New("no memory")
	}
	l := &lab{rank: int(m.rank), size: int(m.size), out: (*C.int64_t)(unsafe.Add(numbers, 4096))}
	return l, l.tellSeats()
}

// tellSeats sends each rank's processor binding to rank 0, which stores them in l.seats by rank.
func (l *lab) tellSeats() error {
	mine := machine.OwnProcessorBinding().Encode()
	room := C.malloc(C.size_t(len(mine)))
	defer C.free(room)
	buffer := unsafe.Slice((*byte)(room), len(mine))
	if l.rank != 0 {
		copy(buffer, mine)
		return failedWith("MPI_Send", C.measure_send(0, tagSeat, room, C.int64_t(len(mine))))
	}
	l.seats = append(l.seats, machine.OwnProcessorBinding())
	for r := 1; r < l.size; r++ {
		if err := failedWith("MPI_Recv", C.measure_quiet_receive(C.int(r), tagSeat, room, C.int64_t(len(mine)))); err != nil {
			return err
		}
		s, err := machine.DecodeProcessorBinding(buffer)
		if err != nil {
			return err
		}
		l.seats = append(l.seats, s)
	}
	return nil
}

func failedWith(what string, rc C.int) error {
	if rc != 0 {
		return fmt.Errorf("%s returned %d", what, rc)
	}
	return nil
}

func measured(rc C.int) error {
	if rc == C.MEASURE_NO_MEMORY {
		return errors.New("no memory for messages of that size: --most")
	}
	return failedWith("a measured call", rc)
}

// lead is rank 0's part: it runs the experiments on all ranks and writes the result file.
func (l *lab) lead(h *host, task *machine.MeasureTask) error {
	if task.TracedCalls > 0 {
		for _, x := range []machine.Experiment{{Kind: machine.MeasureLocalCalls, InnerRepetitions: task.TracedCalls, Samples: 1}, {Kind: machine.MeasureTracedExchanges, ToRank: 1, Bytes: 64, InnerRepetitions: task.TracedCalls}} {
			if _, err := l.Run(x); err != nil {
				return err
			}
		}
		return nil
	}
	say := func(format string, args ...any) {
		if !task.NoBackgroundProgress {
			fmt.Fprintf(os.Stderr, "spoor: "+format+"\n", args...)
		}
	}
	m, err := machine.CalibrateMachine(l, machine.CalibrateOptions{MaxMessageBytes: task.MaxMessageBytes, AllowNoise: task.AllowNoise, MeasureFiles: task.TestFile != "", Logf: say})
	result := machine.CalibrationResult{}
	var noise *machine.NoiseError
	switch {
	case errors.As(err, &noise): // the machine is too noisy: the job ends normally, and the result file says so
		result.NoiseErrorText = noise.Error()
	case err != nil:
		return err
	default:
		m.Name, m.FiguresSource = "measured", "spoor machine measure"
		result.MachineText = string(m.FileText(""))
	}
	if result.LocalCallNs, err = l.local(); err != nil {
		return err
	}
	result.Library = l.library(h)
	result.RankBindings = l.seats
	return result.Write(task.ResultFile)
}

// local measures how long an MPI call without communication takes, in ns.
func (l *lab) local() (float64, error) {
	const calls = 10_000
	samples, err := l.Run(machine.Experiment{Kind: machine.MeasureLocalCalls, InnerRepetitions: calls, Samples: 5})
	if err != nil {
		return 0, err
	}
	return float64(slices.Min(samples)) / calls, nil
}

// library returns the text of MPI_Get_library_version; if the call fails, the flavour's name.
func (l *lab) library(h *host) string {
	at, err := h.Alloc(1 << 16)
	if err != nil || h.call("MPI_Get_library_version", at, at+(1<<15)) != 0 {
		return h.flavour.String()
	}
	return C.GoString((*C.char)(*(*unsafe.Pointer)(unsafe.Pointer(&at))))
}

func (l *lab) Seats() []machine.ProcessorBinding { return l.seats }

// Run, called on rank 0, makes all ranks do their part of an experiment, and returns its samples.
func (l *lab) Run(x machine.Experiment) ([]int64, error) {
	if x.Samples > mostSamples {
		return nil, fmt.Errorf("%d samples are more than %d", x.Samples, mostSamples)
	}
	e := l.experiment(x)
	for r := 1; r < l.size; r++ {
		if err := failedWith("MPI_Send", C.measure_send(C.int(r), tagTask, unsafe.Pointer(e), C.int64_t(unsafe.Sizeof(*e)))); err != nil {
			return nil, err
		}
	}
	if err := measured(C.measure_run(e, l.out)); err != nil {
		return nil, err
	}
	if by := l.by(e); by != 0 {
		if err := failedWith("MPI_Recv", C.measure_quiet_receive(C.int(by), tagSamples, unsafe.Pointer(l.out), C.int64_t(8*x.Samples))); err != nil {
			return nil, err
		}
	}
	samples := make([]int64, x.Samples)
	for i := range samples {
		samples[i] = int64(*(*C.int64_t)(unsafe.Add(unsafe.Pointer(l.out), 8*i)))
	}
	return samples, nil
}

// experiment copies an experiment into a C struct outside of Go's heap, which the next call overwrites.
func (l *lab) experiment(x machine.Experiment) *C.struct_measure_experiment {
	e := (*C.struct_measure_experiment)(unsafe.Add(unsafe.Pointer(l.out), -1024))
	*e = C.struct_measure_experiment{
		kind: C.int64_t(x.Kind), from: C.int64_t(x.FromRank), to: C.int64_t(x.ToRank), bytes: C.int64_t(x.Bytes),
		samples: C.int64_t(x.Samples), inner: C.int64_t(x.InnerRepetitions), delay: C.int64_t(x.DelayNs),
	}
	return e
}

// by returns the rank that takes the samples of an experiment.
func (l *lab) by(e *C.struct_measure_experiment) int {
	if machine.ExperimentKind(e.kind) == machine.MeasureCollectives {
		return 0
	}
	return int(e.from)
}

// serve is the part of all ranks but 0: it runs the experiments that rank 0 sends, until one of kind MeasureEnd.
func (l *lab) serve() error {
	for {
		e := l.experiment(machine.Experiment{})
		if err := failedWith("MPI_Recv", C.measure_quiet_receive(0, tagTask, unsafe.Pointer(e), C.int64_t(unsafe.Sizeof(*e)))); err != nil {
			return err
		}
		if machine.ExperimentKind(e.kind) == machine.MeasureEnd {
			return nil
		}
		if err := measured(C.measure_run(e, l.out)); err != nil {
			return err
		}
		if l.by(e) == l.rank {
			if err := failedWith("MPI_Send", C.measure_send(0, tagSamples, unsafe.Pointer(l.out), 8*C.int64_t(e.samples))); err != nil {
				return err
			}
		}
	}
}

func (l *lab) end() error {
	e := l.experiment(machine.Experiment{Kind: machine.MeasureEnd})
	for r := 1; r < l.size; r++ {
		if err := failedWith("MPI_Send", C.measure_send(C.int(r), tagTask, unsafe.Pointer(e), C.int64_t(unsafe.Sizeof(*e)))); err != nil {
			return err
		}
	}
	return nil
}
