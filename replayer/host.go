package main

/*
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "call.h"

// Whether an address lies in the same object as another.
static int same_object(void *a, void *b)
{
	Dl_info x, y;
	return dladdr(a, &x) && dladdr(b, &y) && x.dli_fbase == y.dli_fbase;
}

// What a library itself has: a tracer may answer for dlsym, too.
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
	start   time.Time      // start of the clock of calls
	began   int64
}

// newHost loads the first of the libraries that is there.
func newHost(libraries []string) (*host, error) {
	h := &host{start: time.Now(), began: int64(C.time_now())}
	var problems []string
	for _, name := range libraries {
		if name == "" {
			continue
		}
		c := C.CString(name)
		// Global, so that tracers find it, and the library under them.
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
	h.init = h.own("PMPI_Init") // a tracer may define MPI_Init, too
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

// awake is how long before a call is due a rank stops sleeping: 0 if this node has more ranks than cores.
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
		handle_size: C.int32_t(l.HandleSize(mpi.KindRequest)), status_size: C.int32_t(l.Status.Size),
		st_error: C.int32_t(l.Status.Error), undefined: C.int32_t(u), err_in_status: C.int32_t(e), err_pending: C.int32_t(r),
	}
	// These constants are small numbers, so they are stored as numbers in C's pointer fields.
	*(*uint64)(unsafe.Pointer(&m.status_ignore)) = uint64(l.C.StatusIgnore.Value)
	*(*uint64)(unsafe.Pointer(&m.statuses_ignore)) = uint64(l.C.StatusesIgnore.Value)
	C.under_init(&m)
}

// own returns the function of a name that the MPI library itself defines, even if a tracer is in front of it.
func (h *host) own(name string) unsafe.Pointer {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.own_find(h.library, c)
}

// onFiles returns the function that repeats an I/O call, or a helper for it.
func onFiles(name string) unsafe.Pointer {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.under_files(c)
}

// has returns the function of a name in the MPI library, or in the one below tracers.
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

// FunctionAddress returns the address of the function that a program would call: a tracer's if one is in front of the
// MPI. Otherwise calls with a dictated outcome go to the replay's library directly.
func (h *host) FunctionAddress(name string) uint64 {
	if f := onFiles(name); f != nil {
		return uint64(uintptr(f))
	}
	own := h.has(name)
	if own == nil {
		return 0
	}
	f := h.found(name)
	if f == nil || strings.HasPrefix(name, "PMPI_") { // for the replay's own ends: not a tracer's
		f = own
	}
	if replay.IsDirected(name) && C.same_object(f, h.init) != 0 {
		p := C.CString("P" + name)
		defer C.free(unsafe.Pointer(p))
		if u := C.under_find(p); u != nil {
			f = u
		}
	}
	return uint64(uintptr(f))
}

// found returns the function that a program would get by a name.
func (h *host) found(name string) unsafe.Pointer {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c))
	return C.find(c)
}

// HasTool reports whether a tracer is in front of the MPI: any tracer defines MPI_Init.
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

// Go and C have the same structs: otherwise these constants are negative and do not compile.
const (
	_ = -(unsafe.Sizeof(replay.Call{}) ^ C.sizeof_struct_call)
	_ = -(unsafe.Sizeof(replay.RepeatedCall{}) ^ C.sizeof_struct_repeats)
)

func (h *host) MakeCall(c *replay.Call) { C.call_make((*C.struct_call)(unsafe.Pointer(c))) }

func (h *host) RepeatCall(c *replay.Call, r *replay.RepeatedCall) {
	C.call_repeat((*C.struct_call)(unsafe.Pointer(c)), (*C.struct_repeats)(unsafe.Pointer(r)))
}

// ClockNs is the time of the clock that calls are timed with, in ns, read by Go.
func (h *host) ClockNs() int64 { return h.began + int64(time.Since(h.start)) }

// Alloc reserves address space: a page takes memory once it is written to.
func (h *host) Alloc(size int64) (uint64, error) {
	p, _, errno := syscall.Syscall6(syscall.SYS_MMAP, 0, uintptr(size), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE, ^uintptr(0), 0)
	if errno != 0 {
		return 0, fmt.Errorf("mmap of %d bytes: %w", size, errno)
	}
	return uint64(p), nil
}

// Free uses the C library, where an MPI with registered memory notices it.
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
