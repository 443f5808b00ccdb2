/*
 * deepbind.c: libraries that a program loads with RTLD_DEEPBIND call the wrappers too.
 *
 * Such a library, and what is loaded with it, finds symbols among its own dependencies
 * before it does in the program's search order, so that MPI's functions are found
 * in the MPI and not here. dlopen has to be called by the program, whose search paths
 * go by the caller. So dlsym.c only notes that the flag was asked for. The new objects
 * are looked at when the thread is back from dlopen: when any thread looks up a symbol
 * or loads the next library so, when this thread comes by in a call of MPI, and, for the
 * message alone, at the end of the process.
 *
 * A reference is changed if it leads, or once it is bound will lead, into the MPI to which
 * the wrappers forward (dlsym.c). What was called before that is not in the trace: an
 * object that had an opportunity is named on stderr, with the flag.
 */
#define _GNU_SOURCE
#include "deepbind.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "resolve.h"
#include "runtime.h"

#ifdef SP_ENTRY

#define MAX_OBJECTS 4096

int sp_deepbind_waits;

static __thread int asked; /* by this thread */
static int bound_now;
static uintptr_t known[MAX_OBJECTS]; /* addresses of what was loaded before */
static int nknown;

/* A loaded object, and what its dynamic section says. */
struct object {
	char *path;
	uintptr_t base, lo, hi, relro_lo, relro_hi;
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * rela[2];
	size_t bytes[2];
	int constructors, now;
};

struct objects {
	struct object list[MAX_OBJECTS];
	int n;
};

/* What came of the references of an object. */
struct outcome {
	int led;    /* to the wrappers */
	int called; /* bound before, which lazy binding does at the first call */
	int failed;
};

static int note_known(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	if (nknown < MAX_OBJECTS)
		known[nknown++] = info->dlpi_addr;
	return 0;
}

static int is_known(uintptr_t base)
{
	for (int i = 0; i < nknown; i++)
		if (known[i] == base)
			return 1;
	return nknown == MAX_OBJECTS;
}

static int collect_new(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct objects *all = arg;
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	(void)size;
	if (!info->dlpi_name || !*info->dlpi_name || all->n == MAX_OBJECTS || is_known(info->dlpi_addr) || sp_is_mpi_name(info->dlpi_name))
		return 0;
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
	if (o->dynamic && (o->path = strdup(info->dlpi_name)))
		all->n++;
	return 0;
}

static void read_dynamic(struct object *o)
{
	for (const ElfW(Dyn) *d = o->dynamic; d->d_tag != DT_NULL; d++) {
		uintptr_t p = d->d_un.d_ptr < o->base ? d->d_un.d_ptr + o->base : d->d_un.d_ptr;
		switch (d->d_tag) {
		case DT_SYMTAB:
			o->symbols = (const ElfW(Sym) *)p;
			break;
		case DT_STRTAB:
			o->strings = (const char *)p;
			break;
		case DT_RELA:
			o->rela[0] = (const ElfW(Rela) *)p;
			break;
		case DT_RELASZ:
			o->bytes[0] = d->d_un.d_val;
			break;
		case DT_JMPREL:
			o->rela[1] = (const ElfW(Rela) *)p;
			break;
		case DT_PLTRELSZ:
			o->bytes[1] = d->d_un.d_val;
			break;
		case DT_INIT_ARRAYSZ: /* one is the compiler's */
			o->constructors = d->d_un.d_val > sizeof(void *);
			break;
		case DT_BIND_NOW:
			o->now = 1;
			break;
		case DT_FLAGS:
			o->now |= (d->d_un.d_val & DF_BIND_NOW) != 0;
			break;
		case DT_FLAGS_1:
			o->now |= (d->d_un.d_val & DF_1_NOW) != 0;
			break;
		}
	}
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

static void lead(const struct object *o, void *handle, const ElfW(Rela) * r, int change, struct outcome *out)
{
	unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
	if ((type != SP_RELOC_PLT && type != SP_RELOC_GOT && type != SP_RELOC_DATA) || r->r_addend != 0)
		return;
	const ElfW(Sym) *symbol = &o->symbols[ELF64_R_SYM(r->r_info)];
	const char *name = o->strings + symbol->st_name;
	if (symbol->st_shndx != SHN_UNDEF || !sp_is_mpi_symbol(name))
		return;
	void **slot = (void **)(o->base + r->r_offset), *p = *slot, *h = handle;
	Dl_info where;
	/* not bound yet: to the object's own code that binds it */
	int unbound = (uintptr_t)p >= o->lo && (uintptr_t)p < o->hi;
	if (unbound)
		p = dlsym(handle, name);
	else if (p && dladdr(p, &where) && where.dli_fname)
		h = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	void *w = h ? sp_reference(h, name, p) : p;
	if (h && h != handle)
		dlclose(h);
	if (w == p)
		return;
	out->called |= type == SP_RELOC_PLT && !unbound && !o->now;
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
	struct link_map *handle = dlopen(o->path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle || handle->l_addr != o->base) {
		if (handle)
			dlclose(handle);
		return;
	}
	read_dynamic(o);
	o->now |= bound_now;
	for (int k = 0; k < 2 && o->symbols && o->strings; k++)
		for (size_t i = 0; o->rela[k] && i < o->bytes[k] / sizeof(ElfW(Rela)); i++)
			lead(o, handle, &o->rela[k][i], change, &out);
	dlclose(handle);
	if (!(out.failed || out.called || (out.led && o->now && o->constructors)) || sp_run.rank > 0
		|| __atomic_exchange_n(&told, 1, __ATOMIC_SEQ_CST))
		return;
	if (out.failed)
		sp_warn("calls of MPI from %s are not traced: it was loaded with RTLD_DEEPBIND, and %s", o->path,
			change ? "its references can't be changed" : "nothing was called after that which spoor could see");
	else
		sp_warn("%s was loaded with RTLD_DEEPBIND: what its constructors call of MPI is not traced", o->path);
}

static void look(int change)
{
	static int looking;
	struct sp_thread *t = &sp_self;
	if (__atomic_exchange_n(&looking, 1, __ATOMIC_SEQ_CST))
		return; /* this thread from in here, or another that may wait for a lock of this one's */
	int saved = errno;
	t->in[SP_BUSY]++;
	struct objects *all = malloc(sizeof *all);
	if (all) {
		all->n = 0;
		dl_iterate_phdr(collect_new, all);
		for (int i = 0; i < all->n; i++) {
			treat(&all->list[i], change);
			free(all->list[i].path);
		}
		free(all);
	}
	t->in[SP_BUSY]--;
	errno = saved;
	/* what other threads asked for may not be there yet */
	if (asked && __atomic_sub_fetch(&sp_deepbind_waits, asked, __ATOMIC_SEQ_CST) == 0)
		__atomic_fetch_and(&sp_extra, ~SP_LOADED, __ATOMIC_SEQ_CST);
	asked = 0;
	__atomic_store_n(&looking, 0, __ATOMIC_SEQ_CST);
}

void sp_deepbind_look(void)
{
	look(1);
}

void sp_deepbind_called(void)
{
	if (asked && sp_may_work(&sp_self))
		look(1);
}

void sp_deepbind_asked(int flags)
{
	static int lock;
	if (asked)
		look(1);
	const char *now = getenv("LD_BIND_NOW");
	sp_lock_begin(&sp_self, &lock);
	bound_now = (flags & RTLD_NOW) != 0 || (now && *now);
	if (__atomic_fetch_add(&sp_deepbind_waits, 1, __ATOMIC_SEQ_CST) == 0) {
		nknown = 0;
		dl_iterate_phdr(note_known, NULL);
	}
	sp_lock_end(&sp_self);
	asked++;
	__atomic_fetch_or(&sp_extra, SP_LOADED, __ATOMIC_SEQ_CST);
}

__attribute__((destructor)) static void ends(void)
{
	if (__atomic_load_n(&sp_deepbind_waits, __ATOMIC_ACQUIRE))
		look(0);
}

#else

void sp_deepbind_called(void)
{
}

#endif
