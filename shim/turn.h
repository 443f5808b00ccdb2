/* turn.h: which of the loops around a call went round since the call before. */
#ifndef SPOOR_TURN_H
#define SPOOR_TURN_H

#include "engine.h"
#include "shim.h"

#pragma GCC visibility push(hidden)

#define SP_TURN_PLACES 256
#define SP_TURN_LOOPS 32 /* around a call */

/* The loops and calls that lead to a call, outermost first: what the engine says of a stack. */
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
/* What is to be told of a call: 0 if it goes on from the one before as the order of the code says, else the number of the
   loop that went round, counted outwards from the innermost around both, or SP_TURN_UNKNOWN. values are what the loops'
   counters have; NULL: they could not be read. */
unsigned sp_turn(struct sp_turns *x, uint32_t number, const struct sp_path *path, const int32_t *values);
/* Whether the engine was asked for a stack's path. */
int sp_turn_asked(const struct sp_turns *x, uint32_t number);
/* The number of the call before's stack, if there was no engine then that knows its path; 0 if there was. */
uint32_t sp_turn_awaited(const struct sp_turns *x);
/* Whatever comes next can't be compared with what was. */
void sp_turn_break(struct sp_turns *x);

#pragma GCC visibility pop

#endif
