/*
 * layers.c: other libraries that wrap MPI functions: profilers, checkers, I/O servers.
 *
 * A layer is above this library or below it, by the loader's search order. One above
 * is to the wrappers as the program is. One below gets the program's calls from the
 * wrappers (sp_next), and what it calls in its turn is not recorded.
 *
 * A layer may keep ranks for itself, which mostly never return from MPI_Init: those that do must not wait for
 * them. All ranks pass the layer's own call of PMPI_Init, and of PMPI_Finalize: recording starts and ends
 * there (sp_start_inside).
 *
 * But a layer may also show the program an MPI_COMM_WORLD without these ranks. The recording then runs over
 * the program's world, so it starts when MPI_Init returns to the program. Whether it is another world is asked
 * of the layer, whose count of calls that may change; so only one is asked that could do this, and did
 * something in MPI_Init that could be it.
 */
#define _GNU_SOURCE
#include "layers.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "calls.h"
#include "flavour.h"
#include "resolve.h"
#include "runtime.h"

#define MAX_LAYERS 16

static struct layer {
	uintptr_t lo, hi;
	char path[256];
} layers[MAX_LAYERS];
static int nlayers;

/* What layers did while MPI was initialised. */
static int initialised, made_handles;

int sp_is_layer(const void *address)
{
	uintptr_t a = (uintptr_t)address;
	int n = __atomic_load_n(&nlayers, __ATOMIC_ACQUIRE);
	for (int i = 0; i < n; i++)
		if (a >= layers[i].lo && a < layers[i].hi)
			return 1;
	return 0;
}

const char *sp_layer_path(int i)
{
	return i < __atomic_load_n(&nlayers, __ATOMIC_ACQUIRE) ? layers[i].path : NULL;
}

/* The object that has the address layer->lo. */
static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct layer *l = arg;
	uintptr_t lo = UINTPTR_MAX, hi = 0;
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		uintptr_t first = info->dlpi_addr + p->p_vaddr, end = first + p->p_memsz;
		lo = first < lo ? first : lo;
		hi = end > hi ? end : hi;
	}
	if (l->lo < lo || l->lo >= hi)
		return 0;
	l->lo = lo;
	l->hi = hi;
	strncpy(l->path, info->dlpi_name, sizeof l->path - 1);
	return 1;
}

/* The function is behind a wrapper, and not the MPI's under another name. */
static void note(const void *function, const void *mpi)
{
	static int lock;
	struct layer found = {.lo = (uintptr_t)function};
	const char *name;
	if (sp_is_layer(function) || !dl_iterate_phdr(find_object, &found) || sp_is_mpi_name(found.path))
		return;
	name = strrchr(found.path, '/');
	if (strncmp(name ? name + 1 : found.path, "libspoor", 8) == 0 /* a replay's own, below us */
	    || ((uintptr_t)mpi >= found.lo && (uintptr_t)mpi < found.hi))
		return;
	sp_lock_begin(&sp_self, &lock);
	if (nlayers < MAX_LAYERS && !sp_is_layer(function)) {
		layers[nlayers] = found;
		__atomic_store_n(&nlayers, nlayers + 1, __ATOMIC_RELEASE);
	}
	sp_lock_end(&sp_self);
}

void sp_layers_fortran(const void *procedure)
{
	note(procedure, sp_real[SP_ID_MPI_Init]);
}

/* Of Fortran the functions that a layer is known by; others are found when they are called. */
static void find_fortran(void)
{
	static const char *const names[][2] = {
		{"mpi_init_", "pmpi_init_"}, {"mpi_init_thread_", "pmpi_init_thread_"}, {"mpi_finalize_", "pmpi_finalize_"},
		{"mpi_send_", "pmpi_send_"}, {"mpi_isend_", "pmpi_isend_"}, {"mpi_recv_", "pmpi_recv_"},
		{"mpi_irecv_", "pmpi_irecv_"}, {"mpi_waitall_", "pmpi_waitall_"}, {"mpi_bcast_", "pmpi_bcast_"},
		{"mpi_barrier_", "pmpi_barrier_"}, {"mpi_allreduce_", "pmpi_allreduce_"},
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *p = dlsym(RTLD_NEXT, names[i][0]), *mpi = p ? dlsym(RTLD_NEXT, names[i][1]) : NULL;
		if (p && p != mpi)
			note(p, mpi);
	}
}

void sp_layers_find(void)
{
	for (int i = 0; i < SP_NCALLS; i++)
		if (sp_next[i] && sp_next[i] != sp_real[i])
			note(sp_next[i], sp_real[i]);
	find_fortran();
}

void sp_layer_calls(const void *site, int handles)
{
	if (handles && sp_is_layer(site))
		__atomic_store_n(&made_handles, 1, __ATOMIC_RELAXED);
}

void sp_layer_initialises(const void *site)
{
	if (sp_is_layer(site))
		__atomic_store_n(&initialised, 1, __ATOMIC_RELAXED);
}

int sp_layers_may_change_world(void)
{
	return sp_is_layer(sp_next[SP_ID_MPI_Comm_size]) && sp_is_layer(sp_next[SP_ID_MPI_Comm_rank])
		&& sp_is_layer(sp_next[SP_ID_MPI_Comm_dup]);
}

int sp_layers_change_world(void)
{
	int size = 0, all = 0, rank = 0, own = 0;
	uint64_t moved = 0, any = 0;
	if (!sp_layers_may_change_world() || (initialised && !made_handles))
		return 0;
	P_MPI_Comm_size(sp_fl.comm_world, &all);
	P_MPI_Comm_rank(sp_fl.comm_world, &own);
	N_MPI_Comm_size(sp_fl.comm_world, &size);
	N_MPI_Comm_rank(sp_fl.comm_world, &rank);
	if (size != all)
		return 1;
	/* all of them are here: a layer may still number them anew */
	moved = rank != own;
	P_MPI_Allreduce(&moved, &any, (int)sizeof moved, sp_fl.byte, sp_fl.bor, sp_fl.comm_world);
	return any != 0;
}
