/*
 * ring.c: a thread's ring as memory. See record.h for the layout and its
 * invariants.
 *
 * Rings are file mappings so that what was recorded outlives the process,
 * whatever kills it. The file's blocks are allocated beforehand: a full disk
 * must be an error here, not a SIGBUS in the program.
 */
#define _GNU_SOURCE
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime.h"

/* A drain costs some µs, most of it for threads of the Go runtime that it wakes, plus
   the engine's work per record; much beyond this the records have left the near caches
   before the engine reads them. */
#define DRAIN_BYTES (128 << 10)

struct sp_ring *sp_rings[SP_MAX_THREADS];
int sp_nrings;

static struct sp_ring *map_file(const char *path, uint64_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	void *p = MAP_FAILED;
	if (posix_fallocate(fd, 0, (off_t)size) == 0)
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED) {
		unlink(path);
		return NULL;
	}
	return p;
}

static struct sp_ring *map_memory(uint64_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static struct sp_ring *map_ring(const char *suffix, int number, uint64_t capacity)
{
	const char *dir = sp_scratch_dir();
	struct sp_ring *r = NULL;
	if (dir) {
		char path[4096];
		snprintf(path, sizeof path, "%s/ring.%d%s", dir, number, suffix);
		r = map_file(path, SP_RING_PAGE + capacity);
		if (!r)
			sp_warn_once("no room in %s: what this thread records won't survive a crash", dir);
	}
	return r ? r : map_memory(SP_RING_PAGE + capacity);
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* A page that is touched first between two calls takes its time, some 20 µs, out of what the
   program seems to compute. So the pages of the next records are mapped while the time is the
   recorder's, which takes a tenth of that for many at once. Kernels before 5.14 can't. */
void sp_ring_ahead(struct sp_ring *r, uint64_t head)
{
	if (head >= r->capacity)
		return; /* all are mapped */
	int saved = errno;
	uint64_t n = r->capacity - head, page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (n > DRAIN_BYTES + 2 * SP_SLACK * 8)
		n = DRAIN_BYTES + 2 * SP_SLACK * 8;
	uintptr_t from = (uintptr_t)(sp_ring_data(r) + head);
	uintptr_t start = from & ~(uintptr_t)(page - 1);
	madvise((void *)start, from + n - start, MADV_POPULATE_WRITE);
	errno = saved;
}

struct sp_ring *sp_ring_make(int number, uint64_t capacity)
{
	struct sp_ring *r = map_ring("", number, capacity);
	if (!r)
		return NULL;
	r->version = SP_RING_VERSION;
	r->thread = (uint32_t)number;
	r->capacity = capacity;
	sp_ring_ahead(r, 0);
	r->magic = SP_RING_MAGIC; /* last: a reader takes a header without it for none */
	return r;
}

int sp_ring_grow(struct sp_thread *t, const uint64_t *w, uint64_t capacity)
{
	struct sp_ring *old = t->ring;
	struct sp_ring *r = map_ring(".new", t->number, capacity);
	if (!r)
		return 0;
	memcpy(r, old, sizeof *r);
	r->capacity = capacity;
	/* Both capacities are powers of two: a run that didn't straddle the old
	   ring's end doesn't straddle the new one's. */
	uint64_t from = old->kept;
	while (from < t->head) {
		uint64_t n = old->capacity - from % old->capacity;
		if (n > t->head - from)
			n = t->head - from;
		memcpy(sp_ring_data(r) + from % capacity, sp_ring_data(old) + from % old->capacity, n);
		from += n;
	}
	memcpy(sp_ring_data(r) + t->head % capacity, t->cur, (size_t)(w - t->cur) * 8);
	if (sp_scratch_dir()) {
		char path[4096], made[4096];
		snprintf(path, sizeof path, "%s/ring.%d", sp_scratch_dir(), t->number);
		snprintf(made, sizeof made, "%s/ring.%d.new", sp_scratch_dir(), t->number);
		if (access(made, F_OK) == 0)
			rename(made, path);
		else
			unlink(path);
	}
	t->ring = r;
	sp_rings[t->number] = r;
	munmap(old, SP_RING_PAGE + old->capacity);
	sp_ring_limits(t);
	return 1;
}

uint64_t sp_ring_limits(struct sp_thread *t)
{
	struct sp_ring *r = t->ring;
	uint64_t place = t->head % r->capacity;
	uint64_t room = r->capacity - place;
	uint64_t unkept = t->head - __atomic_load_n(&r->kept, __ATOMIC_ACQUIRE);
	if (room > r->capacity - unkept)
		room = r->capacity - unkept;
	t->cur = (uint64_t *)(sp_ring_data(r) + place);
	t->end = t->cur + room / 8;
	/* where an ENTER fits its LEAVE does, too: nobody may be able to make room by then */
	t->due = room > 2 * SP_SLACK * 8 ? t->end - 2 * SP_SLACK : t->cur;
	uint64_t undrained = t->head - __atomic_load_n(&r->drained, __ATOMIC_ACQUIRE);
	uint64_t *drain = undrained < DRAIN_BYTES ? t->cur + (DRAIN_BYTES - undrained) / 8 : t->cur;
	if (t->due > drain)
		t->due = drain;
	t->lim = t->lost | t->left | t->aside | t->delayed ? NULL : t->due;
	return room;
}

uint64_t *sp_ring_wrap(struct sp_thread *t, const uint64_t *w)
{
	struct sp_ring *r = t->ring;
	uint64_t rest = r->capacity - t->head % r->capacity;
	uint64_t *start = (uint64_t *)sp_ring_data(r);
	size_t words = (size_t)(w - t->cur);
	if (rest < r->capacity) {
		memmove(start, t->cur, words * 8);
		*t->cur = SP_WORD0(rest / 8, 0, SP_SKIP, 0);
		t->head += rest;
		__atomic_store_n(&r->head, t->head, __ATOMIC_RELEASE);
	}
	sp_ring_limits(t);
	return start + words;
}
