/*
 * mpimem.c: memory that MPI gives out: MPI_Alloc_mem and allocated windows.
 *
 * Where the MPI took it from malloc it is a heap segment already. Else, as with
 * windows in shared mappings, it becomes a segment of its own here. A window's
 * memory goes with the window, so it is kept under its handle.
 */
#define _GNU_SOURCE
#include "mpimem.h"

#include <pthread.h>
#include <sys/mman.h>

#include "segments.h"
#include "shim.h"

#define FIRST 256 /* a power of two */

struct window {
	uint64_t win;
	void *base; /* NULL: a free slot */
};

/* Open addressing, never more than half full. */
static struct {
	struct window *slots;
	size_t mask, used;
} windows;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int known(const void *base)
{
	uint64_t place[2];
	sp_locate(base, place);
	return place[0] >> 56 != SP_RAW;
}

static size_t home(uint64_t win)
{
	win *= 0x9e3779b97f4a7c15ull;
	return (size_t)(win ^ win >> 29) & windows.mask;
}

static void insert(struct window w)
{
	size_t i = home(w.win);
	while (windows.slots[i].base)
		i = (i + 1) & windows.mask;
	windows.slots[i] = w;
}

static int grow(void)
{
	struct window *old = windows.slots;
	size_t n = old ? windows.mask + 1 : 0, cap = n ? n * 2 : FIRST;
	void *p = mmap(NULL, cap * sizeof *old, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 0;
	windows.slots = p;
	windows.mask = cap - 1;
	for (size_t i = 0; i < n; i++)
		if (old[i].base)
			insert(old[i]);
	if (old)
		munmap(old, n * sizeof *old);
	return 1;
}

/* Free the slot at i so that others are still found. */
static void remove_at(size_t i)
{
	windows.slots[i].base = NULL;
	windows.used--;
	for (size_t j = (i + 1) & windows.mask; windows.slots[j].base; j = (j + 1) & windows.mask) {
		struct window w = windows.slots[j];
		windows.slots[j].base = NULL;
		insert(w);
	}
}

int sp_memory_new(void *base, int64_t size)
{
	if (!base || size <= 0 || known(base))
		return 0;
	sp_segment_add(base, (size_t)size, (size_t)size, SP_MPIMEM, 0);
	return 1;
}

void sp_memory_window(uint64_t win, void *base, int64_t size)
{
	if (!sp_memory_new(base, size))
		return;
	pthread_mutex_lock(&lock);
	int ok = windows.used < (windows.mask + 1) / 2 || grow();
	if (ok) {
		insert((struct window){win, base});
		windows.used++;
	}
	pthread_mutex_unlock(&lock);
	if (!ok)
		sp_drop(1); /* its end */
}

void sp_memory_free(const void *base)
{
	sp_segment_remove(base, 0);
}

void sp_memory_free_window(uint64_t win)
{
	void *base = NULL;
	pthread_mutex_lock(&lock);
	for (size_t i = home(win); windows.slots && windows.slots[i].base; i = (i + 1) & windows.mask)
		if (windows.slots[i].win == win) {
			base = windows.slots[i].base;
			remove_at(i);
			break;
		}
	pthread_mutex_unlock(&lock);
	if (base)
		sp_memory_free(base);
}
