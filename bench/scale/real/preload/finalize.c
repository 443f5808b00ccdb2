// Preloaded in front of spoor: how long MPI_Finalize takes once all ranks are there. Rank 0 appends a line to the file
// that FINALIZE_OUT names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double start(int *rank) {
    PMPI_Comm_rank(MPI_COMM_WORLD, rank);
    PMPI_Barrier(MPI_COMM_WORLD);
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void stop(double began, int rank) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const char *path = getenv("FINALIZE_OUT");
    FILE *f = rank == 0 && path ? fopen(path, "a") : NULL;
    if (f) {
        fprintf(f, "%.2f\n", (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6 - began);
        fclose(f);
    }
}

// A Fortran layer may call the C function in turn: only the outermost counts.
static int depth;

int MPI_Finalize(void) {
    int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "MPI_Finalize");
    int rank = 0, outer = depth++ == 0;
    double began = outer ? start(&rank) : 0;
    int err = next();
    if (outer)
        stop(began, rank);
    depth--;
    return err;
}

static void fortran(const char *name, int *err) {
    void (*next)(int *) = (void (*)(int *))dlsym(RTLD_NEXT, name);
    int rank = 0, outer = depth++ == 0;
    double began = outer ? start(&rank) : 0;
    next(err);
    if (outer)
        stop(began, rank);
    depth--;
}

void mpi_finalize_(int *err) { fortran("mpi_finalize_", err); }
void mpi_finalize_f08_(int *err) { fortran("mpi_finalize_f08_", err); }
