/* frame.h: from a function's frame on the stack to its caller's. */
#ifndef SPOOR_FRAME_H
#define SPOOR_FRAME_H

#include "shim.h"
#include "stack.h"
#include "unwind.h"

#pragma GCC visibility push(hidden)

#define RULES 1024   /* kept per thread */
#define OWN_FRAMES 8 /* largest number of this library's frames before the site */
#define WORDS (2 * (OWN_FRAMES + SP_MAX_FRAMES))
#define TOGETHER 4   /* words are compared at a time: a divisor of WORDS */

/* A word of the stack. */
struct word {
	uint64_t at; /* offset from sp, in words */
	uint64_t value;
};

/* A stack walk, recorded so that an unchanged stack need not be followed again. */
struct walk {
	uint64_t pc, sp, fp; /* where it began */
	uint64_t fp_counts;  /* all bits, or none */
	const void *answer;
	uint64_t n; /* number of words read; the last one is repeated to complete a group */
	struct word words[WORDS];
};

struct frame {
	uint64_t pc, sp, fp;
	uint64_t lo, hi; /* of what may be read */
	uint64_t from;   /* lo at the beginning */
	struct walk *walk; /* where the words read are noted */
	uint64_t fp_at;    /* where fp was read, or one of these: */
	int crossed;       /* the last step went to a goroutine's stack: the frame before it is the runtime's */
};

enum { FP_REGISTER = 0, FP_NOTED = 1 };

/* Determine whether goroutines may call MPI. */
void sp_frame_start(void);
/* The rule of the instruction before pc. */
const struct sp_rule *sp_frame_rule(struct sp_rule *rules, uint64_t pc);
/* Go to the caller; 0 if there is none to be found. rules are RULES many. */
int sp_frame_step(struct sp_rule *rules, struct frame *f);

#pragma GCC visibility pop

#endif
