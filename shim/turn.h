/* turn.h: which of the loops around a call began another iteration since the previous call. */
#ifndef SPOOR_TURN_H
#define SPOOR_TURN_H

#include "engine.h"
#include "shim.h"

#pragma GCC visibility push(hidden)

#define SP_TURN_PLACES 256
#define SP_TURN_LOOPS 32 /* largest number of loops around a call */

/* The loops and calls that lead to a call, outermost first, as the engine determines them for a stack. */
struct sp_path {
	uint32_t n, loops;
	uint8_t loop[SP_TURN_LOOPS]; /* which of the places are loops */
	struct spoor_place place[];
};

struct sp_turns; /* of a ring */

/* Whether SPOOR_LOOP_COUNTERS asks for it. */
int sp_turn_wanted(void);
struct sp_turns *sp_turn_make(void);
/* The path of a stack, by its number in the ring; NULL if there is none, or none yet. */
const struct sp_path *sp_turn_path(struct sp_thread *t, struct sp_turns *x, uint32_t number, const uint64_t *pcs, uint64_t n, int whole);
/* The turn of a call: 0 if the order of the code implies the way from the previous call. Otherwise the number of the
   loop that began another iteration, counted outwards from 1, the innermost around both calls, or SP_TURN_UNKNOWN. values
   are the loops' counters; NULL: they could not be read. */
unsigned sp_turn(struct sp_turns *x, uint32_t number, const struct sp_path *path, const int32_t *values);
/* Whether the engine was already asked for a stack's path. */
int sp_turn_asked(const struct sp_turns *x, uint32_t number);
/* Number of the previous call's stack, if its path could not be requested because no engine was loaded yet; else 0. */
uint32_t sp_turn_awaited(const struct sp_turns *x);
/* The next call cannot be compared with the previous one. */
void sp_turn_break(struct sp_turns *x);

#pragma GCC visibility pop

#endif
