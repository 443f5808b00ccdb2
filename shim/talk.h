/* talk.h: what ranks of one world say to each other, over a duplicate of MPI_COMM_WORLD. */
#ifndef SPOOR_TALK_H
#define SPOOR_TALK_H

#include <stdint.h>

#include "depart.h"

/* Make the duplicate, sp_run.comm, of the MPI_COMM_WORLD that the program sees: 0, SPOOR_LATE if other ranks don't take part
   in it, or another error. */
int sp_talk_open(void);
void sp_talk_close(void);

/* Blocking. Returns 0, an MPI error, or SPOOR_LATE after a time in which every live rank would have answered. Both
   sides must give the same length. */
int32_t sp_talk_send(int32_t dest, const void *buf, uint64_t len);
int32_t sp_talk_recv(int32_t source, void *buf, uint64_t len);
/* Wait until a message from source is available: 0, SPOOR_LATE if none came in a long time, or an MPI error. */
int32_t sp_talk_await(int32_t source);
/* Separates messages, except votes: later ones are never taken for earlier ones. */
void sp_talk_apart(void);

/* A rank's vote in sp_talk_agree, and the result over all ranks. */
struct sp_vote {
	uint64_t clock;    /* identifies the wall clock that the rank reads */
	int32_t yes;       /* the rank can continue */
	int32_t cramped;   /* lowest rank without room to continue; -1: none */
	int32_t one_clock; /* all ranks read the same wall clock */
	int32_t unused;
	struct sp_departure departure; /* of rank 0, at the end */
};

/* Whether all ranks vote yes. Rank 0 then knows `cramped`, and all ranks `one_clock`. At the end of a run the wait has
   no limit: other ranks may still compute, and MPI_Finalize would wait for them as well. */
int sp_talk_agree(struct sp_vote *vote, int ending);
/* Wait until all ranks are here. */
void sp_talk_together(void);

#endif
