// A program that loads a plugin with RTLD_DEEPBIND, and calls what that registers; BARE: all calls of MPI are the plugin's.
#define _GNU_SOURCE
#include <dlfcn.h>
#ifndef BARE
#include <mpi.h>
#endif
#include <stdio.h>
#include <string.h>

static void (*registered)(void);

void registers(void (*work)(void)) { registered = work; }

int main(int argc, char **argv) {
#ifndef BARE
    int rank;
    MPI_Init(&argc, &argv);
#endif
    if (!dlopen(argv[1], (strcmp(argv[2], "lazy") == 0 ? RTLD_LAZY : RTLD_NOW) | RTLD_DEEPBIND)) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
#ifdef BARE
    registered();
#else
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    registered();
    if (rank == 0)
        puts("max 9");
    MPI_Finalize();
#endif
    return 0;
}
