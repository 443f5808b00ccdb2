/* What Fortran compilers with unusual manglings call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mpi_comm_rank(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *ierror);
void mpi_comm_rank__(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *ierror);
void MPI_COMM_RANK(MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *ierror);
void mpi_barrier(MPI_Fint *comm, MPI_Fint *ierror);
void mpi_barrier__(MPI_Fint *comm, MPI_Fint *ierror);
void MPI_BARRIER(MPI_Fint *comm, MPI_Fint *ierror);
void pmpi_barrier__(MPI_Fint *comm, MPI_Fint *ierror);

int main(int argc, char **argv)
{
	MPI_Fint rank = -1, error = -1, sum = 0;
	MPI_Init(&argc, &argv);
#ifdef PLAIN
	MPI_Barrier(MPI_COMM_WORLD);
#else
	MPI_Fint world = MPI_Comm_c2f(MPI_COMM_WORLD);
	void (*barrier)(MPI_Fint *, MPI_Fint *) = mpi_barrier__;
	mpi_comm_rank(&world, &rank, &error), sum += rank;
	mpi_comm_rank__(&world, &rank, &error), sum += rank;
	MPI_COMM_RANK(&world, &rank, &error), sum += rank;
	mpi_barrier(&world, &error);
	barrier(&world, &error);
	MPI_BARRIER(&world, &error);
	pmpi_barrier__(&world, &error);
	printf("%d %d\n", (int)sum, (int)error);
#endif
	MPI_Finalize();
	return 0;
}
