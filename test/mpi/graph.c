// Graph topologies (the MPI-1 kind): a star, its neighbours, and traffic along its edges.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, kind, nodes, nedges, n, where;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    // Rank 0 has an edge to everyone, everyone one to rank 0.
    int count = 2 * (size - 1);
    int *index = malloc(4 * (size + 1) * sizeof *index), *edges = index + size + 1, *got = calloc(count + 1, sizeof *got);
    CHECK(index && got);
    for (int i = 0; i < size; i++)
        index[i] = size - 1 + i;
    for (int i = 0; i < count; i++)
        edges[i] = i < size - 1 ? i + 1 : 0;
    MPI_Comm star;
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &star);
    MPI_Topo_test(star, &kind);
    CHECK(kind == MPI_GRAPH);
    MPI_Graphdims_get(star, &nodes, &nedges);
    CHECK(nodes == size && nedges == count);
    int *gindex = malloc((size + 1) * sizeof *gindex);
    CHECK(gindex);
    MPI_Graph_get(star, size, count, gindex, got);
    for (int i = 0; i < size; i++)
        CHECK(gindex[i] == index[i]);
    for (int i = 0; i < count; i++)
        CHECK(got[i] == edges[i]);
    MPI_Graph_neighbors_count(star, rank, &n);
    CHECK(n == (rank == 0 ? size - 1 : 1));
    MPI_Graph_neighbors(star, rank, n, got);
    for (int i = 0; i < n; i++) {
        int in = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, got[i], 0, &in, 1, MPI_INT, got[i], 0, star, MPI_STATUS_IGNORE);
        CHECK(in == got[i]);
    }
    MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &where);
    CHECK(where >= 0 && where < size);
    MPI_Comm_free(&star);
    free(index), free(got), free(gindex);
    say(rank, "graph: %d edges", count);
    MPI_Finalize();
    return 0;
}
