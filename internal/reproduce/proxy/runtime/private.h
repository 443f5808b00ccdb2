/* private.h: what the files of the runtime know of each other. */
#ifndef PRIVATE_H
#define PRIVATE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "runtime.h"

#pragma GCC visibility push(hidden)

#define THREADS 64

void fail(const char *what, const char *detail); /* ends the process */
void *private_memory(size_t bytes);              /* zeros, and no block that a recorder knows */
void *small(size_t bytes);                       /* the same, for little things that stay */

extern int64_t farthest;    /* how many creations ago a request may have been made */
extern const char *files;   /* the folder for scratch files */
extern _Thread_local int stream; /* number of this thread */

/* When a call is over. */
void arguments_over(void);
void requests_over(void);
int requests_late(void); /* how many should have been finished by now */

void waits_in(const char *what); /* for the watchdog */
void stream_over(void);
int has_begun(int thread); /* its first call, or waits for its turn to begin it */
int ended(void);                           /* the trace tells how far the program came */
uint64_t calls_made(void);                 /* by this thread */
_Noreturn void over(uint64_t calls);       /* that is here */
extern int follows;                         /* the times before calls are in a file */
double followed(void);                     /* before the next call, in microseconds */
void tell_times(void); /* of this thread */
void pace(const char *how, double faster, int seconds); /* 0, -1: as by default */

#pragma GCC visibility pop
#endif
