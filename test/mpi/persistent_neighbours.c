// Persistent neighbourhood collectives (MPI-4), with int and with MPI_Count counts, on a periodic line.
// ranks: 2 4 7
// mpi: mpich openmpi>=6.0
#include "check.h"
#include <mpi.h>

enum { KINDS = 10, LAPS = 4 };

int main(int argc, char **argv) {
    int rank, size, period = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm line;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &line);
    MPI_Comm_rank(line, &rank);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int out[2], in[KINDS][2], ones[2] = {1, 1}, displs[2] = {0, 1};
    MPI_Count big[2] = {1, 1};
    MPI_Aint at[2] = {0, 1}, bytes[2] = {0, sizeof(int)};
    MPI_Datatype i4[2] = {MPI_INT, MPI_INT}, t = MPI_INT;
    MPI_Info none = MPI_INFO_NULL;
    MPI_Request r[KINDS];
    MPI_Neighbor_allgather_init(out, 1, t, in[0], 1, t, line, none, &r[0]);
    MPI_Neighbor_allgather_init_c(out, 1, t, in[1], 1, t, line, none, &r[1]);
    MPI_Neighbor_allgatherv_init(out, 1, t, in[2], ones, displs, t, line, none, &r[2]);
    MPI_Neighbor_allgatherv_init_c(out, 1, t, in[3], big, at, t, line, none, &r[3]);
    MPI_Neighbor_alltoall_init(out, 1, t, in[4], 1, t, line, none, &r[4]);
    MPI_Neighbor_alltoall_init_c(out, 1, t, in[5], 1, t, line, none, &r[5]);
    MPI_Neighbor_alltoallv_init(out, ones, displs, t, in[6], ones, displs, t, line, none, &r[6]);
    MPI_Neighbor_alltoallv_init_c(out, big, at, t, in[7], big, at, t, line, none, &r[7]);
    MPI_Neighbor_alltoallw_init(out, ones, bytes, i4, in[8], ones, bytes, i4, line, none, &r[8]);
    MPI_Neighbor_alltoallw_init_c(out, big, bytes, i4, in[9], big, bytes, i4, line, none, &r[9]);
    for (int lap = 0; lap < LAPS; lap++) {
        out[0] = rank * 100 + lap * 2;
        out[1] = out[0] + 1;
        MPI_Startall(KINDS, r);
        MPI_Waitall(KINDS, r, MPI_STATUSES_IGNORE);
        for (int k = 0; k < KINDS; k++) {
            int from_left = in[k][0] - lap * 2, from_right = in[k][1] - lap * 2;
            if (k < 4) // gathered: everybody's first number
                CHECK(from_left == left * 100 && from_right == right * 100);
            else if (size > 2) // with two ranks both neighbours are one, and the order of the two messages is free
                CHECK(from_left == left * 100 + 1 && from_right == right * 100);
            else
                CHECK(from_left / 100 == left && from_right / 100 == left);
        }
    }
    for (int k = 0; k < KINDS; k++)
        MPI_Request_free(&r[k]);
    MPI_Comm_free(&line);
    say(rank, "persistent_neighbours: %d laps", LAPS);
    MPI_Finalize();
    return 0;
}
