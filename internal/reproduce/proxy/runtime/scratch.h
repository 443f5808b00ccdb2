/* scratch.h: what the files that make calls on files again know of each other. */
#ifndef SCRATCH_H
#define SCRATCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "posix.h"

#define PLAIN(name, call)    \
	AGAIN(name)          \
	{                    \
		return call; \
	}

/* Not every call needs to be told what came of it. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC visibility push(hidden)

/* What a name has to stand for before the call. */
enum need { NOTHING, SOME_FILE, SOME_FOLDER };

const char *again_name(int *dir, const char *path);                   /* in the scratch folder */
const char *again_ready(int *dir, const char *path, enum need, int err); /* the same, ready for a call that ends so */
const char *again_target(const char *target, int dir, const char *path); /* of a symbolic link */
void again_gone(int dir, const char *path);                            /* nothing is there */
void again_aim(int dir, const char *path, int64_t length);            /* a symbolic link is there */
void again_reach(int fd, int64_t end);                                 /* a file has so many bytes */
void again_size(const char *path, int64_t bytes);                       /* a file is there, with so many */
int64_t again_at(int fd);                                              /* where a descriptor reads */
int again_nameless(void);                                              /* descriptor of a file without a name */
void again_standard(int fd);                                           /* 0, 1 and 2 are files of the scratch folder */
_Noreturn void again_fail(const char *what, int error);

char *again_room(int64_t n);        /* memory of this thread to read into */
char *again_bytes(int64_t n);       /* and to write */
const char *again_text(int64_t n);  /* a string of that length */

#pragma GCC visibility pop
#endif
