/* depart.h: the ranks of a host enter the MPI's Finalize together: see depart.c. */
#ifndef SPOOR_DEPART_H
#define SPOOR_DEPART_H

#include <stdint.h>

/* Identifies the memory page that rank 0 shares with its host; all zero if there is no page. */
struct sp_departure {
	uint64_t token; /* content of the page, to recognise it */
	int32_t pid, fd;
};

/* Rank 0 makes the page; other ranks of its host map it. */
void sp_depart_offer(struct sp_departure *d);
void sp_depart_join(const struct sp_departure *d);
/* Wait for all ranks that mapped the page, without calling MPI. */
void sp_depart(void);

#endif
