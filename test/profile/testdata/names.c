// Objects with names: "halo" is one communicator early and none later, as its handle is used again.
#include <mpi.h>

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 2; i++) {
		MPI_Comm comm;
		MPI_Comm_dup(MPI_COMM_WORLD, &comm);
		MPI_Barrier(comm); // without a name
		if (i == 0)
			MPI_Comm_set_name(comm, "halo");
		MPI_Barrier(comm); // the first with a name
		MPI_Comm_free(&comm);
	}
	MPI_Datatype line;
	MPI_Type_contiguous(4, MPI_INT, &line);
	MPI_Type_set_name(line, "line");
	MPI_Type_commit(&line);
	int data[4] = {0};
	MPI_Bcast(data, 1, line, 0, MPI_COMM_WORLD);
	MPI_Win win;
	MPI_Win_create(data, sizeof data, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_set_name(win, "window on data");
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Type_free(&line);
	MPI_Finalize();
}
