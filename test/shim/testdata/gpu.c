/* Buffers on two devices, by way of both runtimes, freed and taken anew. */
#include <mpi.h>
#include <stdio.h>

int cudaSetDevice(int);
int cudaMalloc(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
struct pitched { void *p; size_t pitch, x, y; };
struct extent { size_t w, h, d; };
int cudaMalloc3D(struct pitched *, struct extent);
int cudaFree(void *);
int hipMalloc(void **, size_t);
int hipFree(void *);

int main(int argc, char **argv)
{
	char *a, *b, *c;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 2; i++) {
		cudaSetDevice(0);
		cudaMalloc((void **)&a, 4096);
		cudaSetDevice(1);
		cudaMallocManaged((void **)&b, 100, 1);
		hipMalloc((void **)&c, 100);
		MPI_Bcast(a + 64, 1, MPI_INT, 0, MPI_COMM_SELF);
		MPI_Bcast(b, 1, MPI_INT, 0, MPI_COMM_SELF);
		MPI_Bcast(c + 8, 1, MPI_INT, 0, MPI_COMM_SELF);
		cudaFree(a);
		cudaFree(b);
		hipFree(c);
	}
	struct pitched grid;
	cudaMalloc3D(&grid, (struct extent){100, 4, 4});
	MPI_Bcast((char *)grid.p + 512 * 15, 1, MPI_INT, 0, MPI_COMM_SELF);
	cudaFree(grid.p);
	puts("done");
	MPI_Finalize();
	return 0;
}
