/*
 * turn.c: which of several nested loops went round, from their counters.
 *
 * Where two calls are in the same loops, their order doesn't always tell which of these began another round in between. The
 * program knows: it has counters, in registers that calls keep or in words of frames. The engine says of each stack, when it is new,
 * which loops are around its frames and where their counters are (internal/code); they are read at each call from there, and
 * compared with what they were at the call before. What is recorded is not what they hold but which loop went round, and that only
 * where it isn't what the order of the code would have one think: calls of a regular program stay the calls that they were.
 *
 * A counter that doesn't differ by a multiple of its step, where all that is around it stayed as it was, is none: then nothing is known.
 */
#define _GNU_SOURCE
#include "turn.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "host.h"
#include "record.h"
#include "ring.h"
#include "stack.h"

#define CHUNK (1u << 20)

struct sp_turns {
	const struct sp_path *paths[SP_MAX_STACKS + 1]; /* by number */
	char *room;
	size_t left;
	const struct sp_path *last; /* of the call before; NULL: not known */
	uint32_t awaited;           /* its stack's number, if the path was asked for before there was an engine */
	int known;                  /* values are what the counters had there */
	int began;                  /* there was a call before */
	int32_t values[SP_TURN_LOOPS];
};

/* Of stacks of which nothing is known. */
static const struct sp_path none;

int sp_turn_wanted(void)
{
	const char *wanted = getenv("SPOOR_LOOP_COUNTERS");
	return wanted && strcmp(wanted, "1") == 0;
}

static void *reserve(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

struct sp_turns *sp_turn_make(void)
{
	return reserve(sizeof(struct sp_turns));
}

void sp_turn_break(struct sp_turns *x)
{
	x->last = NULL;
	x->awaited = 0;
	x->known = 0;
	x->began = 1;
}

static const struct sp_path *keep(struct sp_turns *x, const struct spoor_place *list, uint32_t n)
{
	size_t bytes = sizeof(struct sp_path) + n * sizeof *list;
	if (bytes > x->left) {
		x->room = reserve(CHUNK);
		x->left = x->room ? CHUNK : 0;
		if (!x->room)
			return &none;
	}
	struct sp_path *p = (struct sp_path *)x->room;
	bytes = (bytes + 7) & ~(size_t)7;
	x->room += bytes;
	x->left -= bytes;
	p->n = n;
	p->loops = 0;
	memcpy(p->place, list, n * sizeof *list);
	for (uint32_t i = 0; i < n && p->loops < SP_TURN_LOOPS; i++)
		if (list[i].loop)
			p->loop[p->loops++] = (uint8_t)i;
	return p;
}

const struct sp_path *sp_turn_path(struct sp_thread *t, struct sp_turns *x, uint32_t number, const uint64_t *pcs, uint64_t n, int whole)
{
	const struct sp_path *p = x->paths[number];
	if (!p && !sp_may_work(t))
		return NULL;
	if (!p) {
		struct spoor_place list[SP_TURN_PLACES];
		uint64_t begin = sp_ticks();
		int places = whole ? sp_host_path(pcs, (int)n, list, SP_TURN_PLACES) : 0;
		if (places < 0)
			return NULL;
		p = x->paths[number] = places ? keep(x, list, (uint32_t)places) : &none;
		t->aside += sp_ticks() - begin;
		if (sp_has_ring(t))
			sp_ring_limits(t); /* so that it is told */
	}
	if (p == &none)
		p = NULL;
	if (x->awaited == number) {
		x->awaited = 0;
		x->last = p;
	}
	return p;
}

int sp_turn_asked(const struct sp_turns *x, uint32_t number)
{
	return x->paths[number] != NULL;
}

uint32_t sp_turn_awaited(const struct sp_turns *x)
{
	return x->awaited;
}

static unsigned compare(const struct sp_turns *x, const struct sp_path *a, const struct sp_path *b, const int32_t *values)
{
	uint32_t n = a->n < b->n ? a->n : b->n, k = 0, loops = 0;
	if (a == b)
		k = n;
	while (k < n && a->place[k].id == b->place[k].id)
		k++;
	while (loops < a->loops && a->loop[loops] < k)
		loops++;
	if (!loops)
		return 0;
	if (!x->known || !values)
		return SP_TURN_UNKNOWN;
	unsigned usual = k == n || a->place[k].order >= b->place[k].order; /* the innermost goes round, or none */
	int sure = 1; /* all that is around stayed as it was */
	for (uint32_t i = 0; i < loops; i++) {
		const struct spoor_place *p = &a->place[a->loop[i]], *q = &b->place[b->loop[i]];
		if (!p->step || p->step != q->step || p->base != q->base) {
			sure = 0;
			continue;
		}
		int32_t by = (int32_t)((uint32_t)values[i] - (uint32_t)q->add - ((uint32_t)x->values[i] - (uint32_t)p->add));
		if (!by)
			continue;
		if (sure && ((int64_t)by % p->step || (by < 0) != (p->step < 0)))
			return SP_TURN_UNKNOWN;
		unsigned way = loops - i;
		return way > usual ? way : 0;
	}
	return usual && sure ? SP_TURN_UNKNOWN : 0; /* something must have gone round */
}

unsigned sp_turn(struct sp_turns *x, uint32_t number, const struct sp_path *path, const int32_t *values)
{
	unsigned turn = 0;
	if (x->began)
		turn = x->last && path ? compare(x, x->last, path, values) : SP_TURN_UNKNOWN;
	x->began = 1;
	x->last = path;
	x->awaited = x->paths[number] ? 0 : number;
	x->known = path && values;
	if (x->known)
		memcpy(x->values, values, path->loops * sizeof *values);
	return turn;
}
