// Lives for some seconds and ends without MPI_Finalize: left FILE COUNT writes FILE.begun.RANK, makes COUNT calls,
// writes FILE.RANK, and ends when all have: a launcher ends the others with the first.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int rank, ranks, flag;
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(name, sizeof name, "%s.begun.%d", argv[1], rank);
    fclose(fopen(name, "w"));
    for (int i = 0; i < atoi(argv[2]); i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(10000);
    }
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    fclose(fopen(name, "w"));
    for (int i = 0, waited = 0; i < ranks; i++) {
        snprintf(name, sizeof name, "%s.%d", argv[1], i);
        for (; access(name, F_OK) != 0 && waited < 6000; waited++)
            usleep(10000);
    }
    usleep(500000);
    raise(SIGKILL);
}
