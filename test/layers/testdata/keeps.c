/* A library that keeps rank 0 for itself: it serves in MPI_Init and never returns. The program sees the communicator of the others by kept_world(). BY_DLSYM: it finds the MPI itself, past all other layers.
   FORTRAN: it wraps the procedures for Fortran, and no others. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static MPI_Comm world = MPI_COMM_NULL;

MPI_Comm kept_world(void)
{
	return world;
}

static void mpi(const char *name, int (**f)(void))
{
	*(void **)f = dlsym(RTLD_NEXT, name);
}

static int finalize(void)
{
#ifdef BY_DLSYM
	int (*f)(void);
	mpi("PMPI_Finalize", &f);
	return f();
#else
	return PMPI_Finalize();
#endif
}

static int start(int rc)
{
	int rank, size;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	PMPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &world);
	if (rank == 0) {
		int sum = 0;
		for (int i = 1, x; i < size; i++, sum += x)
			PMPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		printf("server: %d\n", sum);
		fflush(stdout);
		PMPI_Comm_free(&world);
		finalize();
		exit(0);
	}
	return rc;
}

static int leave(void)
{
	int rank;
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_free(&world);
	usleep(300000 * rank); /* ranks end at different times */
	PMPI_Send(&rank, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
	return finalize();
}

#ifdef FORTRAN

void pmpi_init_(MPI_Fint *error);

void mpi_init_(MPI_Fint *error)
{
	pmpi_init_(error);
	*error = start(*error);
}

void mpi_finalize_(MPI_Fint *error)
{
	*error = leave();
}

#else

int MPI_Init(int *argc, char ***argv)
{
#ifdef BY_DLSYM
	int (*f)(int *, char ***);
	mpi("PMPI_Init", (int (**)(void))&f);
	return start(f(argc, argv));
#else
	return start(PMPI_Init(argc, argv));
#endif
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	return start(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Finalize(void)
{
	return leave();
}

#endif
