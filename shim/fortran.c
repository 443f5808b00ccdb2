/* fortran.c: finding what is behind a Fortran procedure, and what its special
   addresses are. */
#define _GNU_SOURCE
#include "fortran.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "layers.h"
#include "resolve.h"
#include "runtime.h"

void *sp_f_attached;

/* ---- the procedures behind ---- */

static void *behind(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);
	return p ? p : sp_symbol_loaded(name);
}

/* A compiler has one of these manglings; a library may have several. */
static void *behind_plain(const char *prefix, const char *name, const char *suffix)
{
	static const char *const ends[] = {"_", "", "__"};
	char text[128];
	void *p = NULL;
	for (size_t i = 0; !p && i < sizeof ends / sizeof *ends; i++) {
		snprintf(text, sizeof text, "%s%s%s%s", prefix, name, suffix, ends[i]);
		p = behind(text);
		if (sp_is_foreign(text, p))
			p = NULL;
	}
	if (p)
		return p;
	snprintf(text, sizeof text, "%s%s%s", prefix, name, suffix);
	for (char *c = text; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return behind(text);
}

void sp_f_absent(void)
{
}

void *sp_f_resolve(void **slot, const char *name, int form)
{
	static const char *const suffixes[SP_F_FORMS] = {
		[SP_F_08] = "_f08_", [SP_F_08TS] = "_f08ts_", [SP_F_08_LARGE] = "_f08_large_", [SP_F_08TS_LARGE] = "_f08ts_large_",
		[SP_F_08_C] = "_c_f08_", [SP_F_08TS_C] = "_c_f08ts_",
		[SP_F_08_LAST_C] = "_f08_c_", [SP_F_TS] = "_fts_",
	};
	char text[128];
	const char *prefix = form & SP_F_PMPI ? "p" : "";
	void *p;
	form &= ~SP_F_PMPI;
	if (suffixes[form]) {
		snprintf(text, sizeof text, "%s%s%s", prefix, name, suffixes[form]);
		p = behind(text);
		if (!p && *prefix) { /* as MPICH names it */
			snprintf(text, sizeof text, "pmpir%s%s", name + 3, suffixes[form]);
			p = behind(text);
		}
	} else {
		p = behind_plain(prefix, name, form == SP_F_CPTR ? "_cptr" : "");
	}
	if (p)
		sp_layers_fortran(p);
	else {
		sp_warn("this MPI has no %s%s%s: the call fails", prefix, name, suffixes[form] ? suffixes[form] : "_");
		*(void (**)(void))&p = sp_f_absent;
	}
	__atomic_store_n(slot, p, __ATOMIC_RELAXED);
	return p;
}

/* ---- special addresses ---- */

struct sp_f_range sp_f_range = {1, 0, 0};

static struct {
	const void *address;
	int special;
} specials[2 * SP_F_SPECIALS];
static int nspecials;

/* MPICH notes where the common blocks are at the first Fortran call that it
   sees, which is later than this one. */
static void note_common_blocks(void)
{
	int *needed = sp_symbol("MPIR_F_NeedInit");
	void (*note)(void);
	*(void **)&note = sp_symbol("mpirinitf_");
	if (needed && *needed && note)
		note();
}

static void add(const struct sp_sentinel *s, int special)
{
	void *p = s->form == SP_SENT_NONE ? NULL : sp_symbol(s->symbol);
	if (!p && s->form != SP_SENT_NONE)
		p = sp_symbol_loaded(s->symbol);
	if (p && s->form == SP_SENT_CONTENTS)
		p = *(void **)p;
	if (!p)
		return;
	uintptr_t a = (uintptr_t)p;
	specials[nspecials].address = p;
	specials[nspecials++].special = special;
	if (sp_f_range.lo > a || sp_f_range.lo > sp_f_range.hi)
		sp_f_range.lo = a;
	if (sp_f_range.hi < a)
		sp_f_range.hi = a;
}

static void find_specials(void)
{
	sp_self.in[SP_BUSY]++;
	note_common_blocks();
	for (int set = 0; set < 2; set++)
		for (int i = 0; i < SP_F_SPECIALS; i++)
			add(&sp_f_sentinels[sp_fl.number][set][i], i);
	sp_self.in[SP_BUSY]--;
	__atomic_store_n(&sp_f_range.known, 1, __ATOMIC_RELEASE);
}

int sp_f_special_slow(const void *p)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, find_specials);
	for (int i = 0; i < nspecials; i++)
		if (specials[i].address == p)
			return specials[i].special;
	return -1;
}

const void *sp_f_buffer_special(int special, const void *p)
{
	switch (special) {
	case SP_F_IN_PLACE:
		return sp_fl.in_place;
	case SP_F_AUTOMATIC:
		return sp_fl.buffer_automatic;
	case SP_F_UNWEIGHTED:
		return sp_fl.unweighted;
	case SP_F_WEIGHTS_EMPTY:
		return sp_fl.weights_empty;
	case SP_F_BOTTOM:
	case SP_F_ERRCODES:
	case SP_F_ARGV:
	case SP_F_ARGVS:
		return NULL; /* as in C, in all flavours */
	}
	return p;
}

/* ---- positions ---- */

/* MPICH 4.0's mpi_f08 returns C's positions, unlike everybody else; should a
   later 4.0 not, a position tells. */
static int base_of_f08(void)
{
	static char text[8192 + 1]; /* MPI_MAX_LIBRARY_VERSION_STRING, at its largest */
	int n = 0;
	if (!P_MPI_Get_library_version || P_MPI_Get_library_version(text, &n) != 0)
		return 1;
	const char *version = strstr(text, "MPICH Version:");
	if (!version)
		return 1;
	version += strlen("MPICH Version:");
	version += strspn(version, " \t");
	return strncmp(version, "4.0", 3) == 0 ? 0 : 1;
}

int sp_f_index(const void *p, int64_t count, int form)
{
	static int f08 = -1;
	int v = (int)sp_ld32(p), base = 1;
	if (form > SP_F_CPTR && sp_fl.number != SPOOR_OPENMPI) {
		base = __atomic_load_n(&f08, __ATOMIC_RELAXED);
		int old = base;
		if (v == 0 || v == count)
			base = v != 0;
		else if (base < 0)
			base = base_of_f08();
		if (base != old)
			__atomic_store_n(&f08, base, __ATOMIC_RELAXED);
	}
	return v >= base && v - base < count ? v - base : sp_fl.undefined;
}
