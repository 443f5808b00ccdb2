/* memory.c: segments, of which an address is a place. */
#include "private.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct seg {
	char *base;
	int64_t low, high;
	int known, ours, win;
};
static struct {
	struct seg *seg;
	int64_t n;
} table[8];

static struct seg *segment(int class, int64_t id)
{
	if (id >= table[class].n) {
		int64_t n = 2 * id + 16;
		struct seg *s = private_memory((size_t)n * sizeof *s);
		if (table[class].n)
			memcpy(s, table[class].seg, (size_t)table[class].n * sizeof *s);
		table[class].seg = s;
		table[class].n = n;
	}
	return &table[class].seg[id];
}

void area(int class, int64_t id, int64_t n, int64_t low, int64_t high)
{
	for (int64_t i = 0; i < n; i++) {
		struct seg *s = segment(class, id + i);
		s->low = class == DATA || class == STACK || low < 0 ? low : 0;
		s->high = high + 64;
		s->known = 1;
	}
}

void block(int class, int64_t id, int64_t size)
{
	release(class, id);
	struct seg *s = segment(class, id);
	s->low = 0;
	s->high = size;
	s->known = 1;
}

void blocks(int class, int64_t first, int64_t n, int64_t size)
{
	while (n-- > 0)
		block(class, first++, size);
}

/* Small places share pages; none of them is memory that a recorder would take
   for a block of the heap. */
void *small(size_t size)
{
	static char *at, *end;
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	size = (size + 63) & ~(size_t)63;
	pthread_mutex_lock(&lock);
	if ((size_t)(end - at) < size) {
		size_t block = size > 1 << 20 ? size : 1 << 20;
		at = private_memory(block);
		end = at + block;
	}
	void *p = at;
	at += size;
	pthread_mutex_unlock(&lock);
	return p;
}

static char *base_of(int class, int64_t id)
{
	struct seg *s = segment(class, id);
	if (s->base)
		return s->base;
	size_t size = (size_t)(s->high - s->low);
	void *p = NULL;
	if (class != PLACE && class != MPI_MEMORY) {
		if (posix_memalign(&p, 64, size < 1024 ? 1024 : size))
			fail("no memory", NULL);
		s->ours = 1;
	} else {
		p = small(size);
	}
	return s->base = (char *)p - s->low;
}

char *heap(int64_t id) { return base_of(HEAP, id); }
char *device(int64_t id) { return base_of(DEVICE, id); }
char *data(int64_t id) { return base_of(DATA, id); }
char *stack(int64_t id) { return base_of(STACK, id); }
char *place(int64_t id) { return base_of(PLACE, id); }
char *mpi_memory(int64_t id) { return base_of(MPI_MEMORY, id); }

void release(int class, int64_t id)
{
	struct seg *s = segment(class, id);
	/* A request that is late may still write there. */
	if (s->base && s->ours && !requests_late())
		free(s->base + s->low);
	s->base = NULL;
	s->ours = 0;
}

void gave(int class, int64_t id, void *base, int win)
{
	struct seg *s = segment(class, id);
	s->base = base;
	s->ours = 0;
	s->win = win + 1;
}

void taken(int class, int64_t id)
{
	struct seg *s = segment(class, id);
	if (!s->ours)
		s->base = NULL;
}

void taken_with(int win)
{
	for (int c = 0; c < 8; c++)
		for (int64_t i = 0; i < table[c].n; i++)
			if (table[c].seg[i].win == win + 1) {
				table[c].seg[i].base = NULL;
				table[c].seg[i].win = 0;
			}
}

int64_t stack_size(int64_t id)
{
	struct seg *s = segment(STACK, id);
	int64_t n = s->known ? s->high - s->low + 64 : 0;
	return n > 1 << 20 ? 0 : n; /* large ones are elsewhere */
}

void data_is(int64_t id, char *from)
{
	segment(DATA, id)->base = from - (segment(DATA, id)->low & ~(int64_t)63);
}

void stack_is(int64_t id, char *from, int64_t size)
{
	struct seg *s = segment(STACK, id);
	if (size > 0)
		s->base = (char *)(((uintptr_t)from + 63) & ~(uintptr_t)63) - s->low;
}
