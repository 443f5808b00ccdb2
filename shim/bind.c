/*
 * bind.c: references of loaded objects that the loader bound to something else than they should lead to.
 *
 * Being preloaded, this library is found first by all that follows the program's search order. That is too
 * little for two kinds of references, and too much for one:
 *
 *  1. A library that the program loads with RTLD_DEEPBIND finds the MPI among its own dependencies before it
 *     does here.
 *  2. Of Fortran's manglings only mpi_x_ is exported here. References to the MPI's mpi_x, mpi_x__ or MPI_X
 *     lead to the MPI.
 *  3. Another library may have a function of its own named mpi_x_. References to it lead to a trampoline here,
 *     which calls it (trampoline.h), but has another address.
 *
 * Objects that the program starts with are looked at when this library is loaded. For others dlopen has to be
 * called by the program, whose search paths go by the caller; so dlsym.c only notes that it was. New objects
 * are looked at when the thread is back from dlopen: when any thread looks up a symbol or loads the next
 * library, when this thread comes by in a call of MPI, and, for the message alone, at the end of the process.
 *
 * What was called before that is not in the trace: an object loaded with RTLD_DEEPBIND that had an opportunity
 * is named on stderr, with the flag.
 */
#define _GNU_SOURCE
#include "bind.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "object.h"
#include "resolve.h"
#include "runtime.h"
#include "trampoline.h"

#ifdef SP_ENTRY

#define MAX_OBJECTS 512    /* to be led in one look */
#define MAX_KNOWN 16384    /* a power of two */

int sp_bind_waits;

static __thread int asked; /* by this thread */
static int bound_now, deep; /* how what waits was asked for */
static unsigned long long seen_loaded, seen_unloaded; /* the loader's counts at the last look */

/* Addresses of objects that were looked at, by hash. */
static uintptr_t known[MAX_KNOWN];
static int nknown;

/* A loaded object with references to names of MPI's. */
struct object {
	char *path; /* empty: the program */
	uintptr_t base, lo, hi, relro_lo, relro_hi;
	const ElfW(Dyn) * dynamic;
	struct sp_object has;
};

struct objects {
	struct object list[MAX_OBJECTS];
	int n, all;
	int passed; /* how many the loader has told of */
};

/* What came of the references of an object. */
struct outcome {
	int led;    /* to the wrappers */
	int called; /* bound before, which lazy binding does at the first call */
	int failed;
};

/* The address's place in the table, or the free one where it belongs. */
static uintptr_t *known_slot(uintptr_t base)
{
	uintptr_t key = base | 1; /* the program's may be 0 */
	size_t h = (size_t)((base >> 12) * 0x9e3779b97f4a7c15ull >> 50);
	while (known[h] && known[h] != key)
		h = (h + 1) & (MAX_KNOWN - 1);
	return &known[h];
}

/* How many objects there were at the last look: new ones come behind them, unless some have gone meanwhile. */
static int nseen;

struct kept {
	uintptr_t base[MAX_KNOWN / 2];
	int n;
};

static int collect_known(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct kept *k = arg;
	(void)size;
	if (info->dlpi_subs == seen_unloaded)
		return 1;
	if (*known_slot(info->dlpi_addr) && k->n < MAX_KNOWN / 2)
		k->base[k->n++] = info->dlpi_addr;
	return 0;
}

static int note_counts(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	seen_unloaded = info->dlpi_subs;
	return 1;
}

/* Another object may come where one was that is gone. The caller has the lock, so nothing is allocated. */
static void forget_unloaded(void)
{
	static struct kept k;
	k.n = 0;
	if (dl_iterate_phdr(collect_known, &k))
		return;
	memset(known, 0, sizeof known);
	nseen = 0;
	nknown = k.n;
	for (int i = 0; i < k.n; i++)
		*known_slot(k.base[i]) = k.base[i] | 1;
	dl_iterate_phdr(note_counts, NULL);
}

/* A mangling of a Fortran name, as C's mix small and capital letters. */
static int is_fortran_name(const char *name)
{
	int lower = 0, upper = 0;
	for (; *name; name++) {
		lower |= *name >= 'a' && *name <= 'z';
		upper |= *name >= 'A' && *name <= 'Z';
	}
	return !lower || !upper;
}

/* Of C's names all are exported, and only RTLD_DEEPBIND leads past them. */
static int concerns(const char *name)
{
	return sp_is_mpi_symbol(name) && (deep || is_fortran_name(name));
}

static int has_names(const struct sp_object *o, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (concerns(o->strings + o->symbols[i].st_name))
			return 1;
	return 0;
}

static int collect_new(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct objects *all = arg;
	(void)size;
	if (all->passed++ < nseen && info->dlpi_subs == seen_unloaded)
		return 0;
	seen_loaded = info->dlpi_adds;
	uintptr_t *slot = known_slot(info->dlpi_addr);
	if (*slot || nknown == MAX_KNOWN / 2)
		return 0;
	*slot = info->dlpi_addr | 1;
	nknown++;
	if (all->all ? !info->dlpi_name : !info->dlpi_name || !*info->dlpi_name)
		return 0;
	if (all->n == MAX_OBJECTS || (const char *)info->dlpi_addr == __ehdr_start || sp_is_mpi_name(info->dlpi_name))
		return 0;
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	struct object *o = &all->list[all->n];
	*o = (struct object){.base = info->dlpi_addr, .lo = UINTPTR_MAX};
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t first = o->base + p->p_vaddr, end = first + p->p_memsz;
		if (p->p_type == PT_LOAD) {
			o->lo = first < o->lo ? first : o->lo;
			o->hi = end > o->hi ? end : o->hi;
		} else if (p->p_type == PT_DYNAMIC) {
			o->dynamic = (const ElfW(Dyn) *)first;
		} else if (p->p_type == PT_GNU_RELRO) { /* whole pages, as the loader does it */
			o->relro_lo = first & ~(page - 1);
			o->relro_hi = end & ~(page - 1);
		}
	}
	sp_object_read(&o->has, o->base, o->dynamic);
	if (has_names(&o->has, all->all ? sp_object_undefined(&o->has) : sp_object_symbols(&o->has)) && (o->path = strdup(info->dlpi_name)))
		all->n++;
	return 0;
}

/* The slot, which may be in a page that the loader has made read-only. */
static int write_slot(const struct object *o, void **slot, void *value)
{
	uintptr_t at = (uintptr_t)slot, page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)(at & ~(page - 1));
	int closed = at >= o->relro_lo && at < o->relro_hi;
	if (closed && mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
		return 0;
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	return !closed || mprotect(start, page, PROT_READ) == 0;
}

/* What would have been found in the search order, if not this library. */
static void *without_us(void *handle, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);
	if (!p && handle)
		p = dlsym(handle, name);
	return p;
}

static void lead(const struct object *o, void *handle, const ElfW(Rela) * r, int change, struct outcome *out)
{
	unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
	if ((type != SP_RELOC_PLT && type != SP_RELOC_GOT && type != SP_RELOC_DATA) || r->r_addend != 0)
		return;
	const ElfW(Sym) *symbol = &o->has.symbols[ELF64_R_SYM(r->r_info)];
	const char *name = o->has.strings + symbol->st_name;
	if (!concerns(name))
		return;
	void **slot = (void **)(o->base + r->r_offset), *p = *slot, *h = handle, *w;
	/* not bound yet: to the object's own code that binds it */
	int unbound = type == SP_RELOC_PLT && (uintptr_t)p >= o->lo && (uintptr_t)p < o->hi, opened = 0;
	if (unbound) {
		p = deep ? NULL : dlsym(RTLD_DEFAULT, name);
		p = p ? p : dlsym(handle, name);
	}
	if (sp_is_own(p)) {
		w = without_us(handle, name);
		if (!sp_is_foreign(name, w))
			return;
		if (change)
			write_slot(o, slot, w);
		return;
	}
	if (symbol->st_shndx != SHN_UNDEF)
		return; /* its own */
	Dl_info where;
	if (p && !(unbound && deep) && dladdr(p, &where) && where.dli_fname) {
		h = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		opened = h != NULL;
	}
	w = h ? sp_reference(h, name, p) : p;
	if (opened)
		dlclose(h);
	if (w == p)
		return;
	out->called |= type == SP_RELOC_PLT && !unbound && !o->has.now;
	if (change && write_slot(o, slot, w))
		out->led++;
	else
		out->failed++;
}

static void treat(struct object *o, int change)
{
	static int told;
	struct outcome out = {0, 0, 0};
	/* Waits for a dlopen that is under way, by then the object is bound; and keeps it. */
	struct link_map *handle = dlopen(*o->path ? o->path : NULL, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle || handle->l_addr != o->base) {
		if (handle)
			dlclose(handle);
		return;
	}
	o->has.now |= bound_now;
	for (int k = 0; k < 2 && o->has.symbols && o->has.strings; k++)
		for (size_t i = 0; o->has.rela[k] && i < o->has.rela_bytes[k] / sizeof(ElfW(Rela)); i++)
			lead(o, handle, &o->has.rela[k][i], change, &out);
	dlclose(handle);
	if (!deep || !(out.failed || out.called || (out.led && o->has.now && o->has.constructors)) || sp_run.rank > 0
	    || __atomic_exchange_n(&told, 1, __ATOMIC_SEQ_CST))
		return;
	if (out.failed)
		sp_warn("calls of MPI from %s are not traced: it was loaded with RTLD_DEEPBIND, and %s", o->path,
			change ? "its references can't be changed" : "nothing was called after that which spoor could see");
	else
		sp_warn("%s was loaded with RTLD_DEEPBIND: what its constructors call of MPI is not traced", o->path);
}

/* One thread at a time. As a handler's call may lead here, nothing is allocated unless there is an object to be led. */
static void look_at(int all, int change)
{
	static struct objects found;
	found.n = 0;
	found.all = all;
	found.passed = 0;
	dl_iterate_phdr(collect_new, &found);
	nseen = found.passed;
	for (int i = 0; i < found.n; i++) {
		treat(&found.list[i], change);
		free(found.list[i].path);
	}
}

static int is_news(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	return info->dlpi_adds != seen_loaded ? 1 : -1;
}

static int looking;

static void look(int change)
{
	struct sp_thread *t = &sp_self;
	if (__atomic_exchange_n(&looking, 1, __ATOMIC_SEQ_CST))
		return; /* this thread from in here, or another that may wait for a lock of this one's */
	int saved = errno;
	t->in[SP_BUSY]++;
	if (dl_iterate_phdr(is_news, NULL) > 0)
		look_at(0, change);
	t->in[SP_BUSY]--;
	errno = saved;
	/* what other threads asked for may not be there yet */
	if (asked && __atomic_sub_fetch(&sp_bind_waits, asked, __ATOMIC_SEQ_CST) == 0) {
		__atomic_fetch_and(&sp_extra, ~SP_LOADED, __ATOMIC_SEQ_CST);
		deep = 0;
	}
	asked = 0;
	__atomic_store_n(&looking, 0, __ATOMIC_SEQ_CST);
}

/* Constructors of other libraries may load some before this library's is called. */
void sp_bind_start(void)
{
	static int done;
	struct sp_thread *t = &sp_self;
	if (__atomic_exchange_n(&done, 1, __ATOMIC_SEQ_CST) || __atomic_exchange_n(&looking, 1, __ATOMIC_SEQ_CST))
		return;
	t->in[SP_BUSY]++;
	look_at(1, 1);
	t->in[SP_BUSY]--;
	__atomic_store_n(&looking, 0, __ATOMIC_SEQ_CST);
}

void sp_bind_look(void)
{
	look(1);
}

void sp_bind_called(void)
{
	if (asked && sp_may_work(&sp_self))
		look(1);
}

void sp_bind_asked(int flags)
{
	static int lock;
	sp_bind_start();
	if (asked)
		look(1);
	const char *now = getenv("LD_BIND_NOW");
	sp_lock_begin(&sp_self, &lock);
	deep |= (flags & RTLD_DEEPBIND) != 0;
	bound_now = (flags & RTLD_NOW) != 0 || (now && *now);
	if (__atomic_fetch_add(&sp_bind_waits, 1, __ATOMIC_SEQ_CST) == 0)
		forget_unloaded();
	sp_lock_end(&sp_self);
	asked++;
	__atomic_fetch_or(&sp_extra, SP_LOADED, __ATOMIC_SEQ_CST);
}

__attribute__((destructor)) static void ends(void)
{
	if (__atomic_load_n(&sp_bind_waits, __ATOMIC_ACQUIRE) && deep)
		look(0);
}

#else

int sp_bind_waits;

void sp_bind_called(void)
{
}

void sp_bind_start(void)
{
}

#endif
