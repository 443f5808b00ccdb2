// Neighbourhood collectives with MPI_Count counts (MPI-4), blocking and nonblocking, on a directed ring.
// ranks: 1 2 4 7
// mpi: mpich openmpi>=6.0
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    MPI_Comm ring;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &ring);
    MPI_Count n = 2;
    MPI_Aint at = 1, bytes = sizeof(int);
    MPI_Datatype t = MPI_INT;
    for (int form = 0; form < 10; form++) {
        int out[3] = {rank, rank + 10, rank + 20}, in[3] = {-1, -1, -1};
        MPI_Request req = MPI_REQUEST_NULL;
        switch (form) {
        case 0: MPI_Neighbor_allgather_c(out + 1, 2, t, in + 1, 2, t, ring); break;
        case 1: MPI_Neighbor_allgatherv_c(out + 1, 2, t, in, &n, &at, t, ring); break;
        case 2: MPI_Neighbor_alltoall_c(out + 1, 2, t, in + 1, 2, t, ring); break;
        case 3: MPI_Neighbor_alltoallv_c(out, &n, &at, t, in, &n, &at, t, ring); break;
        case 4: MPI_Neighbor_alltoallw_c(out, &n, &bytes, &t, in, &n, &bytes, &t, ring); break;
        case 5: MPI_Ineighbor_allgather_c(out + 1, 2, t, in + 1, 2, t, ring, &req); break;
        case 6: MPI_Ineighbor_allgatherv_c(out + 1, 2, t, in, &n, &at, t, ring, &req); break;
        case 7: MPI_Ineighbor_alltoall_c(out + 1, 2, t, in + 1, 2, t, ring, &req); break;
        case 8: MPI_Ineighbor_alltoallv_c(out, &n, &at, t, in, &n, &at, t, ring, &req); break;
        case 9: MPI_Ineighbor_alltoallw_c(out, &n, &bytes, &t, in, &n, &bytes, &t, ring, &req); break;
        }
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        CHECK(in[0] == -1 && in[1] == left + 10 && in[2] == left + 20);
    }
    MPI_Comm_free(&ring);
    say(rank, "large_neighbours: ok");
    MPI_Finalize();
    return 0;
}
