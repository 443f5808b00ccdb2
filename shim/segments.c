/* segments.c: the table of live allocations. See segments.h. */
#include "segments.h"

#include <string.h>
#include <sys/mman.h>

#include "gpuask.h"
#include "shim.h"

#define SHARDS 64
#define FILTER 256 /* counters per shard; a power of two */
#define CLASSES 56   /* larger segments are not entered */

struct entry {
	uint64_t key; /* granule << 6 | its size class, plus 1; 0 is a free slot */
	uint64_t base, size;
	uint64_t serial; /* of the entry at the segment's first granule; 0: not used by MPI */
	uint32_t class, device;
};

struct shard {
	int lock;
	uint32_t mask, used;
	struct entry *slots;
	uint8_t filter[FILTER]; /* entries by hash, stuck at 255; written under the lock */
};

static struct shard shards[SHARDS];
static uint64_t classes;             /* bit set of size classes that ever had an entry */
static uint64_t serials;             /* last serial given */
static uint64_t epoch = 1;           /* advances when a used segment goes away */
static int off;

/* A page of its own, by a system call: handlers and threads that have just begun need it too. */
struct sp_tables *sp_make_tables(struct sp_thread *t)
{
	void *p = mmap(NULL, sizeof *t->tables, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sp_tables *none = NULL;
	if (p == MAP_FAILED)
		return NULL;
	if (!__atomic_compare_exchange_n(&t->tables, &none, p, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		munmap(p, sizeof *t->tables); /* a handler came in between */
	return t->tables;
}

/* The thread holds no other lock: see enterable. */
static void lock(int *l)
{
	sp_lock_begin(&sp_self, l);
}

static void unlock(void)
{
	sp_lock_end(&sp_self);
}

/* Whether the table may be changed: not by a handler that interrupted a change. */
static int enterable(void)
{
	if (sp_likely(!sp_self.locked))
		return 1;
	sp_drop(1);
	return 0;
}

static unsigned size_class(uint64_t size)
{
	return 63 - (unsigned)__builtin_clzll(size | 64);
}

/* A granule of a class is four times as large as its smallest segment. */
static uint64_t granule_of(uint64_t addr, unsigned class)
{
	return addr >> (class + 2);
}

static uint64_t key_of(uint64_t granule, unsigned class)
{
	return (granule << 6 | class) + 1;
}

static uint64_t hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15ull;
	return key ^ key >> 29;
}

static struct shard *shard_of(uint64_t h)
{
	return &shards[h >> 58];
}

static uint8_t *filter_of(struct shard *s, uint64_t h)
{
	return &s->filter[h >> 40 & (FILTER - 1)];
}

/* Double the shard's slots (or make the first ones). Its lock is held. */
static int grow(struct shard *s)
{
	uint32_t cap = s->slots ? (s->mask + 1) * 2 : 64;
	struct entry *slots = mmap(NULL, cap * sizeof *slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (slots == MAP_FAILED)
		return 0;
	for (uint32_t i = 0; s->slots && i <= s->mask; i++) {
		if (!s->slots[i].key)
			continue;
		uint32_t j = (uint32_t)hash(s->slots[i].key) & (cap - 1);
		while (slots[j].key)
			j = (j + 1) & (cap - 1);
		slots[j] = s->slots[i];
	}
	if (s->slots)
		munmap(s->slots, (s->mask + 1) * sizeof *slots);
	s->slots = slots;
	s->mask = cap - 1;
	return 1;
}

static void insert(const struct entry *e)
{
	uint64_t h = hash(e->key);
	struct shard *s = shard_of(h);
	lock(&s->lock);
	if ((!s->slots || s->used * 4 >= s->mask * 3) && !grow(s)) {
		unlock();
		return;
	}
	uint32_t i = (uint32_t)h & s->mask;
	while (s->slots[i].key)
		i = (i + 1) & s->mask;
	s->slots[i] = *e;
	s->used++;
	uint8_t *f = filter_of(s, h);
	if (*f < 255)
		__atomic_store_n(f, *f + 1, __ATOMIC_RELAXED);
	unlock();
}

/* Close the hole at i so that linear probing still finds everything behind it. */
static void close_hole(struct shard *s, uint32_t i)
{
	for (uint32_t j = i;;) {
		j = (j + 1) & s->mask;
		if (!s->slots[j].key)
			break;
		uint32_t home = (uint32_t)hash(s->slots[j].key) & s->mask;
		if (((j - home) & s->mask) >= ((j - i) & s->mask)) {
			s->slots[i] = s->slots[j];
			i = j;
		}
	}
	s->slots[i].key = 0;
}

/* Remove the entry of the segment at base under key; its copy goes to *out. */
static int take(uint64_t key, uint64_t base, struct entry *out)
{
	uint64_t h = hash(key);
	struct shard *s = shard_of(h);
	uint8_t *f = filter_of(s, h);
	if (!__atomic_load_n(f, __ATOMIC_RELAXED))
		return 0;
	int found = 0;
	lock(&s->lock);
	for (uint32_t i = (uint32_t)h & s->mask; s->slots && s->slots[i].key; i = (i + 1) & s->mask) {
		if (s->slots[i].key != key || s->slots[i].base != base)
			continue;
		*out = s->slots[i];
		close_hole(s, i);
		s->used--;
		if (*f < 255)
			__atomic_store_n(f, *f - 1, __ATOMIC_RELAXED);
		found = 1;
		break;
	}
	unlock();
	return found;
}

void sp_segment_add(const void *p, size_t size, size_t room, unsigned class, unsigned device)
{
	if (sp_unlikely(off) || !p || !size || !enterable())
		return;
	uint64_t base = (uint64_t)(uintptr_t)p;
	unsigned g = size_class(room);
	if (sp_unlikely(g >= CLASSES))
		return;
	struct entry e = {.base = base, .size = size, .class = class, .device = device};
	uint64_t last = granule_of(base + room - 1, g);
	for (uint64_t granule = granule_of(base, g); granule <= last; granule++) {
		e.key = key_of(granule, g);
		insert(&e);
	}
	if (sp_unlikely(!(__atomic_load_n(&classes, __ATOMIC_RELAXED) >> g & 1)))
		__atomic_fetch_or(&classes, 1ull << g, __ATOMIC_RELAXED);
}

static int remove_from(uint64_t base, unsigned g)
{
	struct entry e, copy;
	if (!take(key_of(granule_of(base, g), g), base, &e))
		return 0;
	/* Its room is at most twice the smallest of its class: one more granule. */
	take(key_of(granule_of(base, g) + 1, g), base, &copy);
	if (e.serial) {
		__atomic_fetch_add(&epoch, 1, __ATOMIC_RELAXED);
		sp_tell_freed(e.serial);
	}
	return 1;
}

void sp_segment_remove(const void *p, size_t room)
{
	if (sp_unlikely(off) || !p || !enterable())
		return;
	if (room) {
		remove_from((uint64_t)(uintptr_t)p, size_class(room));
		return;
	}
	uint64_t used = __atomic_load_n(&classes, __ATOMIC_RELAXED);
	for (; used; used &= used - 1)
		if (remove_from((uint64_t)(uintptr_t)p, (unsigned)__builtin_ctzll(used)))
			return;
}

/* Find the entry under key whose segment holds addr. If `serial` is not NULL
   and the segment has none yet, *serial becomes its own. */
static int find(uint64_t key, uint64_t addr, uint64_t *serial, struct entry *out)
{
	uint64_t h = hash(key);
	struct shard *s = shard_of(h);
	uint8_t *f = filter_of(s, h);
	if (!__atomic_load_n(f, __ATOMIC_RELAXED))
		return 0;
	int found = 0;
	lock(&s->lock);
	for (uint32_t i = (uint32_t)h & s->mask; s->slots && s->slots[i].key; i = (i + 1) & s->mask) {
		struct entry *e = &s->slots[i];
		if (e->key != key || addr < e->base || addr - e->base >= e->size)
			continue;
		*out = *e;
		if (serial && !e->serial)
			e->serial = *serial;
		found = 1;
		break;
	}
	unlock();
	return found;
}

static int locate_slow(uint64_t addr, struct sp_cached *c)
{
	struct entry e, first;
	/* A record that leads nowhere names nothing. */
	if (!sp_writable(&sp_self))
		return 0;
	for (uint64_t used = __atomic_load_n(&classes, __ATOMIC_RELAXED); used; used &= used - 1) {
		unsigned g = (unsigned)__builtin_ctzll(used);
		if (!find(key_of(granule_of(addr, g), g), addr, NULL, &e))
			continue;
		uint64_t now = __atomic_load_n(&epoch, __ATOMIC_RELAXED);
		uint64_t serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
		if (!find(key_of(granule_of(e.base, g), g), e.base, &serial, &first))
			return 0; /* freed by another thread meanwhile: the program's race */
		if (first.serial)
			serial = first.serial;
		else {
			uint64_t record[6] = {SP_WORD0(6, 0, SP_SEGMENT, 0), sp_ticks(), serial, e.size, e.device, e.class};
			sp_tell_segment(&sp_self, record);
		}
		*c = (struct sp_cached){e.base, e.size, (uint64_t)e.class << 56 | serial, now};
		return 1;
	}
	return 0;
}

/* An address that no allocation led to may still be a device's. */
static int locate_asked(uint64_t addr, struct sp_cached *c)
{
	struct sp_gpu_range r;
	if (!sp_gpu_ask(addr, &r))
		return 0;
	const void *base = (const void *)(uintptr_t)r.base;
	sp_segment_remove(base, 0); /* the allocation that began there before */
	sp_segment_add(base, r.size, r.size, SP_DEVICE, r.device);
	return locate_slow(addr, c);
}

void sp_locate(const void *p, uint64_t out[2])
{
	uint64_t addr = (uint64_t)(uintptr_t)p;
	struct sp_thread *t = &sp_self;
	out[0] = (uint64_t)SP_RAW << 56;
	out[1] = addr;
	if (sp_unlikely(off) || !t->ring)
		return;
	if (addr >= t->ring->stack_lo && addr < t->ring->stack_hi)
		return;
	struct sp_tables *tables = sp_tables(&sp_self);
	if (sp_unlikely(!tables))
		return;
	struct sp_cached *c = &tables->cached[hash(addr >> 8) & (SP_CACHED - 1)];
	if (c->epoch != __atomic_load_n(&epoch, __ATOMIC_RELAXED) || addr - c->base >= c->size)
		if (!locate_slow(addr, c) && !locate_asked(addr, c))
			return;
	out[0] = c->word0;
	out[1] = addr - c->base;
}

void sp_segments_off(void)
{
	off = 1;
}

void sp_tell_segment(struct sp_thread *t, const uint64_t record[6])
{
	struct sp_tables *tables = sp_tables(t);
	if (!tables || t->npending + 6 > SP_PENDING) {
		sp_drop(1);
		return;
	}
	memcpy(tables->pending + t->npending, record, 6 * 8);
	t->npending += 6;
}
