/* What MPI itself determines: communicators and groups of many kinds, grids, datatypes of blocks with uneven sides, displacements. */
#include <mpi.h>
#include <stdlib.h>

static int share(int n, int parts, int at) { return n / parts + (at < n % parts); }

static void types(int nx, int ny)
{
	MPI_Datatype list[9];
	int n = 0, size;
	MPI_Aint low, extent;
	MPI_Type_create_subarray(3, (int[]){nx + 2, ny + 2, 12}, (int[]){nx, ny, 10}, (int[]){1, 1, 1}, MPI_ORDER_C, MPI_DOUBLE, &list[n++]);
	MPI_Type_create_subarray(3, (int[]){nx + 2, ny + 2, 12}, (int[]){nx, 1, 10}, (int[]){1, ny, 1}, MPI_ORDER_FORTRAN, MPI_INT, &list[n++]);
	MPI_Type_vector(nx, 2, ny + 2, list[0], &list[n++]);
	MPI_Type_create_hvector(ny, nx, -16, MPI_FLOAT, &list[n++]);
	MPI_Type_indexed(3, (int[]){nx, 0, ny}, (int[]){ny, 1, nx * ny}, MPI_SHORT, &list[n++]);
	MPI_Type_create_struct(3, (int[]){nx, 3, 1}, (MPI_Aint[]){8, 16 + 8 * nx, 32 + 8 * nx}, (MPI_Datatype[]){MPI_DOUBLE, MPI_CHAR, MPI_INT}, &list[n++]);
	MPI_Type_create_resized(list[5], 0, 64 * nx * ny, &list[n++]);
	MPI_Type_create_hindexed_block(2, nx, (MPI_Aint[]){100, 100 + 8 * nx * ny}, list[6], &list[n++]);
	MPI_Type_contiguous(nx * ny, list[3], &list[n++]);
	for (int i = 0; i < n; i++) {
		MPI_Type_commit(&list[i]);
		MPI_Type_size(list[i], &size);
		MPI_Type_get_extent(list[i], &low, &extent);
		MPI_Type_get_true_extent(list[i], &low, &extent);
	}
	for (int i = 0; i < n; i++)
		MPI_Type_free(&list[i]);
}

static void groups(int rank, int size)
{
	MPI_Group world, even, most;
	MPI_Comm all, evens, mosts;
	int n, me, of[2];
	MPI_Comm_dup(MPI_COMM_WORLD, &all);
	MPI_Comm_group(all, &world);
	MPI_Group_range_incl(world, 1, (int[1][3]){{0, size - 1, 2}}, &even);
	MPI_Group_excl(world, 1, (int[]){size - 1}, &most);
	MPI_Comm_create(all, even, &evens);
	MPI_Group_translate_ranks(most, 2, (int[]){0, 1}, even, of);
	MPI_Group_size(even, &n);
	MPI_Group_rank(even, &me);
	if (evens != MPI_COMM_NULL) {
		MPI_Comm_size(evens, &n);
		MPI_Barrier(evens);
		MPI_Comm_free(&evens);
	}
	if (rank < size - 1) {
		MPI_Comm_create_group(all, most, 5, &mosts);
		MPI_Barrier(mosts);
		MPI_Comm_free(&mosts);
	}
	MPI_Group_free(&even);
	MPI_Group_free(&most);
	MPI_Group_free(&world);
	MPI_Comm_free(&all);
}

int main(int argc, char **argv)
{
	int size, rank, me, n, dims[2] = {0, 0}, at[2], side, own, up, down, left, right;
	MPI_Comm cart, row, column, node, first;
	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[]){0, 1}, 0, &cart);
	MPI_Comm_rank(cart, &me);
	MPI_Cart_coords(cart, me, 2, at);
	MPI_Cart_shift(cart, 0, 1, &up, &down);
	MPI_Cart_shift(cart, 1, 1, &left, &right);
	MPI_Cart_sub(cart, (int[]){0, 1}, &row);
	MPI_Cart_sub(cart, (int[]){1, 0}, &column);
	MPI_Comm_size(row, &side);
	MPI_Comm_rank(row, &own);
	int nx = share(1001, dims[0], at[0]), ny = share(703, dims[1], at[1]);
	types(nx, ny);
	groups(rank, size);
	double *u = calloc((size_t)(nx + 2) * (ny + 2), sizeof *u), *all = calloc(1001 * 703, sizeof *all), sum = 0, x;
	for (int i = 0; i < 5; i++) {
		MPI_Sendrecv(u, ny, MPI_DOUBLE, up, 2, u, ny, MPI_DOUBLE, down, 2, cart, MPI_STATUS_IGNORE);
		MPI_Allreduce(&sum, &x, 1, MPI_DOUBLE, MPI_SUM, row);
	}
	int *counts = calloc(size, sizeof *counts), *displs = calloc(size, sizeof *displs);
	for (int r = 0; r < side; r++) {
		counts[r] = share(703, side, r);
		displs[r] = r ? displs[r - 1] + counts[r - 1] : 0;
	}
	MPI_Allgatherv(u, ny, MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, row);
	for (int r = 0; r < size; r++) {
		counts[r] = share(1001, size, r);
		displs[r] = r ? displs[r - 1] + counts[r - 1] : 0;
	}
	MPI_Allgatherv(u, counts[rank], MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD);
	MPI_Gatherv(u, counts[rank], MPI_DOUBLE, all, counts, displs, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	/* The recorder follows blocks of 1 KiB and more: the first from 11 ranks on, the second from 19 on. */
	char *some = calloc(size, 96), *few = calloc(size, 56);
	MPI_Allgather(u, 96, MPI_BYTE, some, 96, MPI_BYTE, MPI_COMM_WORLD);
	MPI_Allgather(u, 56, MPI_BYTE, few, 56, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < 3; i++) { /* small blocks come in another order each time, and on each rank */
		char *one = malloc(56 * size), *two = malloc(56 * size), *other = one;
		if ((rank * 7 + size * 3 + i) * 2654435761u >> 30 & 1) {
			one = two;
			two = other;
		}
		MPI_Allgather(u, 56, MPI_BYTE, one, 56, MPI_BYTE, MPI_COMM_WORLD);
		MPI_Allgather(u, 56, MPI_BYTE, two, 56, MPI_BYTE, MPI_COMM_WORLD);
		free(one);
		free(two);
	}
	MPI_Comm_split(MPI_COMM_WORLD, rank / 4, rank, &node);
	MPI_Comm_size(node, &n);
	MPI_Comm_rank(node, &me);
	MPI_Comm_split(MPI_COMM_WORLD, me == 0 ? 0 : MPI_UNDEFINED, -rank, &first);
	if (me == 0) {
		MPI_Comm_size(first, &n);
		MPI_Barrier(first);
		MPI_Comm_free(&first);
	}
	MPI_Barrier(node);
	MPI_Comm_free(&node);
	MPI_Comm_free(&row);
	MPI_Comm_free(&column);
	MPI_Comm_free(&cart);
	MPI_Finalize();
	return 0;
}
