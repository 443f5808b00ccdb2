/* host.h: the shim's side of engine.h. */
#ifndef SPOOR_HOST_H
#define SPOOR_HOST_H

#include "engine.h"
#include "shim.h"

/* Load the engine and start it. 0 and a message if that fails. */
int sp_host_start(const struct spoor_host *host);
/* Compare clocks, with all ranks. */
void sp_host_sync(void);
/* Let the engine read all rings; their limits follow by sp_ring_limits. 0 if
   tracing has stopped. */
int sp_host_drain(void);
/* Merge and write, with all ranks. 1 if the trace is there, SPOOR_KEPT if the records are
   all there is, 0 and a message if something failed. */
int sp_host_finish(void);
/* What leads to a stack of return addresses, innermost first: how many places, 0: nothing is known, -1: there is no
   engine yet. */
int sp_host_path(const uint64_t *pcs, int n, struct spoor_place *list, int room);
void sp_host_stop(void);
/* sp_ring_grow while the engine stands still. */
int sp_host_grow(struct sp_thread *t, const uint64_t *w, uint64_t capacity);

#endif
