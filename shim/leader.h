/* leader.h: the end of the program's last thread ends the process. */
#ifndef SPOOR_LEADER_H
#define SPOOR_LEADER_H

#define SP_THREAD_NAME 16

/* When the library is loaded; in a forked child. */
void sp_leader_open(void);
void sp_leader_forked(void);
/* The engine is loaded: it has threads. */
void sp_leader_loaded(void);
/* Around all that may make threads of the engine's, which are known by the name that the
   calling thread has meanwhile. */
void sp_leader_enters(char was[SP_THREAD_NAME]);
void sp_leader_leaves(const char was[SP_THREAD_NAME]);

#endif
