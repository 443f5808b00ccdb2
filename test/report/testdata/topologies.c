/* Three topologies: a periodic grid, a mesh of triangles as a distributed graph that each rank
   gives its own edges of, and a star whose edges all ranks give. */
#include <mpi.h>

int main(int argc, char **argv)
{
	int rank, size, side = 1, n = 0, to[8];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	while ((side + 1) * (side + 1) <= size)
		side++;
	MPI_Comm grid, mesh, star;
	int dims[2] = {side, size / side}, periods[2] = {1, 0};
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
	for (int other = 0; other < size; other++) {
		int down = other / side - rank / side, right = other % side - rank % side;
		if (other != rank && down * down <= 1 && right * right <= 1 && down * right <= 0)
			to[n++] = other;
	}
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, to, MPI_UNWEIGHTED, n, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &mesh);
	int index[64], edges[126];
	for (int i = 0; i < size; i++)
		index[i] = size - 1 + i;
	for (int i = 0; i < 2 * (size - 1); i++)
		edges[i] = i < size - 1 ? i + 1 : 0;
	MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &star);
	MPI_Comm_set_name(star, "spokes");
	for (int i = 0; i < 10 * (rank % side + 1); i++)
		MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_MAX, MPI_COMM_SELF);
	MPI_Barrier(star);
	MPI_Comm_free(&grid), MPI_Comm_free(&mesh), MPI_Comm_free(&star);
	MPI_Finalize();
	return 0;
}
