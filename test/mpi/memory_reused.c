// Memory of the heap and memory from MPI_Alloc_mem take turns, so that each takes the other's place.
// ranks: 1 2
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>
#include <string.h>

enum { N = 100000 };

static void exchange(char *p, int size) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(p, rank, size);
    MPI_Sendrecv_replace(p, size, MPI_CHAR, rank, 1, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(p, size, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK(p[0] == 0 && p[size - 1] == 0);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        char *mine = malloc(N);
        exchange(mine, N);
        free(mine);
        char *given;
        MPI_Alloc_mem(2 * N, MPI_INFO_NULL, &given);
        exchange(given, 2 * N);
        MPI_Free_mem(given);
    }
    MPI_Finalize();
    return 0;
}
