// A file opened to be created that is there already, from an earlier run: its size is asked for, then it is cut.
// ranks: 1 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char path[SCRATCH_PATH] = "";
    if (rank == 0) {
        scratch_file(path);
        FILE *earlier = fopen(path, "w");
        CHECK(earlier && fseek(earlier, 11999, SEEK_SET) == 0 && fputc(1, earlier) == 1 && fclose(earlier) == 0);
    }
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
    if (rank == 0) {
        MPI_Offset bytes;
        OK(MPI_File_get_size(f, &bytes));
        CHECK(bytes == 12000);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_set_size(f, 0));
    OK(MPI_File_write_at_all(f, (MPI_Offset)rank * sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&f));
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    say(rank, "file_found: ok");
    MPI_Finalize();
    return 0;
}
