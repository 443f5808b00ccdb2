/* Ranks that wait for each other in collective calls of files, and along a topology. Four ranks. */
#include "waits.h"

static int value[4], got[4];

static void files(void)
{
	MPI_Request r;
	MPI_File f;
	late(1, 20);
	DO("open", MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	MPI_Barrier(MPI_COMM_WORLD);
	late(2, 20);
	DO("set size", MPI_File_set_size(f, 1024));
	MPI_Barrier(MPI_COMM_WORLD);
	late(3, 20);
	DO("set view", MPI_File_set_view(f, sizeof value * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	MPI_Barrier(MPI_COMM_WORLD);
	late(0, 20);
	DO("write all", MPI_File_write_all(f, value, 4, MPI_INT, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	late(1, 20);
	DO("read at all", MPI_File_read_at_all(f, 0, got, 4, MPI_INT, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	late(2, 20);
	DO("write at all begin", MPI_File_write_at_all_begin(f, 0, value, 4, MPI_INT));
	DO("write at all end", MPI_File_write_at_all_end(f, value, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	late(3, 20);
	DO("iwrite all", MPI_File_iwrite_all(f, value, 4, MPI_INT, &r));
	DO("wait for iwrite all", MPI_Wait(&r, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	late(0, 20);
	DO("sync", MPI_File_sync(f));
	MPI_Barrier(MPI_COMM_WORLD);
	late(1, 20);
	DO("close", MPI_File_close(&f));
	MPI_Barrier(MPI_COMM_WORLD);
}

/* A line of ranks: 1 is late, 0 and 2 wait for it, 3 doesn't. */
static void neighbours(void)
{
	int four = 4, no = 0;
	MPI_Comm line;
	MPI_Request r;
	MPI_Cart_create(MPI_COMM_WORLD, 1, &four, &no, 0, &line);
	MPI_Barrier(MPI_COMM_WORLD);
	late(1, 20);
	DO("neighbours", MPI_Neighbor_allgather(value, 1, MPI_INT, got, 1, MPI_INT, line));
	MPI_Barrier(MPI_COMM_WORLD);
	late(2, 20);
	DO("ineighbours", MPI_Ineighbor_alltoall(value, 1, MPI_INT, got, 1, MPI_INT, line, &r));
	DO("wait for ineighbours", MPI_Wait(&r, MPI_STATUS_IGNORE));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Comm_free(&line);
}

static void round_of_all(void)
{
	files();
	neighbours();
}

int main(int argc, char **argv)
{
	rounds(&argc, &argv, round_of_all);
	return 0;
}
