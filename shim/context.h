/* context.h: what a reader needs to know of this process. */
#ifndef SPOOR_CONTEXT_H
#define SPOOR_CONTEXT_H

/* Write `context` and `maps` into the process directory. 0 if that failed. */
int sp_context_write(void);
/* Write `maps` anew if libraries were loaded or unloaded since. */
void sp_context_refresh(void);
/* Make or remove the empty file `finished`: all records are complete. */
void sp_context_finished(int yes);

#endif
