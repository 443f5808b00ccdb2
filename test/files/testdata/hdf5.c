/* Writes with HDF5: each rank a file of its own, and all of them one, by MPI-IO; then reads
   these again. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 64
#define COLUMNS 512

static double values[ROWS][COLUMNS], back[ROWS][COLUMNS];

int main(int argc, char **argv)
{
	int rank, size, wrong = 0;
	char name[32];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < COLUMNS; k++)
			values[i][k] = rank * 1e6 + i * COLUMNS + k;

	/* its own, in chunks */
	hsize_t dims[2] = {ROWS, COLUMNS}, chunk[2] = {8, COLUMNS};
	snprintf(name, sizeof name, "own.%03d.h5", rank);
	hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t space = H5Screate_simple(2, dims, NULL), made = H5Pcreate(H5P_DATASET_CREATE);
	H5Pset_chunk(made, 2, chunk);
	hid_t set = H5Dcreate2(file, "values", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, made, H5P_DEFAULT);
	H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
	H5Dclose(set);
	H5Fclose(file);
	file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
	set = H5Dopen2(file, "values", H5P_DEFAULT);
	H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, back);
	wrong += back[ROWS - 1][7] != values[ROWS - 1][7];
	H5Dclose(set);
	H5Fclose(file);

	/* of all, each rank some rows */
	hsize_t whole[2] = {(hsize_t)size * ROWS, COLUMNS}, at[2] = {(hsize_t)rank * ROWS, 0};
	hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_DATASET_XFER);
	H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
	H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
	file = H5Fcreate("all.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
	hid_t large = H5Screate_simple(2, whole, NULL);
	set = H5Dcreate2(file, "values", H5T_NATIVE_DOUBLE, large, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	H5Sselect_hyperslab(large, H5S_SELECT_SET, at, NULL, dims, NULL);
	H5Dwrite(set, H5T_NATIVE_DOUBLE, space, large, how, values);
	back[0][0] = -1;
	H5Dread(set, H5T_NATIVE_DOUBLE, space, large, how, back);
	wrong += back[0][0] != values[0][0];
	H5Dclose(set);
	H5Fclose(file);
	printf("rank %d of %d: %d wrong\n", rank, size, wrong);
	MPI_Finalize();
	return wrong;
}
