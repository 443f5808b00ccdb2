/* exchange.c: messages that come and go in an order that is another in each run. */
#include "private.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

int64_t const **row_values;
static struct rows {
	int width, left; /* how often the row is to be repeated */
	const int64_t *values;
	const int *order;
} * tables;

void rows(int n, int width, const int64_t *values, const int *order)
{
	int64_t const **more = small((size_t)(n + 1) * sizeof *more);
	struct rows *all = small((size_t)(n + 1) * sizeof *all);
	if (n) {
		memcpy(more, row_values, (size_t)n * sizeof *more);
		memcpy(all, tables, (size_t)n * sizeof *all);
	}
	row_values = more;
	tables = all;
	tables[n] = (struct rows){width, 0, values, order};
	row_values[n] = values + width * *order;
}

void next_row(int n)
{
	struct rows *t = &tables[n];
	if (t->left > 0) {
		t->left--;
		return;
	}
	if (*++t->order < 0)
		t->left = -*t->order - 1;
	else
		row_values[n] = t->values + t->width * *t->order;
}

enum { KINDS = 32 }; /* mostKinds in exchange.go */
struct open {
	MPI_Request request;
	const void *where;
};
static _Thread_local struct {
	int64_t left; /* calls to make */
	int n, room, most;
	struct open *list;
} kinds[KINDS];
static _Thread_local int active, stirred;
static _Thread_local struct {
	int kind, at;
} tested;
static _Thread_local MPI_Request next;
static _Thread_local struct {
	MPI_Request *list;
	int n, room;
	unsigned of;
} asked;

void exchange(int n, int k)
{
	if (k > KINDS)
		fail("too many kinds of calls in an exchange", NULL);
	for (active = 0; active < k; active++)
		kinds[active].left = ROW(n, active);
	stirred = 1;
}

int exchanging(void)
{
	if (!stirred)
		sched_yield();
	stirred = 0;
	for (int k = 0; k < active; k++)
		if (kinds[k].left > 0 || kinds[k].n > 0)
			return 1;
	return 0;
}

int may_open(int kind, int most, const void *where)
{
	kinds[kind].most = most;
	if (kinds[kind].left <= 0 || kinds[kind].n >= most)
		return 0;
	for (int k = 0; where && k < active; k++)
		for (int i = 0; i < kinds[k].n; i++)
			if (kinds[k].list[i].where == where)
				return 0;
	next = MPI_REQUEST_NULL;
	return 1;
}

MPI_Request *opening(int kind)
{
	(void)kind;
	new_request(); /* which others count */
	return &next;
}

void opened(int kind, const void *where)
{
	kinds[kind].left--;
	stirred = 1;
	if (next == MPI_REQUEST_NULL)
		return;
	if (kinds[kind].n == kinds[kind].room) {
		kinds[kind].room = kinds[kind].room ? 2 * kinds[kind].room : 16;
		struct open *list = small((size_t)kinds[kind].room * sizeof *list);
		if (kinds[kind].n)
			memcpy(list, kinds[kind].list, (size_t)kinds[kind].n * sizeof *list);
		kinds[kind].list = list;
	}
	kinds[kind].list[kinds[kind].n++] = (struct open){next, where};
}

static void drop(int kind, int at)
{
	memmove(&kinds[kind].list[at], &kinds[kind].list[at + 1], (size_t)(--kinds[kind].n - at) * sizeof(struct open));
	stirred = 1;
}

int test_next(int kind, int *at)
{
	tested.kind = kind;
	tested.at = *at;
	return *at < kinds[kind].n;
}

MPI_Request *opened_request(void)
{
	return &kinds[tested.kind].list[tested.at].request;
}

void closed(void)
{
	drop(tested.kind, tested.at);
}

int gather(unsigned of)
{
	asked.n = 0;
	asked.of = of;
	for (int k = 0; k < active; k++)
		for (int i = 0; of >> k & 1 && i < kinds[k].n; i++) {
			if (asked.n == asked.room) {
				asked.room = asked.room ? 2 * asked.room : 64;
				MPI_Request *list = small((size_t)asked.room * sizeof *list);
				if (asked.n)
					memcpy(list, asked.list, (size_t)asked.n * sizeof *list);
				asked.list = list;
			}
			asked.list[asked.n++] = kinds[k].list[i].request;
		}
	return asked.n;
}

int gathered_open(void)
{
	return asked.n;
}

MPI_Request *opened_requests(void)
{
	return asked.list;
}

int gathered_done(void)
{
	int done = 0, at = 0;
	for (int k = 0; k < active; k++)
		for (int i = 0; asked.of >> k & 1 && i < kinds[k].n; at++)
			if (asked.list[at] == MPI_REQUEST_NULL) {
				drop(k, i);
				done++;
			} else
				kinds[k].list[i++].request = asked.list[at];
	return done;
}

int not_all(void)
{
	for (int k = 0; k < active; k++)
		if (asked.of >> k & 1 && kinds[k].left > 0 && kinds[k].n < kinds[k].most)
			return 1;
	for (int i = 0; i < asked.n; i++)
		if (none_done(1, &asked.list[i]))
			return 1;
	return 0;
}

int sent(MPI_Datatype type)
{
	int n = 0;
	APART(PMPI_Get_count(&status, type, &n));
	return n;
}
