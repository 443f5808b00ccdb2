/* requests.c: requests, and how they finish in the order of the trace. */
#include "private.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Requests. The ring is used from its beginning again when nothing in it is
   alive, so that what is made in a row stands in a row. */
static _Thread_local struct {
	MPI_Request *slot;
	int64_t next, size;
} ring;
int64_t farthest;
static _Thread_local MPI_Request none;

struct slot { MPI_Request *p, saved; };
static _Thread_local struct {
	struct slot *list;
	int n, room;
} hidden;
static _Thread_local struct {
	MPI_Request *list;
	MPI_Request **home;
	int n;
} gathered;

MPI_Request *no_request(void)
{
	none = MPI_REQUEST_NULL;
	return &none;
}

MPI_Request *request(int64_t ago)
{
	int64_t at = ring.next - ago;
	if (at >= 0)
		return &ring.slot[at];
	at += ring.size;
	return at < ring.next || !ring.slot ? no_request() : &ring.slot[at];
}

MPI_Request *new_request(void)
{
	if (!ring.slot) {
		ring.size = 4 * farthest + 4096;
		ring.slot = private_memory((size_t)ring.size * sizeof *ring.slot);
		for (int64_t i = 0; i < ring.size; i++)
			ring.slot[i] = MPI_REQUEST_NULL;
	}
	if (ring.next > ring.size / 2) {
		int64_t d = 1;
		while (d <= farthest && *request(d) == MPI_REQUEST_NULL)
			d++;
		if (d > farthest)
			ring.next = 0;
		for (int64_t i = 0; ring.next == 0 && i < ring.size; i++)
			ring.slot[i] = MPI_REQUEST_NULL;
	}
	if (ring.next == ring.size)
		ring.next = 0;
	ring.slot[ring.next] = MPI_REQUEST_NULL;
	return &ring.slot[ring.next++];
}

MPI_Request *these(int n, const int64_t *code)
{
	gathered.list = room(((size_t)n + 1) * sizeof *gathered.list);
	gathered.home = room(((size_t)n + 1) * sizeof *gathered.home);
	gathered.n = n;
	for (int i = 0; i < n; i++) {
		gathered.home[i] = code[i] == 0 ? NULL : code[i] & 1 ? &kept[code[i] >> 1] : request(code[i] >> 1);
		gathered.list[i] = code[i] == 0 ? MPI_REQUEST_NULL : *gathered.home[i];
	}
	return gathered.list;
}

/* What a call left of its requests: where they are at home, NULL of those that it
   finished in the original. */
static _Thread_local struct {
	MPI_Request **home;
	MPI_Request *now; /* that the call under way is given; NULL: it leaves none */
	int n, room;
} passed;

static MPI_Request *home(MPI_Request *p)
{
	return gathered.n && p >= gathered.list && p < gathered.list + gathered.n ? gathered.home[p - gathered.list] : p;
}

MPI_Request *passes(int n, MPI_Request *p)
{
	if (n > passed.room) {
		passed.room = n;
		if (!(passed.home = realloc(passed.home, (size_t)n * sizeof *passed.home)))
			fail("no memory", NULL);
	}
	for (int i = 0; i < n; i++)
		passed.home[i] = home(&p[i]);
	passed.n = n;
	passed.now = p;
	return p;
}

MPI_Request *as_left(int n)
{
	gathered.list = room(((size_t)n + 1) * sizeof *gathered.list);
	gathered.home = room(((size_t)n + 1) * sizeof *gathered.home);
	gathered.n = n;
	for (int i = 0; i < n; i++) {
		gathered.home[i] = i < passed.n ? passed.home[i] : NULL;
		gathered.list[i] = gathered.home[i] ? *gathered.home[i] : MPI_REQUEST_NULL;
	}
	return passed.now = gathered.list;
}

static void leave(const MPI_Request *p, int i)
{
	if (p == passed.now && i >= 0 && i < passed.n)
		passed.home[i] = NULL;
}

MPI_Request *window(int64_t ago)
{
	if (ring.next >= ago)
		return &ring.slot[ring.next - ago];
	/* It goes round the end: in a copy. */
	int64_t *code = room((size_t)ago * sizeof *code);
	for (int64_t i = 0; i < ago; i++)
		code[i] = 2 * (ago - i);
	return these((int)ago, code);
}

static int complete(MPI_Request r)
{
	int f = 0;
	if (r == MPI_REQUEST_NULL)
		return 1;
	APART(PMPI_Request_get_status(r, &f, MPI_STATUS_IGNORE));
	return f;
}

static void hide(MPI_Request *p)
{
	if (hidden.n == hidden.room) {
		hidden.room = hidden.room ? 2 * hidden.room : 64;
		struct slot *list = private_memory((size_t)hidden.room * sizeof *list);
		if (hidden.n) {
			memcpy(list, hidden.list, (size_t)hidden.n * sizeof *list);
			munmap(hidden.list, (size_t)hidden.n * sizeof *list);
		}
		hidden.list = list;
	}
	hidden.list[hidden.n].p = p;
	hidden.list[hidden.n++].saved = *p;
	*p = MPI_REQUEST_NULL;
}

MPI_Request *done(MPI_Request *p)
{
	while (!complete(*p))
		sched_yield();
	return p;
}

MPI_Request *all_done(int n, MPI_Request *p)
{
	for (int i = 0; i < n; i++) {
		done(&p[i]);
		leave(p, i);
	}
	return p;
}

static int is_kept(const MPI_Request *p, int i)
{
	if (gathered.n && p == gathered.list)
		p = gathered.home[i], i = 0;
	return !(p >= ring.slot && p < ring.slot + ring.size);
}

/* Between looking and waiting another request than the wanted one may finish.
   Then the wanted one is late: it takes that one's place when its turn comes. */
static _Thread_local struct {
	MPI_Request **slot;
	int n, room;
} late;
static _Thread_local struct {
	MPI_Request **slot; /* where the requests are at home that the call should finish */
	int n, room;
} wanted_now;

static void push(MPI_Request ***list, int *n, int *size, MPI_Request *p)
{
	if (*n == *size) {
		*size = *size ? 2 * *size : 64;
		if (!(*list = realloc(*list, (size_t)*size * sizeof **list)))
			fail("no memory", NULL);
	}
	(*list)[(*n)++] = p;
}

/* Finds a late request for place i of n, where there is none any more: at its own
   place, or put there, as the original's array had none in its place by now. */
static int take_late(int i, int n, MPI_Request *p)
{
	for (int k = 0; k < late.n; k++)
		for (int own = 0; own < n; own++)
			if (home(&p[own]) == late.slot[k] && p[own] != MPI_REQUEST_NULL) {
				late.slot[k] = late.slot[--late.n];
				return own;
			}
	if (late.n == 0 || !gathered.n || p != gathered.list)
		return -1;
	gathered.home[i] = late.slot[--late.n];
	p[i] = *gathered.home[i];
	return i;
}

/* After the call: which of the wanted were not finished? */
static void settle(void)
{
	for (int k = late.n; k-- > 0;)
		if (*late.slot[k] == MPI_REQUEST_NULL)
			late.slot[k] = late.slot[--late.n];
	for (int i = 0; i < wanted_now.n; i++)
		if (*wanted_now.slot[i] != MPI_REQUEST_NULL)
			push(&late.slot, &late.n, &late.room, wanted_now.slot[i]);
	wanted_now.n = 0;
}

MPI_Request *some(int wanted, const int32_t *index, int n, MPI_Request *p)
{
	int open = 0; /* requests that were not finished before their time */
	int32_t *now = room(((size_t)wanted + 1) * sizeof *now);
	for (int i = 0; i < wanted; i++) {
		now[i] = index[i] >= 0 && index[i] < n ? index[i] : -1;
		leave(p, now[i]);
		if (now[i] >= 0 && p[now[i]] == MPI_REQUEST_NULL)
			now[i] = take_late(now[i], n, p);
		for (int k = 0; k < n && now[i] < 0 && index[i] >= 0 && index[i] < n; k++) { /* a loop before that finishes whatever comes has finished it */
			int asked = p[k] == MPI_REQUEST_NULL || is_kept(p, k);
			for (int j = 0; j < i && !asked; j++)
				asked = now[j] == k;
			if (!asked)
				now[i] = k;
		}
		if (now[i] < 0)
			continue;
		done(&p[now[i]]);
		open++;
		if (!is_kept(p, now[i]) && home(&p[now[i]]))
			push(&wanted_now.slot, &wanted_now.n, &wanted_now.room, home(&p[now[i]]));
	}
	for (int again = 1; again;) {
		again = 0; /* looking may finish what was looked at before */
		for (int i = 0; i < n; i++) {
			if (open == 0 && wanted > 0) {
				hide(&p[i]);
				continue;
			}
			int asked = p[i] == MPI_REQUEST_NULL || is_kept(p, i);
			for (int k = 0; k < wanted && !asked; k++)
				asked = now[k] == i;
			if (!asked && complete(p[i])) {
				hide(&p[i]);
				again = 1;
			}
		}
	}
	return p;
}

MPI_Request *only(int index, int n, MPI_Request *p)
{
	int32_t i = index;
	return some(1, &i, n, p);
}

int pending(MPI_Request *p)
{
	int yes = !complete(*p);
	return yes;
}

int any_pending(int n, MPI_Request *p)
{
	int yes = 0;
	for (int i = 0; i < n && !yes; i++)
		yes = !complete(p[i]);
	gathered.n = 0;
	return yes;
}

int none_done(int n, MPI_Request *p)
{
	int yes = 1;
	for (int i = 0; i < n && yes; i++)
		yes = p[i] == MPI_REQUEST_NULL || !complete(p[i]);
	gathered.n = 0;
	return yes;
}

int nothing_from(int source, int tag, MPI_Comm c)
{
	int f = 0;
	APART(PMPI_Iprobe(source, tag, c, &f, MPI_STATUS_IGNORE));
	return !f;
}

void arrived(int source, int tag, MPI_Comm c)
{
	if (source == MPI_PROC_NULL)
		return;
	waits_in("waiting for a message that the next call finds");
	while (nothing_from(source, tag, c))
		sched_yield();
}

int any_source(int recorded, MPI_Comm c)
{
	int inter = 0, n = 0;
	apart(1);
	PMPI_Comm_test_inter(c, &inter);
	if (inter)
		PMPI_Comm_remote_size(c, &n), n++;
	else
		PMPI_Comm_size(c, &n);
	apart(0);
	return n <= 2 || recorded < 0 ? MPI_ANY_SOURCE : recorded;
}

void requests_over(void)
{
	while (hidden.n > 0) {
		struct slot *s = &hidden.list[--hidden.n];
		*s->p = s->saved;
	}
	for (int i = 0; i < gathered.n; i++)
		if (gathered.home[i])
			*gathered.home[i] = gathered.list[i];
	gathered.n = 0;
	passed.now = NULL;
	settle();
}

int requests_late(void) { return late.n; }

int64_t flag_(void) { return flag != 0; }
int64_t testany(void) { return flag ? index_() : 0; }
int64_t index_(void) { return number[0] < 0 ? INT64_MAX : 1; }
int64_t outcount(void) { return number[0] < 0 ? INT64_MAX : number[0]; }
