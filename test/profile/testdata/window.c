// Rounds whose bytes are known, on a communicator with the ranks in reverse and of a datatype that were made before:
// in round i each of two ranks sends i + 1 elements of 12 bytes to the other; in phase 2 it is rank 0 alone, 100 of them.
#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank, to[2] = {1, 0}, data[600], got[600];
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm reverse;
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
	MPI_Datatype three;
	MPI_Type_contiguous(3, MPI_INT, &three);
	MPI_Type_commit(&three);
	int me = 1 - rank;
	MPI_Request outside;
	MPI_Irecv(got, 100, three, to[me], 5, reverse, &outside);
	MPI_Pcontrol(1);
	for (int i = 0; i < 10; i++) {
		MPI_Request r[2];
		MPI_Irecv(got + 300, i + 1, three, to[me], 3, reverse, &r[0]);
		MPI_Isend(data, i + 1, three, to[me], 3, reverse, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Pcontrol(2);
	if (rank == 0) {
		MPI_Send(data, 100, three, to[me], 5, reverse);
		MPI_Cancel(&outside);
	}
	MPI_Wait(&outside, MPI_STATUS_IGNORE);
	MPI_Type_free(&three);
	MPI_Comm_free(&reverse);
	MPI_Finalize();
}
