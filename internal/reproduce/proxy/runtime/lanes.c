/* lanes.c: values that are others in each call. */
#include "private.h"

#include <string.h>

int64_t **lane_values;
static struct lane {
	int values, depth;
	const int64_t *steps;
	const struct turn *order;
	const int *rule; /* where each begins */
	struct { int at; int64_t done; } *path;
} *lanes;

static void *copy(const void *from, size_t size)
{
	return memcpy(small(size), from, size);
}

void lane(int n, int values, const int64_t *first, const int64_t *steps, int turns, const struct turn *order)
{
	int rules = 0, kinds = 1;
	for (int i = 0; i < turns; i++) {
		rules += !order[i].count;
		if (order[i].id >= kinds)
			kinds = order[i].id + 1;
	}
	int *rule = small((size_t)(rules + 1) * sizeof *rule);
	for (int i = 0, r = 0; i < turns; i++)
		if (!order[i].count)
			rule[++r] = i + 1;
	int64_t **more = small((size_t)(n + 1) * sizeof *more);
	struct lane *all = small((size_t)(n + 1) * sizeof *all);
	if (n) {
		memcpy(more, lane_values, (size_t)n * sizeof *more);
		memcpy(all, lanes, (size_t)n * sizeof *all);
	}
	lane_values = more;
	lanes = all;
	lane_values[n] = copy(first, (size_t)values * sizeof *first);
	lanes[n] = (struct lane){values, 0, copy(steps, (size_t)(kinds * values) * sizeof *steps),
		copy(order, (size_t)turns * sizeof *order), rule, small((size_t)(rules + 1) * sizeof *lanes->path)};
}

void step(int n)
{
	struct lane *l = &lanes[n];
	while (l->depth >= 0) {
		const struct turn *t = &l->order[l->path[l->depth].at];
		if (!t->count) {
			l->depth--;
		} else if (l->path[l->depth].done == t->count) {
			l->path[l->depth].at++;
			l->path[l->depth].done = 0;
		} else {
			l->path[l->depth].done++;
			if (t->id >= 0) {
				for (int k = 0; k < l->values; k++)
					lane_values[n][k] += l->steps[t->id * l->values + k];
				return;
			}
			l->depth++;
			l->path[l->depth].at = l->rule[-t->id];
			l->path[l->depth].done = 0;
		}
	}
}
