/* trampoline.c: what a name leads to, at its first call. */
#define _GNU_SOURCE
#include "trampoline.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "object.h"
#include "resolve.h"

/* ---- whose function it is ---- */

static int is_mpi_prefix(const char *name, const char *prefix)
{
	for (; *prefix; name++, prefix++)
		if ((*name | 32) != *prefix)
			return 0;
	return 1;
}

/* What an object says of itself by what it refers to. */
struct references {
	int pmpi;  /* functions of MPI's profiling interface: it is an MPI's, or wraps one */
	int dlsym; /* it may forward to what is behind it */
};

static struct references references_of(const struct sp_object *o)
{
	struct references r = {0, 0};
	for (uint32_t i = 1, n = sp_object_undefined(o); i < n; i++) {
		const char *name = o->strings + o->symbols[i].st_name;
		if (o->symbols[i].st_shndx != SHN_UNDEF)
			continue;
		r.pmpi |= is_mpi_prefix(name, "pmpi");
		r.dlsym |= strcmp(name, "dlsym") == 0 || strcmp(name, "dlvsym") == 0;
	}
	r.pmpi |= sp_object_function(o, "PMPI_Init") || sp_object_function(o, "pmpi_init_");
	return r;
}

/* Whether another object after this library has it too. */
static int is_elsewhere(const char *name, const struct link_map *but)
{
	struct sp_object o;
	int passed = 0;
	for (const struct link_map *l = _r_debug.r_map; l; l = l->l_next) {
		if (passed && l != but) {
			sp_object_read(&o, l->l_addr, l->l_ld);
			if (sp_object_function(&o, name))
				return 1;
		}
		passed |= (const char *)l->l_addr == __ehdr_start;
	}
	return 0;
}

/* A wrapper forwards to an MPI or to the C library, or to an object between: a profiler, or another interposer.
   Such an object can forward in its turn. One that can't has a function of the same name by accident. */
int sp_is_foreign(const char *name, const void *function)
{
	Dl_info info;
	struct link_map *map;
	if (!function || !dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || sp_is_own(function) || !info.dli_fname
	    || sp_is_mpi_name(info.dli_fname))
		return 0;
	const char *slash = strrchr(info.dli_fname, '/'), *file = slash ? slash + 1 : info.dli_fname;
	if (strncmp(file, "libc.so", 7) == 0 || strncmp(file, "libspoor", 8) == 0)
		return 0;
	struct sp_object o;
	sp_object_read(&o, map->l_addr, map->l_ld);
	struct references r = references_of(&o);
	return !r.pmpi && !(r.dlsym && is_elsewhere(name, map));
}

/* ---- the first call ---- */

#ifdef SP_TRAMPOLINE_CODE

/* As the assembly has it. */
struct slot {
	void *target;
	int32_t wrapper, name; /* relative to themselves */
};

__attribute__((visibility("hidden"), used)) void *sp_trampoline_target(struct slot *s, const void *caller);

/* A function of the caller's own, where no search order leads to it but the caller's. */
static void *local(const char *name, const void *caller)
{
	Dl_info info;
	struct link_map *map;
	struct sp_object o;
	if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return NULL;
	sp_object_read(&o, map->l_addr, map->l_ld);
	void *p = sp_object_function(&o, name);
	return sp_is_foreign(name, p) ? p : NULL;
}

void *sp_trampoline_target(struct slot *s, const void *caller)
{
	int saved = errno;
	const char *name = (const char *)&s->name + s->name;
	void *target = (char *)&s->wrapper + s->wrapper, *own = NULL;
	sp_self.in[SP_BUSY]++;
	void *next = dlsym(RTLD_NEXT, name);
	if (sp_is_foreign(name, next))
		target = next;
	else if (!next)
		own = local(name, caller);
	sp_self.in[SP_BUSY]--;
	if (!own) /* else others may mean the MPI's */
		__atomic_store_n(&s->target, target, __ATOMIC_RELEASE);
	errno = saved;
	return own ? own : target;
}

SP_TRAMPOLINE_FIRST;

#endif
