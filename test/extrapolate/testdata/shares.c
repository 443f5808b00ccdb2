/* Totals are shared out in the ways that programs use: each array has sizes of its own, sizes and starts are in lists, too. */
#include <mpi.h>
#include <stdlib.h>

static int share(int total, int parts, int i) { return total / parts + (i < total % parts); }
static int start(int total, int parts, int i) { return total / parts * i + (i < total % parts ? i : total % parts); }
static int bound(long total, int parts, int i) { return (int)(i * total / parts); }
static int least(int a, int b) { return a < b ? a : b; }

enum { ROOM = 1 << 20 };
static double *here, *there;
static int ranks, rank;

/* A grid with sides of two lengths, a halo, and blocks gathered in one place. */
static void grid(void)
{
	int dims[2] = {0, 0}, open[2] = {0, 0}, at[2], total[2] = {1000, 700}, size[2], from[2], near[4];
	MPI_Comm comm;
	MPI_Dims_create(ranks, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, open, 0, &comm);
	MPI_Cart_coords(comm, rank, 2, at);
	for (int d = 0; d < 2; d++) {
		size[d] = share(total[d], dims[d], at[d]);
		from[d] = start(total[d], dims[d], at[d]);
		MPI_Cart_shift(comm, d, 1, &near[2 * d], &near[2 * d + 1]);
	}
	int row = size[1] + 2;
	MPI_Datatype column, block;
	MPI_Type_vector(size[0], 1, row, MPI_DOUBLE, &column);
	MPI_Type_commit(&column);
	for (int step = 0; step < 5; step++) {
		MPI_Sendrecv(here + row + 1, size[1], MPI_DOUBLE, near[0], 1, here + (size[0] + 1) * row + 1, size[1], MPI_DOUBLE, near[1], 1, comm, MPI_STATUS_IGNORE);
		MPI_Sendrecv(here + row + 1, 1, column, near[2], 2, here + 2 * row - 1, 1, column, near[3], 2, comm, MPI_STATUS_IGNORE);
	}
	MPI_Type_create_subarray(2, total, size, from, MPI_ORDER_C, MPI_DOUBLE, &block);
	MPI_Type_commit(&block);
	int *counts = malloc(sizeof(int) * ranks), *starts = malloc(sizeof(int) * ranks);
	for (int k = 0, sum = 0; k < ranks; k++) {
		MPI_Cart_coords(comm, k, 2, at);
		counts[k] = share(total[0], dims[0], at[0]) * share(total[1], dims[1], at[1]);
		starts[k] = sum;
		sum += counts[k];
	}
	MPI_Gatherv(here, size[0] * size[1], MPI_DOUBLE, there, counts, starts, MPI_DOUBLE, 0, comm);
	free(counts);
	free(starts);
	MPI_Type_free(&block);
	MPI_Type_free(&column);
	MPI_Comm_free(&comm);
}

/* Lists of what all get, each in another way. */
static void lists(void)
{
	const int total = 10001;
	int *counts = malloc(sizeof(int) * ranks), *starts = malloc(sizeof(int) * ranks);
	for (int k = 0; k < ranks; k++) {
		starts[k] = bound(total, ranks, k);
		counts[k] = bound(total, ranks, k + 1) - starts[k];
	}
	MPI_Scatterv(there, counts, starts, MPI_DOUBLE, here, counts[rank], MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int k = 0; k < ranks; k++) {
		starts[k] = total / ranks * k;
		counts[k] = k == ranks - 1 ? total - starts[k] : total / ranks;
	}
	MPI_Gatherv(here, counts[rank], MPI_DOUBLE, there, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	int most = (total + ranks - 1) / ranks;
	for (int k = 0; k < ranks; k++) {
		starts[k] = least(most * k, total);
		counts[k] = least(most * (k + 1), total) - starts[k];
	}
	MPI_Allgatherv(here, counts[rank], MPI_DOUBLE, there, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD);
	free(counts);
	free(starts);
}

/* A transposition: what goes between two ranks depends on both. */
static void transposition(void)
{
	const int rows = 101, columns = 67, depth = 8;
	int *list = malloc(4 * sizeof(int) * ranks), *out = list, *from = list + ranks, *in = list + 2 * ranks, *to = list + 3 * ranks;
	for (int k = 0, sent = 0, received = 0; k < ranks; k++) {
		out[k] = share(rows, ranks, rank) * share(columns, ranks, k) * depth;
		in[k] = share(rows, ranks, k) * share(columns, ranks, rank) * depth;
		from[k] = sent, to[k] = received;
		sent += out[k], received += in[k];
	}
	MPI_Alltoallv(here, out, from, MPI_DOUBLE, there, in, to, MPI_DOUBLE, MPI_COMM_WORLD);
	free(list);
}

/* The first sends to each what is its, then all pass theirs around. */
static void turns(void)
{
	const int total = 503;
	int mine = bound(total, ranks, rank + 1) - bound(total, ranks, rank);
	if (rank > 0)
		MPI_Recv(here, mine * 16, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		for (int k = 1; k < ranks; k++)
			MPI_Send(there, (bound(total, ranks, k + 1) - bound(total, ranks, k)) * 16, MPI_DOUBLE, k, 3, MPI_COMM_WORLD);
	for (int step = 0; step < ranks - 1; step++) {
		int out = (rank - step + ranks) % ranks, in = (rank - step - 1 + ranks) % ranks;
		MPI_Sendrecv(here, share(total, ranks, out), MPI_DOUBLE, (rank + 1) % ranks, 4, there, share(total, ranks, in), MPI_DOUBLE,
			(rank + ranks - 1) % ranks, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* Whose turn it is changes in loops of a fixed length: rows of an elimination, and panels in rows of a grid. */
static void elimination(void)
{
	int columns = ranks, in = 0, out;
	for (int side = 1; side * side <= ranks; side++)
		if (ranks % side == 0)
			columns = ranks / side;
	MPI_Comm row;
	MPI_Comm_split(MPI_COMM_WORLD, rank / columns, rank % columns, &row);
	for (int k = 0; k < 20; k++)
		MPI_Bcast(here, 20 - k, MPI_DOUBLE, k % ranks, MPI_COMM_WORLD);
	for (int k = 0; k < 12; k++)
		MPI_Bcast(here, (12 - k) * 32, MPI_DOUBLE, k % columns, row);
	for (int k = 0; k < 20; k++)
		MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, k % ranks, MPI_COMM_WORLD);
	MPI_Comm_free(&row);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	here = calloc(ROOM, sizeof *here);
	there = calloc(ROOM, sizeof *there);
	grid();
	lists();
	transposition();
	turns();
	elimination();
	MPI_Finalize();
	return 0;
}
