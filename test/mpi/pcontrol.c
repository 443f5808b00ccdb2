// MPI_Pcontrol with the standard's levels and with further arguments, between phases of traffic.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm made;
    for (int phase = 0; phase < 6; phase++) {
        MPI_Pcontrol(phase % 3, "phase", phase, 0.5); // 0 off, 1 on, 2 flush
        if (phase == 0) // a communicator born while tracing is off is used when it is on again
            MPI_Comm_dup(MPI_COMM_WORLD, &made);
        for (int i = 0; i < 5; i++) {
            MPI_Allreduce(&phase, &sum, 1, MPI_INT, MPI_SUM, made);
            CHECK(sum == phase * size);
        }
    }
    MPI_Pcontrol(1);
    MPI_Comm_free(&made);
    say(rank, "pcontrol: ok");
    MPI_Finalize();
    return 0;
}
