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

enum { NO_RANK = -3 }; /* MPI_PROC_NULL in traces */

static int64_t sides[GRIDS][3];

static int64_t split(int64_t n)
{
	int64_t a = 1;
	for (int64_t c = 1; c * c <= n; c++)
		if (n % c == 0)
			a = c;
	return a;
}

static void set(enum grid g, int64_t x, int64_t y, int64_t z)
{
	sides[g][0] = x;
	sides[g][1] = y;
	sides[g][2] = z;
}

static void lay_out(int64_t n)
{
	int64_t a = split(n), x = 1, best[3] = {1, 1, n};
	set(GRID_2D, a, n / a, 1);
	set(GRID_2D_LONGEST_FIRST, n / a, a, 1);
	int64_t q = 1;
	while ((q + 1) * (q + 1) <= n)
		q++;
	set(GRID_SQUARE, q, q, 1);
	for (int64_t c = 1; c * c * c <= n; c++)
		if (n % c == 0)
			x = c;
	a = split(n / x);
	set(GRID_3D, x, a, n / x / a);
	set(GRID_3D_REVERSED, n / x / a, a, x);
	for (int64_t c = 1; c * c * c <= n; c++) {
		if (n % c)
			continue;
		int64_t y = split(n / c), z = n / c / y;
		if (y >= c && (z < best[2] || (z == best[2] && c > best[0])))
			best[0] = c, best[1] = y, best[2] = z;
	}
	set(GRID_3D_BALANCED, best[0], best[1], best[2]);
	set(GRID_3D_BALANCED_LONGEST_FIRST, best[2], best[1], best[0]);
}

int64_t side(enum grid g, int d) { return sides[g][d]; }

int64_t coordinate_of(enum grid g, int d, int64_t r)
{
	for (int i = 0; i < d; i++)
		r /= sides[g][i];
	return r % sides[g][d];
}

int64_t coordinate(enum grid g, int d) { return coordinate_of(g, d, rank); }

int64_t neighbour(enum grid g, int x, int y, int z, int periodic)
{
	int64_t by[3] = {x, y, z}, r = 0;
	for (int d = 2; d >= 0; d--) {
		int64_t n = sides[g][d], at = coordinate(g, d) + by[d];
		if (periodic)
			at = mod(at, n);
		else if (at < 0 || at >= n)
			return NO_RANK;
		r = r * n + at;
	}
	return r;
}

int64_t sheared(enum grid g, int d, int by, int more)
{
	int64_t at[2] = {coordinate(g, 0), coordinate(g, 1)};
	at[d] = mod(at[d] + by * at[1 - d] + more, sides[g][d]);
	return exists(at[1] * sides[g][0] + at[0]);
}

int64_t transposed(enum grid g) { return exists(coordinate(g, 0) * sides[g][0] + coordinate(g, 1)); }

int64_t transposed_blocks(enum grid g)
{
	int64_t side = sides[g][1], length = sides[g][0] / side, at = rank / length;
	return sides[g][0] % side || at >= side * side ? NOTHING : exists(length * (at % side * side + at / side) + rank % length);
}

static int64_t listed(enum grid g, int order, int64_t number, int64_t *count)
{
	int n = g < GRID_3D ? 2 : 3;
	*count = 0;
	for (int k = 0; k < n; k++)
		for (int s = -1; s <= 1; s += 2) {
			int d = order & 1 ? n - 1 - k : k, by[3] = {0};
			by[d] = order & 2 ? -s : s;
			int64_t r = neighbour(g, by[0], by[1], by[2], OPEN);
			if (r >= 0 && (*count)++ == number)
				return r;
		}
	return NOTHING;
}

int64_t existing_neighbours(enum grid g)
{
	int64_t n;
	listed(g, 0, -1, &n);
	return n;
}

int64_t existing_neighbour(enum grid g, int order, int64_t number)
{
	int64_t n;
	return listed(g, order, number, &n);
}

int64_t exists(int64_t r) { return r >= 0 && r < ranks ? r : NOTHING; }
int64_t power(int64_t i) { return i < 0 || i > 62 ? 0 : (int64_t)1 << i; }
int64_t floor_log2(int64_t n) { return n < 1 ? -1 : 63 - __builtin_clzll((unsigned long long)n); }
int64_t ceil_log2(int64_t n) { return n < 2 ? 0 : floor_log2(n - 1) + 1; }
int64_t whole(int64_t n) { return n < 1 ? 0 : power(floor_log2(n)); }
int64_t lowest_bit(int64_t n) { return n & -n; }
int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
int64_t share(int64_t total, int64_t parts, int64_t number) { return total / parts + (number < total % parts); }
int64_t share_start(int64_t total, int64_t parts, int64_t number) { return total / parts * number + least(number, total % parts); }
int64_t floor_start(int64_t total, int64_t parts, int64_t number) { return number * total / parts; }
int64_t floor_share(int64_t total, int64_t parts, int64_t number) { return floor_start(total, parts, number + 1) - floor_start(total, parts, number); }
int64_t rest_start(int64_t total, int64_t parts, int64_t number) { return total / parts * number; }
int64_t rest_share(int64_t total, int64_t parts, int64_t number) { return number == parts - 1 ? total - rest_start(total, parts, number) : total / parts; }
int64_t chunk_start(int64_t total, int64_t parts, int64_t number) { return least((total + parts - 1) / parts * number, total); }
int64_t chunk(int64_t total, int64_t parts, int64_t number) { return chunk_start(total, parts, number + 1) - chunk_start(total, parts, number); }
int64_t floor_div(int64_t a, int64_t b) { return share(a, b, b - 1); }
int64_t ceil_div(int64_t a, int64_t b) { return share(a, b, 0); }

int64_t children(int64_t r)
{
	int64_t c = 0;
	for (int64_t b = 1; b < ranks && (r == 0 || b < lowest_bit(r)) && r + b < ranks; b <<= 1)
		c++;
	return c;
}

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

int64_t agreed(const char *what, int n, const int64_t *values)
{
	int64_t v = NOTHING;
	for (int i = 0; i < n; i++) {
		if (values[i] == NOTHING)
			continue;
		if (v != NOTHING && v != values[i])
			undecided(what, ", expressions differ");
		v = values[i];
	}
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
	lay_out(ranks);
}

void reaches(int64_t distance) { farthest = most(distance, 1); }
