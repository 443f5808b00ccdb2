/* A loop of rounds with a call in a function that main calls, and one three functions further in. */
#include <mpi.h>

static int one = 1, all;

static __attribute__((noinline)) void innermost(void) {
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    all++;
}

static __attribute__((noinline)) void inner(void) {
    innermost();
    all++;
}

static __attribute__((noinline)) void middle(void) {
    inner();
    all++;
}

static __attribute__((noinline)) void outer(void) {
    for (int i = 0; i < 7; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        middle();
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    outer();
    MPI_Finalize();
    return 0;
}
