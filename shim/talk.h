/* talk.h: what ranks of one world say to each other, over a duplicate of MPI_COMM_WORLD. */
#ifndef SPOOR_TALK_H
#define SPOOR_TALK_H

#include <stdint.h>

#include "depart.h"

/* Make the duplicate, sp_run.comm, of the MPI_COMM_WORLD that the program sees: 0, SPOOR_LATE if other ranks don't take part
   in it, or another error. */
int sp_talk_open(void);
void sp_talk_close(void);

/* Blocking; 0, SPOOR_LATE if that takes longer than anybody alive would need, or an MPI
   error. Both sides give the same length. */
int32_t sp_talk_send(int32_t dest, const void *buf, uint64_t len);
int32_t sp_talk_recv(int32_t source, void *buf, uint64_t len);
/* Wait until a message is there: 0, SPOOR_LATE if none came in a long time, or an MPI error. */
int32_t sp_talk_await(int32_t source);
/* Messages from here on, but for votes, are never taken for those before. */
void sp_talk_apart(void);

/* What a rank says when all have to agree. */
struct sp_vote {
	uint64_t clock;    /* whose wall clock it reads */
	int32_t yes;       /* it can go on */
	int32_t cramped;   /* the lowest rank that has no room to, -1: none */
	int32_t one_clock; /* all read the same */
	int32_t unused;
	struct sp_departure departure; /* of rank 0, at the end */
};

/* Whether all ranks say yes. Rank 0 then knows who is cramped, all whether there is one clock.
   At the end of a run no wait is too long: others may still compute, and MPI_Finalize would
   wait for them as well. */
int sp_talk_agree(struct sp_vote *vote, int ending);
/* Wait until all ranks are here. */
void sp_talk_together(void);

#endif
