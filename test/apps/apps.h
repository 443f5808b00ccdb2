// What the C programs of this folder share: options, the clock that ends a timed run, and checks. All take
//   -n SIZE        of the problem, per rank or in all as each says
//   -i ITERATIONS  how long to go on
//   -t SECONDS     go on for so long instead, iterations being the block after which rank 0's clock is asked
#ifndef APPS_H
#define APPS_H

// MPICH declares MPI_STATUSES_IGNORE parameters as arrays, and gcc then takes its (MPI_Status *)1 for an overflow.
#pragma GCC diagnostic ignored "-Wstringop-overflow"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    long n, iterations;
    double seconds, start;
} Options;

static inline _Noreturn void fail(const char *what) {
    fprintf(stderr, "wrong: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static inline Options options(int argc, char **argv, long n, long iterations) {
    Options o = {n, iterations, 0, MPI_Wtime()};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "-n") == 0)
            o.n = atol(argv[i + 1]);
        else if (strcmp(argv[i], "-i") == 0)
            o.iterations = atol(argv[i + 1]);
        else if (strcmp(argv[i], "-t") == 0)
            o.seconds = atof(argv[i + 1]);
        else
            fail("option; known are -n SIZE, -i ITERATIONS and -t SECONDS");
    }
    if (o.n < 1 || o.iterations < 1)
        fail("size or iterations below 1");
    return o;
}

// more tells all ranks alike whether to run another block of iterations.
static inline int more(const Options *o, int blocks) {
    if (blocks == 0)
        return 1;
    if (o->seconds <= 0)
        return 0;
    int on = MPI_Wtime() - o->start < o->seconds;
    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return on;
}

static inline void *room(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p)
        fail("no memory");
    return p;
}

// part cuts n things into parts that differ by at most one.
static inline long part_begin(long n, int parts, int i) { return n / parts * i + (i < n % parts ? i : n % parts); }

// A small generator whose numbers are the same everywhere.
static inline unsigned long next_random(unsigned long *state) {
    *state = *state * 6364136223846793005UL + 1442695040888963407UL;
    return *state >> 33;
}

#endif
