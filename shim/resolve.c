/*
 * resolve.c: finding what stands behind the wrappers and the flavour, at the first MPI call, and
 * what stands for a function that the MPI does not have.
 *
 * Usually the MPI library comes after this one in the loader's search order.
 * Python and Julia load it with RTLD_LOCAL: then no search order leads to it,
 * and it has to be looked for among the loaded objects.
 */
#define _GNU_SOURCE
#include "resolve.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "flavour.h"
#include "layers.h"
#include "runtime.h"

#define MAX_OBJECTS 4096

void *sp_real[SP_NCALLS], *sp_next[SP_NCALLS];

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *library = RTLD_NEXT;
static void *preferred; /* the program looks functions up in it */

/* The search order's first, not the next: a program may hold the one copy of an
   object that the library too uses (a copy relocation, a Fortran common block).
   Where no order led to the library, the object that did holds them. */
void *sp_symbol(const char *name)
{
	void *p = library == RTLD_NEXT ? NULL : dlsym(library, name);
	if (!p)
		p = dlsym(RTLD_DEFAULT, name);
	return p && !sp_is_own(p) ? p : dlsym(library, name);
}

struct objects {
	char *name[MAX_OBJECTS];
	int n;
};

static int collect(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	struct objects *o = arg;
	if (info->dlpi_name && *info->dlpi_name && o->n < MAX_OBJECTS)
		o->name[o->n++] = strdup(info->dlpi_name);
	return 0;
}

/* The first loaded object that leads to a symbol of the name outside of this
   library. */
static void *find_local(const char *name)
{
	struct objects *o = calloc(1, sizeof *o);
	void *found = NULL;
	if (!o)
		return NULL;
	/* names first: opening objects inside the iteration isn't allowed */
	dl_iterate_phdr(collect, o);
	for (int i = 0; i < o->n; i++) {
		void *h = found ? NULL : dlopen(o->name[i], RTLD_LAZY | RTLD_NOLOAD);
		void *p = h ? dlsym(h, name) : NULL;
		if (p && !sp_is_own(p))
			found = h; /* stays open: the library must not go away */
		else if (h)
			dlclose(h);
		free(o->name[i]);
	}
	free(o);
	return found;
}

void *sp_symbol_loaded(const char *name)
{
	sp_self.in[SP_BUSY]++;
	void *h = find_local(name);
	sp_self.in[SP_BUSY]--;
	return h ? dlsym(h, name) : NULL;
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The MPI's function. Some libraries have functions without a PMPI_ name. */
static void *function(const char *pmpi_name)
{
	void *p = dlsym(library, pmpi_name);
	return p ? p : dlsym(library, pmpi_name + 1);
}

static int is_standard_abi(void *init)
{
	Dl_info info;
	if (dladdr(init, &info) && info.dli_fname && strncmp(base(info.dli_fname), "libmpi_abi", 10) == 0)
		return 1;
	int (*version)(int *, int *);
	*(void **)&version = function("PMPI_Abi_get_version");
	int major = -1, minor = -1;
	return version && version(&major, &minor) == 0 && major > 0;
}

static int is_mpich(void)
{
	static const char *const families[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"};
	static char text[8192 + 1]; /* MPI_MAX_LIBRARY_VERSION_STRING, at its largest */
	int (*version)(char *, int *);
	int n = 0;
	*(void **)&version = function("PMPI_Get_library_version");
	if (version && version(text, &n) == 0)
		for (size_t i = 0; i < sizeof families / sizeof *families; i++)
			if (strstr(text, families[i]))
				return 1;
	/* old ones have no version call, but an object that only this ABI has */
	return sp_symbol("MPI_UNWEIGHTED") != NULL;
}

/* What the program would call if this library weren't there. */
static void *next(const char *mpi_name, void *real)
{
	void *p = dlsym(RTLD_NEXT, mpi_name);
	if (!p && library != RTLD_NEXT)
		p = dlsym(library, mpi_name);
	return p ? p : real;
}

/* Find the library. */
static void *find_init(void)
{
	static const char *const names[] = {"PMPI_Init", "MPI_Init"};
	for (int i = 0; i < 2; i++) {
		void *init = dlsym(RTLD_NEXT, names[i]), *h = init ? NULL : preferred ? preferred : find_local(names[i]);
		if (h) {
			library = h;
			init = dlsym(h, names[i]);
		}
		if (init)
			return init;
	}
	return NULL;
}

static void resolve(void)
{
	sp_loaded();
	void *init = find_init();
	if (!init) {
		sp_give_up("no MPI library found after this call");
		return;
	}
	for (int i = 0; i < SP_NCALLS; i++)
		if (sp_names[i]) {
			sp_real[i] = function(sp_names[i]);
			sp_next[i] = next(sp_names[i] + 1, sp_real[i]);
		}
	sp_layers_find();
	const char *off = getenv("SPOOR");
	int number = is_standard_abi(init) ? SPOOR_ABI
		: sp_symbol("ompi_mpi_comm_world") ? SPOOR_OPENMPI
		: is_mpich() ? SPOOR_MPICH : -1;
	if (number < 0) {
		sp_give_up("this MPI library is of no known family, not tracing");
		return;
	}
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) <= SP_MUTED)
		sp_give_up("an MPI is loaded after files were recorded as of a program without one, tracing stops");
	sp_flavour_set(number);
	int mode = off && strcmp(off, "0") == 0 ? SP_OFF : SP_EARLY;
	int expected = SP_UNRESOLVED; /* a forked child is off already */
	__atomic_compare_exchange_n(&sp_mode, &expected, mode, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void sp_resolve(void)
{
	pthread_once(&once, resolve);
}

int sp_prefer(void *handle, const void *init)
{
	void *none = NULL, *next = dlsym(RTLD_NEXT, "PMPI_Init");
	if (__atomic_load_n(&sp_mode, __ATOMIC_ACQUIRE) != SP_UNRESOLVED)
		return sp_real[SP_ID_MPI_Init] == init;
	if (next)
		return next == init;
	return __atomic_compare_exchange_n(&preferred, &none, handle, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) || none == handle;
}

/* ---- whose code is it ---- */

static int named_by_user(const char *name)
{
	const char *list = getenv("SPOOR_THROUGH");
	while (list && *list) {
		size_t n = strcspn(list, ":");
		if (n && strncmp(name, list, n) == 0)
			return 1;
		list += n + (list[n] == ':');
	}
	return 0;
}

int sp_is_mpi_name(const char *path)
{
	static const char *const prefixes[] = {
		"libmpi.", "libmpi_", "libmpich", "libmpifort", "libmpicxx", "libpmpi", "libopen-", "libopen_", "mca_",
	};
	const char *name = base(path);
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return 1;
	return named_by_user(name);
}

static int is_below(const void *address)
{
	Dl_info info;
	/* a Fortran procedure that ended by jumping to the C function */
	if (sp_is_own(address) || sp_is_layer(address))
		return 1;
	return dladdr(address, &info) && info.dli_fname && sp_is_mpi_name(info.dli_fname);
}

int sp_is_below(const void *address)
{
	/* One word per entry, so that threads need no lock: address * 2 + answer. */
	static uint64_t cache[256];
	uint64_t a = (uint64_t)(uintptr_t)address;
	uint64_t *slot = &cache[(a ^ a >> 8 ^ a >> 16) % 256];
	uint64_t seen = __atomic_load_n(slot, __ATOMIC_RELAXED);
	if (seen >> 1 == a)
		return (int)(seen & 1);
	int answer = is_below(address);
	__atomic_store_n(slot, a << 1 | (uint64_t)answer, __ATOMIC_RELAXED);
	return answer;
}

/* ---- functions that the MPI doesn't have ---- */

int sp_unsupported(void)
{
	return sp_fl.unsupported ? sp_fl.unsupported : 1;
}

static double no_time(void)
{
	return 0;
}

static int64_t no_value(void)
{
	return 0;
}

void sp_require(unsigned call)
{
	if (sp_likely(sp_next[call] != NULL))
		return;
	sp_resolve();
	if (sp_next[call])
		return;
	sp_warn("this MPI has no %s: the call fails", sp_names[call] + 1);
	switch (sp_returns[call]) {
	case SP_RETURNS_CODE:
		*(int (**)(void))&sp_real[call] = sp_unsupported;
		break;
	case SP_RETURNS_TIME:
		*(double (**)(void))&sp_real[call] = no_time;
		break;
	default:
		*(int64_t (**)(void))&sp_real[call] = no_value;
	}
	sp_next[call] = sp_real[call];
}
