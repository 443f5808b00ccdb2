package main

// #cgo LDFLAGS: -ldl
// #define _GNU_SOURCE
// #include <dlfcn.h>
// #include <stdlib.h>
// #include "../shim/engine.h"
// #include "../shim/record.h"
//
// static uint64_t host_ticks(const struct spoor_host *h) { return h->ticks(); }
// static void host_clock_pair(const struct spoor_host *h, uint64_t *ticks, int64_t *ns) { h->clock_pair(ticks, ns); }
// static int32_t host_nthreads(const struct spoor_host *h) { return h->nthreads(); }
// static void *host_ring(const struct spoor_host *h, int32_t i) { return h->ring(i); }
// static int32_t host_send(const struct spoor_host *h, int32_t to, const void *p, uint64_t n) { return h->send(to, p, n); }
// static int32_t host_recv(const struct spoor_host *h, int32_t from, void *p, uint64_t n) { return h->recv(from, p, n); }
// static int32_t host_await(const struct spoor_host *h, int32_t from) { return h->await(from); }
// static void *host_symbol(const char *name) { return dlsym(RTLD_DEFAULT, name); }
import "C"

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/record/event"
)

// kept is what spoor_engine_finish returns if the shim must keep the rank's records, as the trace isn't whole.
const kept = C.SPOOR_KEPT

// A host is the engine's interface to the shim: the functions of struct spoor_host.
type host struct{ c *C.struct_spoor_host }

func (h host) ticks() uint64 { return uint64(C.host_ticks(h.c)) }

func (h host) clockPair() (ticks uint64, ns int64) {
	var t C.uint64_t
	var n C.int64_t
	C.host_clock_pair(h.c, &t, &n)
	return uint64(t), int64(n)
}

func (h host) dir() string {
	if h.c.dir == nil {
		return ""
	}
	return C.GoString(h.c.dir)
}

func (h host) has(flag uint32) bool { return uint32(h.c.flags)&flag != 0 }

// clock returns the name of the clock that the shim reads: "tsc" or "monotonic".
func (h host) clock() string {
	if h.has(C.SPOOR_TSC) {
		return "tsc"
	}
	return "monotonic"
}

func (h host) threads() int { return int(C.host_nthreads(h.c)) }

// ring returns the address of a thread's ring, and the ring; nil if the thread has none.
func (h host) ring(thread int) (unsafe.Pointer, *event.Ring, error) {
	p := C.host_ring(h.c, C.int32_t(thread))
	if p == nil {
		return nil, nil, nil
	}
	size := event.RingSize(unsafe.Slice((*uint64)(p), event.HeaderSize/8))
	r, err := event.OpenRing(unsafe.Slice((*uint64)(p), size/8))
	if err != nil {
		return nil, nil, fmt.Errorf("thread %d: %w", thread, err)
	}
	return p, r, nil
}

// symbol returns the address of a variable or function that the process has under a name, such as an object of the MPI
// library, and whether there is one.
func symbol(name string) (uint64, bool) {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	p := C.host_symbol(s)
	return uint64(uintptr(p)), p != nil
}

// Rank, Size, Send and Recv make a host the merge's transport. A message's length is sent before the message, as the
// shim's receiving function must be given it. A message longer than eager is sent only after the receiver has asked for
// it: MPI_Send could block for ever if the receiver is dead.

func (h host) Rank() int { return int(h.c.rank) }

func (h host) Size() int { return int(h.c.ranks) }

// eager is the length in bytes up to which a message is sent without being asked for.
const eager = 1 << 10

var ready = []byte{1}

func (h host) Send(dest int, data []byte) error {
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(data)))
	if err := h.send(dest, length[:]); err != nil {
		return err
	}
	if len(data) > eager {
		if err := h.await(dest); err != nil {
			return err
		}
		var answer [1]byte
		if err := h.recv(dest, answer[:]); err != nil {
			return err
		}
	}
	return h.send(dest, data)
}

func (h host) send(dest int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return failure(C.host_send(h.c, C.int32_t(dest), unsafe.Pointer(&data[0]), C.uint64_t(len(data))), "send to", dest)
}

func (h host) Recv(source int) ([]byte, error) {
	if err := h.await(source); err != nil {
		return nil, err
	}
	var length [8]byte
	if err := h.recv(source, length[:]); err != nil {
		return nil, err
	}
	data := make([]byte, binary.LittleEndian.Uint64(length[:]))
	if len(data) > eager {
		if err := h.send(source, ready); err != nil {
			return nil, err
		}
	}
	return data, h.recv(source, data)
}

// await waits until a message from a rank can be received without blocking.
func (h host) await(source int) error {
	return failure(C.host_await(h.c, C.int32_t(source)), "wait for", source)
}

// failure converts a return code of the shim's functions send, recv and await to an error; nil for success.
func failure(rc C.int32_t, doing string, rank int) error {
	switch rc {
	case 0:
		return nil
	case C.SPOOR_LATE:
		return fmt.Errorf("nothing was heard of rank %d for too long", rank)
	default:
		return fmt.Errorf("%s rank %d: MPI error %d", doing, rank, int(rc))
	}
}

func (h host) recv(source int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return failure(C.host_recv(h.c, C.int32_t(source), unsafe.Pointer(&data[0]), C.uint64_t(len(data))), "receive from", source)
}
