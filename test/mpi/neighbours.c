// Distributed graphs and neighbourhood collectives, blocking and nonblocking, weighted, unweighted and empty.
// ranks: 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { IN = 2, OUT = 2 };

static int rank, size;

// Every rank sends to the next two and hears from the two before it.
static void exchange(MPI_Comm comm, int nonblocking) {
    int in[6], out[6], ones[2] = {1, 2}, displs[2] = {0, 1};
    MPI_Aint at[2] = {0, sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    int before[2] = {(rank + size - 1) % size, (rank + 2 * size - 2) % size};
    for (int form = 0; form < 5; form++) {
        MPI_Request req = MPI_REQUEST_NULL;
        for (int i = 0; i < 6; i++)
            in[i] = -1, out[i] = rank * 10 + i;
        switch (form * 2 + nonblocking) {
        case 0: MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm); break;
        case 1: MPI_Ineighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, comm, &req); break;
        case 2: MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, (int[]){1, 1}, displs, MPI_INT, comm); break;
        case 3: MPI_Ineighbor_allgatherv(out, 1, MPI_INT, in, (int[]){1, 1}, displs, MPI_INT, comm, &req); break;
        case 4: MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm); break;
        case 5: MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &req); break;
        case 6: MPI_Neighbor_alltoallv(out, ones, displs, MPI_INT, in, ones, displs, MPI_INT, comm); break;
        case 7: MPI_Ineighbor_alltoallv(out, ones, displs, MPI_INT, in, ones, displs, MPI_INT, comm, &req); break;
        case 8: MPI_Neighbor_alltoallw(out, ones, at, types, in, ones, at, types, comm); break;
        case 9: MPI_Ineighbor_alltoallw(out, ones, at, types, in, ones, at, types, comm, &req); break;
        }
        MPI_Wait(&req, MPI_STATUS_IGNORE);
        for (int i = 0; i < IN; i++)
            CHECK(in[i] == before[i] * 10 + (form < 2 ? 0 : i));
        CHECK(form < 3 || in[2] == before[1] * 10 + 2);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int from[IN] = {(rank + size - 1) % size, (rank + 2 * size - 2) % size};
    int to[OUT] = {(rank + 1) % size, (rank + 2) % size}, weights[2] = {3, 4};
    MPI_Comm ring;
    int n_in, n_out, weighted, kind, sources[2], targets[2], sw[2], tw[2];
    for (int w = 0; w < 2; w++) {
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, IN, from, w ? weights : MPI_UNWEIGHTED, OUT, to,
                                       w ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
        MPI_Topo_test(ring, &kind);
        CHECK(kind == MPI_DIST_GRAPH);
        MPI_Dist_graph_neighbors_count(ring, &n_in, &n_out, &weighted);
        CHECK(n_in == IN && n_out == OUT && weighted == w);
        if (w)
            MPI_Dist_graph_neighbors(ring, IN, sources, sw, OUT, targets, tw);
        else
            MPI_Dist_graph_neighbors(ring, IN, sources, MPI_UNWEIGHTED, OUT, targets, MPI_UNWEIGHTED);
        CHECK(sources[1] == from[1] && targets[0] == to[0] && (!w || (sw[0] == 3 && tw[1] == 4)));
        exchange(ring, 0);
        exchange(ring, 1);
        MPI_Comm_free(&ring);
    }
    // The same edges described by rank 0 alone; the others bring nothing.
    int degree = 1, *nodes = malloc(3 * size * sizeof *nodes), *degrees = nodes + size, *dest = degrees + size;
    CHECK(nodes);
    for (int i = 0; i < size; i++)
        nodes[i] = i, degrees[i] = degree, dest[i] = (i + 1) % size;
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank ? 0 : size, nodes, degrees, dest, rank ? MPI_WEIGHTS_EMPTY : dest,
                          MPI_INFO_NULL, 0, &ring);
    MPI_Dist_graph_neighbors_count(ring, &n_in, &n_out, &weighted);
    CHECK(n_in == 1 && n_out == 1);
    int heard = -1;
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, &heard, 1, MPI_INT, ring);
    CHECK(heard == from[0]);
    MPI_Comm_free(&ring);
    free(nodes);

    // And on a Cartesian grid with an open end: MPI_PROC_NULL neighbours leave the buffer alone.
    int period = 0, ends[2] = {-1, -1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, ends, 1, MPI_INT, ring);
    CHECK(ends[0] == rank - 1 && ends[1] == (rank == size - 1 ? -1 : rank + 1));
    MPI_Comm_free(&ring);
    say(rank, "neighbours: ok");
    MPI_Finalize();
    return 0;
}
