/* call.h: one call of an MPI function that nothing here has a prototype of. */
#ifndef CALL_H
#define CALL_H

#include <stdint.h>

#include "../internal/reproduce/proxy/runtime/common.h"
#include "under/under.h"

#define CALL_WORDS 18 /* no MPI function has more parameters */

/*
 * A call to make. All parameters of MPI functions in C are integers or
 * pointers, so each is a word; results are words too, save those of the clock
 * functions, which nobody looks at.
 */
struct call {
	void *function;
	const struct under_outcome *outcome; /* what it is to give, or null */
	int64_t not_before;                  /* monotonic ns; 0: at once */
	int64_t ready, begin, end;           /* when it began to wait for that, and was in the MPI */
	uint64_t result;
	uint64_t words[CALL_WORDS];
};

/* How often a call is made again without anybody in between looking at it. */
#define CALL_REPEATS 256

/*
 * A call to make several times: a test that finds nothing once more. The line is when it is due, the gap how
 * long after the call before; 0: that says nothing.
 */
struct repeats {
	int64_t next, n;   /* those from next on are to be made, as long as they return 0 */
	int64_t last;      /* when the call before came out */
	int64_t late;      /* ns that calls were made later than due, and no gap has made up for */
	int64_t held, mpi; /* ns that they waited for the line, and were in the MPI, in sum */
	int64_t from;      /* when the one under way was due, or could be made if that was later; read meanwhile, as next is */
	struct {
		int64_t line, gap;
	} at[CALL_REPEATS];
};

void call_make(struct call *c);
void call_repeat(struct call *c, struct repeats *r);
void call_prepare(int64_t awake); /* ns before a call is due */

#endif
