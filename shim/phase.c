/*
 * phase.c: phases that begin by name.
 *
 * The call with which one begins has a call site of its own, told apart by the name; so
 * nothing is stored with other calls, and readers find phases in the compressed form.
 *
 * MPI_Pcontrol has variable arguments, and nothing tells whether there is any behind the level. With
 * SPOOR_PHASE_NAMES what would be the first is looked at: if it is the address of a short text of
 * printable characters, it is taken for a name. The memory is read through
 * /proc/self/mem, where an address that is none is an error and nothing worse.
 */
#define _GNU_SOURCE
#include "phase.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring.h"
#include "runtime.h"

#define MAX_NAME 64
#define MAX_KEYS 4096 /* a thread's call sites and names; calls of further ones begin no phase */

struct begin {
	const void *site;
	char name[MAX_NAME + 1];
};

struct table {
	char next[MAX_NAME + 1]; /* the phase that the next call begins; "": none */
	uint32_t n;
	uint32_t slots[2 * MAX_KEYS]; /* 1 + index */
	struct begin list[MAX_KEYS];
};

static struct table *tables[SP_MAX_THREADS];

void sp_phase_start(void)
{
	const char *wanted = getenv("SPOOR_PHASE_NAMES");
	if (wanted && strcmp(wanted, "1") == 0)
		__atomic_fetch_or(&sp_extra, SP_PHASES, __ATOMIC_RELEASE);
}

static struct table *table_of(struct sp_thread *t)
{
	sp_prepare(t); /* a new thread has no ring before that */
	if (!t->ring)
		return NULL;
	if (!tables[t->number]) {
		void *p = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p != MAP_FAILED)
			tables[t->number] = p;
	}
	return tables[t->number];
}

void sp_phase_begins(struct sp_thread *t, const char *name)
{
	struct table *b = name ? table_of(t) : NULL;
	if (!b)
		return;
	size_t n = strnlen(name, MAX_NAME);
	memcpy(b->next, name, n);
	b->next[n] = 0;
}

long sp_peek(const void *at, void *to, size_t size)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	long n = syscall(SYS_pread64, fd, to, size, (off_t)(uintptr_t)at);
	syscall(SYS_close, fd);
	return n;
}

void sp_phase_begins_if_name(struct sp_thread *t, const void *argument)
{
	char text[MAX_NAME + 1];
	long n = sp_peek(argument, text, sizeof text);
	for (long i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c == 0 && i > 0) {
			uint64_t was = sp_shut(t);
			sp_phase_begins(t, text);
			sp_reopen(t, was);
		}
		if (c < ' ' || c == 0x7f)
			return;
	}
}

static void tell_phase(struct sp_thread *t, uint64_t key, const void *site, const char *name)
{
	size_t n = strlen(name), words = (n + 7) / 8;
	uint64_t *w = sp_begin(t);
	w[1] = sp_ticks();
	w[2] = key;
	w[3] = (uint64_t)(uintptr_t)site;
	w[4] = n;
	w[4 + words] = 0;
	memcpy(w + 5, name, n);
	memset((char *)(w + 5) + n, 0, words * 8 - n);
	sp_commit(t, w + 5 + words, 0, SP_PHASE, 0);
}

/* The number of a new key for the phase that is next; 0 if there are too many. */
static uint32_t add(struct sp_thread *t, struct table *b, const void *site)
{
	if (b->n == MAX_KEYS) {
		sp_warn_once("more than %d phases: calls that would begin others begin none", MAX_KEYS);
		return 0;
	}
	struct begin *x = &b->list[b->n++];
	x->site = site;
	memcpy(x->name, b->next, sizeof x->name);
	tell_phase(t, SP_PHASE_KEY(t->number, b->n), site, x->name);
	return b->n;
}

const void *sp_phase_site(struct sp_thread *t, const void *site)
{
	struct table *b = t->ring ? tables[t->number] : NULL;
	if (!b || !b->next[0])
		return site;
	uint64_t h = (uint64_t)(uintptr_t)site;
	for (const char *p = b->next; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
	for (uint64_t i = h >> 20;; i++) {
		uint32_t *slot = &b->slots[i % (2 * MAX_KEYS)];
		if (!*slot && !(*slot = add(t, b, site)))
			break;
		const struct begin *x = &b->list[*slot - 1];
		if (x->site == site && strcmp(x->name, b->next) == 0) {
			site = (const void *)(uintptr_t)SP_PHASE_KEY(t->number, *slot);
			break;
		}
	}
	b->next[0] = 0;
	return site;
}
