package main

/*
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "call.h"

// same_object reports whether two addresses lie in the same library or executable.
static int same_object(void *a, void *b)
{
	Dl_info x, y;
	return dladdr(a, &x) && dladdr(b, &y) && x.dli_fbase == y.dli_fbase;
}

// own_find returns the address of a function in the library itself. It calls the C library's dlsym, as a preloaded
// tracer may define dlsym, too.
static void *own_find(void *library, const char *name)
{
	static void *(*find_in)(void *, const char *);
	if (!find_in) {
		void *c = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
		*(void **)&find_in = c ? dlsym(c, "dlsym") : NULL;
		if (!find_in)
			find_in = dlsym;
	}
	return find_in(library, name);
}

static void *find(const char *name) { return dlsym(RTLD_DEFAULT, name); }

static void *under_find(const char *name)
{
	Dl_info self;
	if (!dladdr((void *)under_init, &self))
		return NULL;
	void *h = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	void *p = h ? dlsym(h, name) : NULL;
	return p && same_object(p, (void *)under_init) ? p : NULL;
}
*/
import "C"

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/spoor-hpc/spoor/internal/reproduce/reissue"
	"github.com/spoor-hpc/spoor/internal/reproduce/replay"
	"github.com/spoor-hpc/spoor/internal/run/launch"
	"github.com/spoor-hpc/spoor/mpi"
)

// host is the MPI library of this process.
type host struct {
	flavour mpi.Flavour
	library unsafe.Pointer
	init    unsafe.Pointer // the MPI's own MPI_Init
	start   time.Time      // when newHost read the clock of C.time_now as began
	began   int64
}

// newHost loads the first of the MPI libraries that can be loaded.
func newHost(libraries []string) (*host, error) {
	h := &host{start: time.Now(), began: int64(C.time_now())}
	var problems []string
	for _, name := range libraries {
		if name == "" {
			continue
		}
		c := C.CString(name)
		// RTLD_GLOBAL lets preloaded tracers, and the replay's library below them, find the MPI's functions.
		h.library = C.dlopen(c, C.RTLD_NOW|C.RTLD_GLOBAL)
		C.free(unsafe.Pointer(c))
		if h.library != nil {
			break
		}
		problems = append(problems, C.GoString(C.dlerror()))
	}
	if h.library == nil {
		return nil, fmt.Errorf("no MPI library could be loaded: %s", strings.Join(problems, "; "))
	}
	h.init = h.own("PMPI_Init") // not MPI_Init, which tracers define
	if h.init == nil {
		return nil, fmt.Errorf("the library %s has no MPI_Init", libraries[0])
	}
	switch {
	case h.own("MPI_Abi_get_version") != nil && h.own("ompi_mpi_comm_world") == nil && h.own("MPIR_Dup_fn") == nil:
		h.flavour = mpi.FlavourABI
	case h.own("ompi_mpi_comm_world") != nil:
		h.flavour = mpi.FlavourOpenMPI
	default:
		h.flavour = mpi.FlavourMPICH
	}
	h.initUnder()
	C.call_prepare(C.int64_t(awake()))
	return h, nil
}

// awake returns how long before a call is due a rank stops sleeping and waits actively. It is 0 if this node has more
// ranks of the job than cores.
func awake() time.Duration {
	if launch.ReadJobPlace(os.Getenv).LocalRanks > int(C.sysconf(C._SC_NPROCESSORS_ONLN)) {
		return 0
	}
	return C.AWAKE
}

// initUnder passes the properties of this MPI to the replay's library below tracers.
func (h *host) initUnder() {
	l := mpi.LayoutOf(h.flavour)
	undefined, _ := mpi.ConstantNamed("MPI_UNDEFINED")
	inStatus, _ := mpi.ConstantNamed("MPI_ERR_IN_STATUS")
	pending, _ := mpi.ConstantNamed("MPI_ERR_PENDING")
	r, _ := pending.ValueIn(h.flavour)
	u, _ := undefined.ValueIn(h.flavour)
	e, _ := inStatus.ValueIn(h.flavour)
	m := C.struct_under_mpi{
		handle_size: C.int32_t(l.HandleSize(mpi.KindRequest)), status_size: C.int32_t(l.Status.SizeBytes),
		st_error: C.int32_t(l.Status.ErrorOffset), undefined: C.int32_t(u), err_in_status: C.int32_t(e), err_pending: C.int32_t(r),
	}
	// These constants are small numbers, so they are stored as numbers in C's pointer fields.
	*(*uint64)(unsafe.Pointer(&m.status_ignore)) = uint64(l.CSentinels.StatusIgnore.Value)
	*(*uint64)(unsafe.Pointer(&m.statuses_ignore)) = uint64(l.CSentinels.StatusesIgnore.Value)
	C.under_init(&m)
}

// own returns the function with this name in the MPI library itself, even if a preloaded tracer wraps it; nil if the
// library lacks it.
func (h *host) own(name string) unsafe.Pointer {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.own_find(h.library, c)
}

// onFiles returns the function of the replay's library that makes an I/O call of POSIX or C again, or helps with it. It
// returns nil for other names.
func onFiles(name string) unsafe.Pointer {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.under_files(c)
}

// has returns the function with this name in the MPI library or in the replay's own library; nil if both lack it.
func (h *host) has(name string) unsafe.Pointer {
	if f := onFiles(name); f != nil {
		return f
	}
	if p := h.own(name); p != nil {
		return p
	}
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.under_find(c)
}

// FunctionAddress returns the address of the function that a program would call: a tracer's if one is preloaded, else
// the MPI's. Without a tracer, functions whose outcome the trace dictates (replay.HasForcedOutcome) are those of the replay's
// library.
func (h *host) FunctionAddress(name string) uint64 {
	if f := onFiles(name); f != nil {
		return uint64(uintptr(f))
	}
	own := h.has(name)
	if own == nil {
		return 0
	}
	f := h.found(name)
	if f == nil || strings.HasPrefix(name, "PMPI_") { // PMPI_ names are for calls that tracers must not see
		f = own
	}
	if replay.HasForcedOutcome(name) && C.same_object(f, h.init) != 0 {
		p := C.CString("P" + name)
		defer C.free(unsafe.Pointer(p))
		if u := C.under_find(p); u != nil {
			f = u
		}
	}
	return uint64(uintptr(f))
}

// found returns the function that a program would call by this name: a tracer's if one is preloaded, else the MPI's.
func (h *host) found(name string) unsafe.Pointer {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.find(c)
}

// HasTool reports whether a tracer is preloaded. It looks whether MPI_Init is the MPI's own, as any tracer defines it.
func (h *host) HasTool() bool {
	f := h.found("MPI_Init")
	return f != nil && C.same_object(f, h.init) == 0
}

func (h *host) SymbolAddress(name string) (uint64, bool) {
	p := h.own(name)
	return uint64(uintptr(p)), p != nil
}

func (h *host) StandInAddress(kind reissue.StandIn) uint64 {
	return uint64(uintptr(C.under_stand_in(C.int(kind))))
}

// The structs of package replay and of call.h have equal sizes. Otherwise these constants are negative: a compile-time
// error for unsigned ones.
const (
	_ = -(unsafe.Sizeof(replay.Call{}) ^ C.sizeof_struct_call)
	_ = -(unsafe.Sizeof(replay.RepeatedCall{}) ^ C.sizeof_struct_repeats)
)

func (h *host) MakeCall(c *replay.Call) { C.call_make((*C.struct_call)(unsafe.Pointer(c))) }

func (h *host) RepeatCall(c *replay.Call, r *replay.RepeatedCall) {
	C.call_repeat((*C.struct_call)(unsafe.Pointer(c)), (*C.struct_repeats)(unsafe.Pointer(r)))
}

// ClockNs returns the time in ns of the clock that times calls (C.time_now), computed from Go's clock without cgo.
func (h *host) ClockNs() int64 { return h.began + int64(time.Since(h.start)) }

// Alloc returns the address of size bytes of zeroed address space. A page of it takes memory once it is written to.
func (h *host) Alloc(size int64) (uint64, error) {
	p, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 0, uintptr(size), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE, ^uintptr(0), 0)
	if errno != 0 {
		return 0, fmt.Errorf("mmap of %d bytes: %w", size, errno)
	}
	return uint64(p), nil
}

// Free unmaps memory. It calls munmap of the C library, where an MPI that has registered the memory with a network
// interface notices it.
func (h *host) Free(addr uint64, size int64) {
	C.munmap(*(*unsafe.Pointer)(unsafe.Pointer(&addr)), C.size_t(size))
}

// mapFixedNoReplace is MAP_FIXED_NOREPLACE, which package syscall does not have.
const mapFixedNoReplace = 0x100000

// ReserveAddress reserves address space at an address. Kernels before 4.17 may choose another address.
func (h *host) ReserveAddress(addr uint64, size int64) error {
	p, _, errno := syscall.Syscall6(syscall.SYS_MMAP, uintptr(addr), uintptr(size), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE|mapFixedNoReplace, ^uintptr(0), 0)
	if errno != 0 || uint64(p) != addr {
		return fmt.Errorf("%d bytes of address space at %#x, for what the program named by address: %w", size, addr, errno)
	}
	return nil
}
