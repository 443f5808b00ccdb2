/* lives.h: how others see that this process runs, where its number says nothing to them. */
#ifndef SPOOR_LIVES_H
#define SPOOR_LIVES_H

#include <stdint.h>

/* The namespace of process numbers that this process is in; 0: not known. */
uint64_t sp_lives_namespace(void);
/* If that is not the host's, lock a file until the process ends. Returns its descriptor, or -1. */
int sp_lives_lock(const char *path, int flags);

#endif
