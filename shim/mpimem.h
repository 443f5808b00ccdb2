/* mpimem.h: called by the wrappers that give out memory or take it back. */
#ifndef SPOOR_MPIMEM_H
#define SPOOR_MPIMEM_H

#include <stdint.h>

/* Whether the memory is a segment because of this call. */
int sp_memory_new(void *base, int64_t size);
void sp_memory_window(uint64_t win, void *base, int64_t size);
void sp_memory_free(const void *base);
void sp_memory_free_window(uint64_t win);

#endif
