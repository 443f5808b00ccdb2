/*
 * rounds.c: a plugin of the recorder that reads what loops.cpp had the program count: how many rounds each loop
 * made since the thread's call before, attached to the next one.
 *
 * A thread's counters only grow and are read by the thread itself, so that nothing is missed or counted twice,
 * whatever exceptions and longjmp leave, and nothing is shared between threads.
 */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spoor_plugin.h"

#define PUBLIC __attribute__((visibility("default")))

#define MOST 31          /* numbers for a call; one more is for the other loops */
#define MAX_LOOPS 1000000
#define NAME 64

/* A unit of the program that has counters. */
struct unit {
	uint64_t *(*where)(void);
	const char *text; /* a copy: names may be asked for while another thread unloads the library */
	uint32_t loops;
	int seen; /* in the last search */
	int dead; /* its library was unloaded */
	int32_t *value; /* by loop: 0 not asked for yet, else the number of its name + 1 */
};

/* What a thread knows of a unit. */
struct known {
	struct unit *unit;
	uint64_t *now, *last;
};

struct thread {
	uint32_t units, generation;
	struct known *known;
};

static const spoor_api *spoor;
static int32_t others;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct unit **units;
static uint32_t nunits, generation;
static unsigned long long loads; /* of libraries, and unloads */
static pthread_key_t at_end;
static __thread struct thread *mine;

/* ---- units ---- */

static void found(const char *note)
{
	const int32_t *v = (const int32_t *)(note + 20);
	uint64_t *(*where)(void) = (uint64_t * (*)(void)) (uintptr_t)(note + v[0]);
	uint32_t loops = (uint32_t)v[2];
	for (uint32_t i = 0; i < nunits; i++)
		if (!units[i]->dead && units[i]->where == where && units[i]->loops == loops) {
			units[i]->seen = 1;
			return;
		}
	if (loops == 0 || loops > MAX_LOOPS)
		return;
	struct unit *u = calloc(1, sizeof *u), **more = realloc(units, (nunits + 1) * sizeof *units);
	if (more)
		units = more;
	if (!u || !more || !(u->value = calloc(loops, sizeof *u->value)) || !(u->text = strdup(note + v[1]))) {
		if (u)
			free(u->value);
		free(u);
		return;
	}
	u->where = where;
	u->loops = loops;
	u->seen = 1;
	units[nunits++] = u;
}

static int object(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_NOTE || p->p_align > 4) /* others have 8, and another padding */
			continue;
		const char *a = (const char *)(info->dlpi_addr + p->p_vaddr), *end = a + p->p_memsz;
		while (end - a >= 12) {
			uint32_t name, desc, kind;
			memcpy(&name, a, 4);
			memcpy(&desc, a + 4, 4);
			memcpy(&kind, a + 8, 4);
			uint64_t all = 12 + (((uint64_t)name + 3) & ~3ull) + (((uint64_t)desc + 3) & ~3ull);
			if (all > (uint64_t)(end - a))
				break;
			if (name == 6 && desc >= 16 && kind == 1 && memcmp(a + 12, "spoor", 6) == 0)
				found(a);
			a += all;
		}
	}
	return 0;
}

static int counts(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(unsigned long long *)arg = info->dlpi_adds + info->dlpi_subs;
	return 1; /* it's the same for all */
}

/* Look for units where libraries came or went. */
static void look(void)
{
	unsigned long long n = 0;
	dl_iterate_phdr(counts, &n);
	if (n == __atomic_load_n(&loads, __ATOMIC_ACQUIRE))
		return;
	pthread_mutex_lock(&lock);
	if (n != loads) {
		for (uint32_t i = 0; i < nunits; i++)
			units[i]->seen = 0;
		dl_iterate_phdr(object, NULL);
		for (uint32_t i = 0; i < nunits; i++)
			units[i]->dead |= !units[i]->seen;
		__atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
		__atomic_store_n(&loads, n, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
}

/* ---- names ---- */

/* What a loop is called: file:line function, or where lines are not known file#number function. */
static int32_t ask(const struct unit *u, uint32_t loop)
{
	const char *line = u->text;
	for (uint32_t i = 0; line && i < loop; i++)
		if ((line = strchr(line, '\n')))
			line++;
	char name[NAME + 1];
	const char *file = line, *tab = line ? strchr(line, '\t') : NULL, *end = line ? strchr(line, '\n') : NULL;
	const char *function = tab ? strchr(tab + 1, '\t') : NULL;
	function = function ? strchr(function + 1, '\t') : NULL;
	if (!end || !function || function > end)
		return -1;
	for (const char *c = line; c < tab; c++)
		if (*c == '/')
			file = c + 1;
	unsigned at = (unsigned)strtoul(tab + 1, NULL, 10);
	int length = tab - file > NAME / 2 ? NAME / 2 : (int)(tab - file);
	snprintf(name, sizeof name, "%.*s%c%u %.*s", length, file, at ? ':' : '#', at ? at : loop + 1, (int)(end - function - 1), function + 1);
	return spoor->value(name);
}

static int32_t value_of(struct unit *u, uint32_t loop)
{
	int32_t v = __atomic_load_n(&u->value[loop], __ATOMIC_RELAXED);
	if (v == 0) {
		v = ask(u, loop);
		v = (v < 0 ? others : v) + 1;
		__atomic_store_n(&u->value[loop], v, __ATOMIC_RELAXED);
	}
	return v - 1;
}

/* ---- threads ---- */

static void ends(void *p)
{
	struct thread *t = p;
	mine = NULL; /* MPI may be called still */
	for (uint32_t i = 0; i < t->units; i++)
		free(t->known[i].last);
	free(t->known);
	free(t);
}

/* Take in what units there are now. */
static int refresh(struct thread *t)
{
	pthread_mutex_lock(&lock);
	struct known *k = realloc(t->known, (nunits + 1) * sizeof *k);
	if (k) {
		t->known = k;
		for (uint32_t i = t->units; i < nunits; i++)
			k[i] = (struct known){.unit = units[i]};
		t->units = nunits;
		for (uint32_t i = 0; i < nunits; i++) {
			struct unit *u = units[i];
			if (u->dead)
				k[i].now = NULL;
			else if (!k[i].last && (k[i].last = calloc(u->loops, sizeof *k[i].last)))
				k[i].now = u->where();
		}
		t->generation = generation;
	}
	pthread_mutex_unlock(&lock);
	return k != NULL;
}

/* The thread's memory of a unit may have been given back and made anew. */
static uint64_t since(uint64_t now, uint64_t last)
{
	return now >= last ? now - last : now;
}

PUBLIC void spoor_pre(const spoor_call *call)
{
	look();
	struct thread *t = mine;
	if (!t) {
		t = calloc(1, sizeof *t);
		if (!t)
			return;
		mine = t;
		pthread_setspecific(at_end, t);
	}
	if (t->generation != __atomic_load_n(&generation, __ATOMIC_ACQUIRE) && !refresh(t))
		return;
	int n = 0;
	int64_t rest = 0;
	for (uint32_t i = 0; i < t->units; i++) {
		struct known *k = &t->known[i];
		if (!k->now)
			continue;
		struct unit *u = k->unit;
		if (memcmp(k->now, k->last, u->loops * sizeof *k->now) == 0)
			continue;
		for (uint32_t j = 0; j < u->loops; j++) {
			uint64_t rounds = since(k->now[j], k->last[j]);
			if (rounds == 0)
				continue;
			int32_t v = value_of(u, j);
			if (v == others) {
				rest += (int64_t)rounds;
			} else if (n < MOST) {
				spoor->attach(call, v, (int64_t)rounds);
				n++;
			} else {
				continue; /* with the next call */
			}
			k->last[j] = k->now[j];
		}
	}
	if (rest > 0)
		spoor->attach(call, others, rest);
}

PUBLIC int spoor_init(const spoor_api *api)
{
	spoor = api;
	if (api->abi != SPOOR_PLUGIN_ABI || pthread_key_create(&at_end, ends) != 0)
		return 1;
	others = api->value("rounds of other loops");
	look();
	if (nunits == 0 && api->rank == 0)
		fprintf(stderr, "spoor: libspoor-rounds.so: no loop of the program counts its rounds; compile it with what \"spoor papers pass --flag clang-19\" prints, or of your compiler\n");
	return others < 0;
}
