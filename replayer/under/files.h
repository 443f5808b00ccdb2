/* files.h: what the replayer asks for to make calls on files again, see internal/again/proxy/runtime/posix.h. */
#ifndef FILES_H
#define FILES_H

#include <stdint.h>

#define FILES_WORDS 10 /* no call has more parameters, with what came of it */

void files_begin(const char *folder, int rank, int in_it);

/* Where a file of MPI-IO is, see again_file. */
const char *files_place(const char *name, int64_t found);

/* The function that makes calls of a name again; null if there is none. */
void *files_find(const char *name);

/* Makes such a call, and says what errno was then. */
int64_t files_call(void *function, const int64_t *words, int64_t *error);

#endif
