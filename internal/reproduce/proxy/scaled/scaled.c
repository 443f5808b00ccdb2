/* scaled.c: expressions of the number of ranks. */
#include "private.h"
#include "scaled.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef rank
#undef ranks

int64_t sides[GRIDS][3];

static const int *known;
static int known_count;

static _Noreturn void undecided(const char *what, const char *why)
{
	char text[256];
	snprintf(text, sizeof text, "%s is not known on %d ranks%s: define it at the top of proxy.c", what, ranks, why);
	fail(text, NULL);
	_exit(1);
}

int64_t only_traced(const char *what, int64_t value)
{
	for (int i = 0; i < known_count; i++)
		if (known[i] == ranks)
			return value;
	undecided(what, "");
}

/* one_of is the value of those for which even is not 0; NULL: of all. It returns 0 if they differ. */
static int one_of(int n, const int64_t *values, const int64_t *even, int64_t *v)
{
	*v = NOTHING;
	for (int i = 0; i < n; i++) {
		if (values[i] == NOTHING || (even && !even[i]))
			continue;
		if (*v != NOTHING && *v != values[i])
			return 0;
		*v = values[i];
	}
	return 1;
}

int64_t agreed(const char *what, int n, const int64_t *values, const int64_t *even)
{
	int64_t v;
	if (!one_of(n, values, NULL, &v) && (!even || !one_of(n, values, even, &v) || v == NOTHING))
		undecided(what, ", expressions differ");
	if (v == NOTHING)
		undecided(what, ", no expression says it");
	return v;
}

int64_t looked_up(const char *what, int columns, int64_t rows, const int64_t *table, const int64_t *key)
{
	size_t width = (size_t)columns * sizeof *key;
	for (int64_t low = 0, high = rows; low < high;) {
		int64_t at = (low + high) / 2;
		const int64_t *row = table + at * (columns + 1);
		int c = 0;
		while (c < columns && row[c] == key[c])
			c++;
		if (memcmp(row, key, width) == 0)
			return row[columns];
		if (row[c] < key[c])
			low = at + 1;
		else
			high = at;
	}
	undecided(what, "");
}

int64_t largest(int n, const int64_t *values)
{
	int64_t v = values[0];
	for (int i = 1; i < n; i++)
		v = most(v, values[i]);
	return v;
}

int named(int64_t value, int n, const int64_t *names)
{
	if (value == NOTHING)
		undecided("a value", ", no expression says it");
	for (int i = 0; i < n; i++)
		if (names[2 * i] == value)
			return (int)names[2 * i + 1];
	return (int)value;
}

/* The last requests of each call that makes some, by their number. */
static struct place {
	int64_t *number, count, room;
} * places;
static int place_count;
static int64_t requests_made;

void made(int place)
{
	if (place >= place_count) {
		struct place *more = small((size_t)(2 * place + 8) * sizeof *more);
		if (place_count)
			memcpy(more, places, (size_t)place_count * sizeof *more);
		places = more;
		place_count = 2 * place + 8;
	}
	struct place *p = &places[place];
	if (!p->number) {
		p->room = farthest + 1;
		p->number = private_memory((size_t)p->room * sizeof *p->number);
	}
	p->number[p->count++ % p->room] = requests_made++;
}

int64_t ago(int64_t place, int64_t since)
{
	if (place >= place_count || since < 0 || since >= places[place].count || since >= places[place].room)
		fail("it names a request that nothing made", NULL);
	struct place *p = &places[place];
	return requests_made - p->number[(p->count - 1 - since) % p->room];
}

int64_t request_code(int64_t place, int64_t since) { return place < 0 ? since : 2 * ago(place, since); }

MPI_Request *all_pending(void)
{
	int64_t first = least(requests_made, farthest), n = 0, *code = room((size_t)(first + 1) * sizeof *code);
	for (int64_t d = first; d > 0; d--)
		if (*request(d) != MPI_REQUEST_NULL)
			code[n++] = 2 * d;
	return these((int)n, code);
}

double grown(double constant, double factor, double exponent, int logarithms)
{
	double us = constant + factor * pow(ranks, exponent) * pow(log2(ranks), logarithms);
	return us > 0 ? us : 0;
}

void scaled(int n, const int *traced)
{
	known = traced;
	known_count = n;
	lay_out();
}

void reaches(int64_t distance) { farthest = most(distance, 1); }
