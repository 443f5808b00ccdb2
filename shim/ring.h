/* ring.h: making, growing and limiting the rings. */
#ifndef SPOOR_RING_H
#define SPOOR_RING_H

#include "shim.h"

/* A ring of a thread, in a file of the process directory, else in memory.
   NULL if there is neither. */
struct sp_ring *sp_ring_make(int number, uint64_t capacity);

/* Map the pages that records from head on go to, as far as until the next drain. */
void sp_ring_ahead(struct sp_ring *r, uint64_t head);

/* A larger copy of t's ring, with the record under way (up to w) at its place.
   0 if there is no room. Call with the engine lock held. */
int sp_ring_grow(struct sp_thread *t, const uint64_t *w, uint64_t capacity);

/* The data area. */
static inline char *sp_ring_data(struct sp_ring *r)
{
	return (char *)r + SP_RING_PAGE;
}

/* Set t's cur, end, due and lim from its head and the ring's state. Returns the
   number of contiguous free bytes at cur. */
uint64_t sp_ring_limits(struct sp_thread *t);

/* Skip to the start of the ring, taking the words of an open record up to w
   along. The caller has checked that there is room. */
uint64_t *sp_ring_wrap(struct sp_thread *t, const uint64_t *w);

/* Choose and make the process directory and ring 0. */
int sp_scratch_open(uint64_t capacity);
/* Remove the process directory and all in it. */
void sp_scratch_remove(void);

/* Remove the folder of a run that `path` was in, and the link that leads there, if nobody else is in it; cuts the path. A folder of the
   user's stays: the tool removes its own, but that isn't on every node. */
void sp_scratch_leave(char *path);
/* Leave word for `spoor run` that the user has been told why there is no trace. */
void sp_scratch_told(void);
/* In a forked child: it is the parent's. */
void sp_scratch_forget(void);
const char *sp_scratch_dir(void); /* NULL if there is none */

/* Rings by thread number; a number's slot never changes back to NULL. */
extern struct sp_ring *sp_rings[SP_MAX_THREADS];
extern int sp_nrings;

#endif
