// MPI-IO with the shared file pointer: ordered and unordered, blocking, nonblocking and split forms.
// ranks: 1 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, in;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char path[SCRATCH_PATH] = "";
    if (rank == 0)
        scratch_file(path);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    MPI_Status st;
    MPI_Request req;
    MPI_Offset where;
    int words[4] = {rank, size + rank, 1000 + rank, 2000 + rank};
    OK(MPI_File_write_ordered(f, &words[0], 1, MPI_INT, &st));
    OK(MPI_File_write_ordered_begin(f, &words[1], 1, MPI_INT));
    OK(MPI_File_write_ordered_end(f, &words[1], &st));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(f, &where));
    CHECK(where == 2 * size);
    MPI_Barrier(MPI_COMM_WORLD);
    // Without order: who writes first comes first.
    OK(MPI_File_write_shared(f, &words[2], 1, MPI_INT, &st));
    OK(MPI_File_iwrite_shared(f, &words[3], 1, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    OK(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered(f, &in, 1, MPI_INT, &st));
    CHECK(in == rank);
    OK(MPI_File_read_ordered_begin(f, &in, 1, MPI_INT));
    OK(MPI_File_read_ordered_end(f, &in, &st));
    CHECK(in == size + rank);
    int mine, sum, a, b;
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_read_shared(f, &a, 1, MPI_INT, &st));
    OK(MPI_File_iread_shared(f, &b, 1, MPI_INT, &req));
    OK(MPI_Wait(&req, &st));
    mine = a + b;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == 3000 * size + size * (size - 1)); // every number once, whoever got it
    OK(MPI_File_close(&f));
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    say(rank, "file_shared: ok");
    MPI_Finalize();
    return 0;
}
