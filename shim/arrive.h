/* arrive.h: which processes are in a call that waits for all of them, before they have records and after: see arrive.c. */
#ifndef SPOOR_ARRIVE_H
#define SPOOR_ARRIVE_H

/* The process enters or leaves MPI_Init, MPI_Session_init or MPI_Finalize: others may wait there. */
void sp_arrive(const char *call);
void sp_arrive_end(void);

#endif
