/* Phases with names: of MPI_Pcontrol, and of a plugin (phaser.c). What is behind a level needn't be a name, nor anything. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, sum;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; argc > 1 && i < 5000; i++) { /* more than a thread may have */
		char name[20];
		sprintf(name, "step %d", i);
		MPI_Pcontrol(1, name);
	}
	/* a name that ends where memory does, and a text that goes on to there */
	int page = memfd_create("page", 0); /* nothing is behind its end, and nothing can come there */
	ftruncate(page, 4096);
	char *edge = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0) + 4096;
	strcpy(edge - 5, "edge");
	memset(edge - 20, 'x', 15);
	for (int round = 0; round < 3; round++) {
		MPI_Pcontrol(1, "assemble");
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Pcontrol(1, "solve");
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		MPI_Pcontrol(-1, "solve");
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Pcontrol(2, edge - 5);
	MPI_Pcontrol(3, (char *)16);
	MPI_Pcontrol(3, "");
	MPI_Pcontrol(3, "two\nlines");
	strcpy(edge - 5, "text");
	edge[-1] = '!';
	MPI_Pcontrol(3, edge - 5);
	MPI_Pcontrol(3, "a text of more than sixty-four characters, which would be no good name for a phase");
	MPI_Pcontrol(3, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	puts("rank done");
	return 0;
}
