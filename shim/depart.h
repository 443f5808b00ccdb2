/* depart.h: the ranks of a host enter the MPI's Finalize together: see depart.c. */
#ifndef SPOOR_DEPART_H
#define SPOOR_DEPART_H

#include <stdint.h>

/* Where rank 0 has the page that they share; all zero if it has no page. */
struct sp_departure {
	uint64_t token; /* what stands in it */
	int32_t pid, fd;
};

/* Rank 0 makes the page; others of its host join it. */
void sp_depart_offer(struct sp_departure *d);
void sp_depart_join(const struct sp_departure *d);
/* Wait for those who joined, without a call of MPI. */
void sp_depart(void);

#endif
