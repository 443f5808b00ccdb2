/* context.h: what a reader needs to know of this process. */
#ifndef SPOOR_CONTEXT_H
#define SPOOR_CONTEXT_H

#include <stdint.h>

/* Write `context` into the process directory. 0 if that failed. */
int sp_context_write(void);
/* Record the working folder, before the program can change it. */
void sp_context_folder(void);
/* How often libraries were loaded and unloaded. */
uint64_t sp_context_loads(void);
/* Write `maps` if that has changed. 0 if that failed. */
int sp_context_refresh(uint64_t loads);
/* Make or remove the empty file `finished`: all records are complete. */
void sp_context_finished(int yes);

#endif
