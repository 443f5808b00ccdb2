/* hooks.h: what is done around calls besides recording them: a plugin's
   functions, and counters. */
#ifndef SPOOR_HOOKS_H
#define SPOOR_HOOKS_H

#include "shim.h"

#define SP_MAX_NAMES 64
#define SP_MAX_NAME 64
#define SP_MAX_VALUES 32 /* of one call */

/* Follow SPOOR_PLUGIN and SPOOR_COUNTERS, when MPI_Init is through. Collective
   over the world, unless there is none. */
void sp_hooks_start(void);
/* All is set up, since `begin`, after a call that initialised MPI: its spoor_post,
   and a record that says how long this took, for it is no gap of the program's. */
void sp_hooks_started(unsigned call, const int64_t *params, uint64_t begin);
/* Before the merge. */
void sp_hooks_finish(void);
/* The calling thread ends. */
void sp_hooks_thread_ends(struct sp_thread *t);

/* The number of a name, -1 if there are too many or it is too long. Writes a
   record: not while one is open. */
int32_t sp_value_name(const char *name);

struct sp_hooks;
void sp_attach(struct sp_hooks *h, int32_t value, int64_t number);

/* ---- counters.c ---- */

/* Per thread; opened when the thread comes first. */
struct sp_counters {
	int open; /* 0 not yet, 1 yes, -1 failed */
	int fds[8]; /* the first is the group's */
	int64_t last[8];
	int known; /* last is there */
};

/* Parse the list and try it. 0 if that is not possible; *why says what is not. */
int sp_counters_start(const char *list, char *why, size_t room);
/* Before a call: attach what was counted since the thread's last call. */
void sp_counters_before(struct sp_counters *c, struct sp_hooks *h);
void sp_counters_after(struct sp_counters *c);
void sp_counters_close(struct sp_counters *c);

#endif
