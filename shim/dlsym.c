/*
 * dlsym.c: programs that look up MPI functions by name get the wrappers.
 *
 * Plug-in frameworks, Julia and Python's ctypes load an MPI with RTLD_LOCAL and
 * call what dlsym returns. Here dlsym and dlvsym stand in front of the C library's:
 * names that are none of MPI's go on by a jump, so that the caller is who it was,
 * which is what RTLD_NEXT and RTLD_DEFAULT go by.
 *
 * A name leads to a wrapper only if without spoor it would lead into an MPI
 * library, and into that which the wrappers forward to. Whoever asks whether there
 * is an MPI in the process, or whether it has a function, is not misled.
 *
 * dlopen is passed on the same way, so that bind.c learns of what is loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"
#include "calls.h"
#include "bind.h"
#include "object.h"
#include "resolve.h"
#include "runtime.h"
#include "trampoline.h"

#ifdef SP_ENTRY

#pragma GCC visibility push(hidden)

struct answer {
	void *p;
	uint64_t decided; /* 0: go on to the next dlsym */
};

struct answer sp_dlsym_own(void *handle, const char *name, const void *caller);
struct answer sp_dlvsym_own(void *handle, const char *name, const void *caller);
struct answer sp_dlopen_own(const char *file, int flags, const void *caller);

void *(*sp_dlsym_next)(void *handle, const char *name);
void *sp_dlvsym_next, *sp_dlopen_next;

#pragma GCC visibility pop

SP_ENTRY(dlsym);
SP_ENTRY(dlvsym);
SP_ENTRY(dlopen);

/* ---- the next dlsym ----

   What finds symbols is what is looked for here, so the tables of the libraries are
   read. No function of the C library is called: sanitizers look up the originals of
   these before they can forward to them. */

static void *next_of(const char *name)
{
	struct sp_object o;
	int passed = 0;
	for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next) {
		sp_object_read(&o, l->l_addr, l->l_ld);
		void *p = passed ? sp_object_function(&o, name) : NULL;
		if (p)
			return p;
		passed |= (const char *)l->l_addr == __ehdr_start;
	}
	return NULL;
}

static void find_next(void)
{
	if (__atomic_load_n(&sp_dlsym_next, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&sp_dlvsym_next, next_of("dlvsym"), __ATOMIC_RELEASE);
	__atomic_store_n(&sp_dlopen_next, next_of("dlopen"), __ATOMIC_RELEASE);
	void *p = next_of("dlsym");
	__atomic_store_n((void **)&sp_dlsym_next, p, __ATOMIC_RELEASE);
}

/* ---- names of MPI ---- */

static int is_pmpi(const char *n)
{
	return (n[0] | 32) == 'p';
}

int sp_is_mpi_symbol(const char *n)
{
	n += n && is_pmpi(n);
	return n && (n[0] | 32) == 'm' && (n[1] | 32) == 'p' && (n[2] | 32) == 'i' && (n[3] == '_' || (n[3] | 32) == 'r');
}

static void *base_of(const void *p)
{
	Dl_info info;
	return p && dladdr(p, &info) ? info.dli_fbase : NULL;
}

/* A handle of the object that has the address, in this library's name space. */
static void *holder(const void *p)
{
	Dl_info info;
	if (!p || !dladdr(p, &info) || !info.dli_fname)
		return NULL;
	return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* Of the manglings mpi_x, mpi_x__ and MPI_X that which is exported, mpi_x_; 0 for other names. */
static int exported(char *out, size_t n, const char *name)
{
	size_t k = strlen(name), lower = 0, upper = 0;
	while (k && name[k - 1] == '_')
		k--;
	if (k + 2 > n)
		return 0;
	for (size_t i = 0; i < k; i++) {
		lower += name[i] >= 'a' && name[i] <= 'z';
		upper += name[i] >= 'A' && name[i] <= 'Z';
		out[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 32 : name[i]);
	}
	memcpy(out + k, "_", 2);
	return !lower || !upper;
}

static void *wrapper(const char *name)
{
	static void *self;
	char usual[128];
	if (!self)
		self = holder(__ehdr_start);
	void *p = self ? sp_dlsym_next(self, name) : NULL;
	if (self && !sp_is_own(p) && exported(usual, sizeof usual, name))
		p = sp_dlsym_next(self, usual);
	return sp_is_own(p) ? p : NULL;
}

static void pmpi(char *out, size_t n, const char *name)
{
	if (is_pmpi(name))
		snprintf(out, n, "%s", name);
	else
		snprintf(out, n, "%c%s", *name == 'm' ? 'p' : 'P', name);
}

/* Whether an MPI in the search order has what the wrapper forwards to. */
static int is_behind(const char *name)
{
	char twin[128];
	pmpi(twin, sizeof twin, name);
	return dlsym(RTLD_NEXT, twin) || dlsym(RTLD_NEXT, name);
}

/* Whether the object that has the address comes after this library. */
static int is_after(const void *p)
{
	void *base = base_of(p);
	int passed = 0;
	for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next) {
		if (passed && (void *)l->l_addr == base)
			return 1;
		passed |= (const char *)l->l_addr == __ehdr_start;
	}
	return 0;
}

/* The function with the PMPI_ name, which is pmpir_ for MPICH's mpi_f08. */
static void *twin_of(void *handle, const char *name)
{
	char twin[128];
	pmpi(twin, sizeof twin, name);
	void *p = sp_dlsym_next(handle, twin);
	if (!p && strncmp(name, "mpi_", 4) == 0) {
		snprintf(twin, sizeof twin, "pmpir%s", name + 3);
		p = sp_dlsym_next(handle, twin);
	}
	return p;
}

/* What to return for a name that leads to p under this handle. */
static void *wrapped(void *handle, const char *name, void *p, void *w)
{
	void *init = sp_dlsym_next(handle, "PMPI_Init");
	void *library = base_of(init), *here = base_of(p);
	/* not a tool's that stands in front of an MPI too */
	if (!library || (here != library && here != base_of(twin_of(handle, name))))
		return p;
	void *h = holder(init);
	return h && sp_dlsym_next(h, "PMPI_Init") == init && sp_prefer(h, init) ? w : p;
}

void *sp_reference(void *handle, const char *name, void *p)
{
	void *w = wrapper(name);
	return w && p && !sp_is_own(p) ? wrapped(handle, name, p, w) : p;
}

struct answer sp_dlopen_own(const char *file, int flags, const void *caller)
{
	find_next();
	if (file && !(flags & RTLD_NOLOAD) && !sp_is_below(caller))
		sp_bind_asked(flags);
	return (struct answer){NULL, 0};
}

struct answer sp_dlsym_own(void *handle, const char *name, const void *caller)
{
	struct answer go_on = {NULL, 0};
	find_next();
	if (sp_unlikely(sp_bind_waits) && !sp_is_own(caller))
		sp_bind_look();
	if (!sp_is_mpi_symbol(name) || sp_is_own(caller) || !sp_dlsym_next)
		return go_on;
	if (handle == RTLD_NEXT && (is_after(caller) || is_behind(name))) {
		dlerror();
		return go_on;
	}
	void *w = wrapper(name), *p;
	if (!w) {
		dlerror();
		return go_on;
	}
	p = sp_dlsym_next(handle, name);
	if (sp_is_own(p) && sp_is_foreign(name, dlsym(RTLD_NEXT, name))) {
		p = dlsym(RTLD_NEXT, name);
	} else if (sp_is_own(p)) {
		/* in the search order, where the MPI isn't or comes later */
		if (is_behind(name)) {
			dlerror();
			return go_on;
		}
		/* an object has a search order of its own besides */
		void *h = handle == RTLD_DEFAULT ? holder(caller) : NULL;
		p = h ? sp_dlsym_next(h, name) : NULL;
		p = p && !sp_is_own(p) ? wrapped(h, name, p, w) : NULL;
		if (h)
			dlclose(h);
		if (!p)
			sp_dlsym_next(RTLD_NEXT, name); /* leaves the error behind */
	} else if (p) {
		p = wrapped(handle == RTLD_DEFAULT ? RTLD_NEXT : handle, name, p, w);
	}
	if (p)
		dlerror();
	return (struct answer){p, 1};
}

struct answer sp_dlvsym_own(void *handle, const char *name, const void *caller)
{
	return sp_dlsym_own(handle, name, caller);
}

#endif
