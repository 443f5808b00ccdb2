/*
 * posix.h: calls of POSIX's and C's functions on files, made again in a scratch folder.
 *
 * again_NAME makes the call of that name. It is passed what a trace has of the call:
 * parameters without buffers, then what came of it, the result and errno. What the
 * call needs in order to end like that is made before: a file that the program found,
 * and as much of it as was read.
 *
 * The scratch folder is the root of all names: /data/x is data/x in there, and the
 * working directory of the program is here/. No name leads out of it: ".." is taken away
 * before the kernel sees it, and what symbolic links point to is below it too.
 *
 * What is done besides is done by system calls, which no recorder sees.
 */
#ifndef POSIX_H
#define POSIX_H

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>

#include "again.h" /* the functions, and what they are passed */

#pragma GCC visibility push(hidden)

#define NO_DESCRIPTOR (-1)

/* The folder, which is made, and who is told why a file can't be opened; that does not return. */
typedef void failing(const char *what, const char *why);
void again_root(const char *folder, int rank, failing *);
void again_begin(const char *folder, int rank, failing *); /* the process is in it besides, as the program was in its own */

/* Where a file of MPI-IO is, until the next calls by this thread. */
const char *again_place(const char *name);
/* The same of one that had so many bytes when the program found it. */
enum { NOTHING_FOUND = -1, NOT_THERE = -2 /* which is why the call failed */ };
const char *again_file(const char *name, int64_t found);

/* A call that has failed gives what the function gives then, and errno is the reason. */
#define AGAIN(name) int64_t again_##name(AGAIN_OF_##name)
#define AGAIN_DECLARE(name) AGAIN(name);
AGAIN_CALLS(AGAIN_DECLARE)

#pragma GCC visibility pop
#endif
