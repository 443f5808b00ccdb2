// Loads an MPI and calls it through what dlsym returns: lookedup LIBRARY local|global.
// Links with no MPI itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *get(void *h, const char *name) {
    void *p = dlsym(h, name);
    const char *e = dlerror();
    if (!p || e) {
        fprintf(stderr, "%s: %p, %s\n", name, p, e ? e : "no error");
        exit(9);
    }
    return p;
}

static void none(void *h, const char *name) {
    dlerror();
    void *p = dlsym(h, name);
    if (p || !dlerror()) {
        fprintf(stderr, "%s is there: %p\n", name, p);
        exit(8);
    }
}

int main(int argc, char **argv) {
    int local = argc < 3 || strcmp(argv[2], "global") != 0;
    none(RTLD_DEFAULT, "MPI_Init");
    none(RTLD_NEXT, "MPI_Init");
    void *all = dlopen(NULL, RTLD_LAZY);
    none(all, "MPI_Init");
    void *h = dlopen(argv[1], RTLD_NOW | (local ? RTLD_LOCAL : RTLD_GLOBAL));
    if (!h) {
        fprintf(stderr, "%s\n", dlerror());
        return 7;
    }
    none(h, "MPI_Nothing");
    if (local)
        none(RTLD_DEFAULT, "MPI_Init");
    int (*init)(int *, char ***), (*rank)(intptr_t, int *), (*finalize)(void), (*initialized)(int *), n = -1, before = -1;
    *(void **)&initialized = local ? get(h, "MPI_Initialized") : get(RTLD_DEFAULT, "MPI_Initialized");
    *(void **)&init = get(h, "MPI_Init");
    *(void **)&rank = dlvsym(h, "MPI_Comm_rank", "NONE") ? dlvsym(h, "MPI_Comm_rank", "NONE") : get(h, "MPI_Comm_rank");
    *(void **)&finalize = local ? get(h, "MPI_Finalize") : get(all, "MPI_Finalize");
    void *openmpi = dlsym(h, "ompi_mpi_comm_world");
    intptr_t world = strstr(argv[1], "libmpi_abi") ? 0x101 : openmpi ? (intptr_t)openmpi : 0x44000000;
    initialized(&before);
    init(&argc, &argv);
    rank(world, &n);
    printf("rank %d, before %d, strlen %s\n", n, before, dlsym(RTLD_DEFAULT, "strlen") == get(all, "strlen") ? "same" : "other");
    finalize();
    return 0;
}
