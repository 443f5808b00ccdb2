/* room.h: how much memory this process may still have. */
#ifndef SPOOR_ROOM_H
#define SPOOR_ROOM_H

#include <stddef.h>

/* Whether there is room for the engine besides the program. If not, `why` says
   what the limit is. */
int sp_room_to_start(char *why, size_t n);
/* Whether there is for what it may take in one turn, or in merging. */
int sp_room_to_drain(void);
int sp_room_to_finish(void);

#endif
