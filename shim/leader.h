/* leader.h: the end of the program's last thread ends the process. */
#ifndef SPOOR_LEADER_H
#define SPOOR_LEADER_H

/* When the library is loaded; in a forked child. */
void sp_leader_open(void);
void sp_leader_forked(void);
/* The engine is loaded, and has threads; the function is one of its. */
void sp_leader_loaded(const void *function);

#endif
