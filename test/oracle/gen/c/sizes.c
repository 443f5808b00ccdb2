/* sizes.c: how long the arrays of a call are, by what the MPI says of the communicator. */
#include "log.h"

int64_t o_local_size(MPI_Comm comm)
{
	int n = 0;
	if (comm != MPI_COMM_NULL)
		REAL(MPI_Comm_size)(comm, &n);
	return n;
}

int64_t o_size(MPI_Comm comm)
{
	int n = 0, inter = 0;
	if (comm == MPI_COMM_NULL)
		return 0;
	REAL(MPI_Comm_test_inter)(comm, &inter);
	if (inter)
		REAL(MPI_Comm_remote_size)(comm, &n);
	else
		REAL(MPI_Comm_size)(comm, &n);
	return n;
}

int o_at_root(MPI_Comm comm, int root)
{
	int rank, inter;
	if (comm == MPI_COMM_NULL)
		return 0;
	REAL(MPI_Comm_test_inter)(comm, &inter);
	if (inter)
		return root == MPI_ROOT;
	REAL(MPI_Comm_rank)(comm, &rank);
	return rank == root;
}

int64_t o_degree(MPI_Comm comm, int out)
{
	int kind, n = 0, m = 0, weighted, rank;
	if (comm == MPI_COMM_NULL)
		return 0;
	REAL(MPI_Topo_test)(comm, &kind);
	if (kind == MPI_DIST_GRAPH) {
		REAL(MPI_Dist_graph_neighbors_count)(comm, &n, &m, &weighted);
		return out ? m : n;
	}
	if (kind == MPI_GRAPH) {
		REAL(MPI_Comm_rank)(comm, &rank);
		REAL(MPI_Graph_neighbors_count)(comm, rank, &n);
	}
	return kind == MPI_CART ? 2 * o_cart_dims(comm) : n;
}

int64_t o_cart_dims(MPI_Comm comm)
{
	int kind, n = 0;
	if (comm == MPI_COMM_NULL)
		return 0;
	REAL(MPI_Topo_test)(comm, &kind);
	if (kind == MPI_CART)
		REAL(MPI_Cartdim_get)(comm, &n);
	return n;
}

int64_t o_sum(const int *list, int64_t n)
{
	int64_t sum = 0;
	for (int64_t i = 0; o_readable(list) && i < n; i++)
		sum += list[i];
	return sum;
}

int64_t o_least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t o_envelope(MPI_Datatype type, int which)
{
	int combiner;
#if MPI_VERSION >= 4
	MPI_Count large[4] = {0, 0, 0, 0};
	REAL(MPI_Type_get_envelope_c)(type, &large[0], &large[1], &large[2], &large[3], &combiner);
	return large[which];
#else
	int n[4] = {0, 0, 0, 0};
	REAL(MPI_Type_get_envelope)(type, &n[0], &n[1], &n[3], &combiner);
	return n[which];
#endif
}

int64_t o_graph(MPI_Comm comm, int edges)
{
	int n[2] = {0, 0};
	REAL(MPI_Graphdims_get)(comm, &n[0], &n[1]);
	return n[edges];
}

int64_t o_neighbors(MPI_Comm comm, int rank)
{
	int n = 0;
	REAL(MPI_Graph_neighbors_count)(comm, rank, &n);
	return n;
}

int o_weighted(MPI_Comm comm)
{
	int in, out, weighted = 0;
	REAL(MPI_Dist_graph_neighbors_count)(comm, &in, &out, &weighted);
	return weighted;
}

int64_t o_category(int category, int which)
{
	int n[4] = {0, 0, 0, 0}, name = 0, desc = 0;
#if MPI_VERSION >= 4
	if (which == 3)
		REAL(MPI_T_category_get_num_events)(category, &n[3]);
	else
#endif
		REAL(MPI_T_category_get_info)(category, NULL, &name, NULL, &desc, &n[0], &n[1], &n[2]);
	return n[which];
}
