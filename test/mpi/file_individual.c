// MPI-IO with each rank's own file pointer: all forms of read and write, seek, positions.
// ranks: 1 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { N = 32, FORMS = 5 };

int main(int argc, char **argv) {
    int rank, size, count;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char path[SCRATCH_PATH] = "";
    if (rank == 0)
        scratch_file(path);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
    // Each rank owns a stretch of FORMS * N doubles, with the double as the view's unit.
    OK(MPI_File_set_view(f, (MPI_Offset)rank * FORMS * N * sizeof(double), MPI_DOUBLE, MPI_DOUBLE, "native",
                         MPI_INFO_NULL));
    double data[N], in[N];
    MPI_Status st;
    MPI_Request req;
    MPI_Offset where, byte;
    for (int form = 0; form < FORMS; form++) {
        for (int i = 0; i < N; i++)
            data[i] = rank + form / 10.0 + i * 100;
        switch (form) {
        case 0: OK(MPI_File_write(f, data, N, MPI_DOUBLE, &st)); break;
        case 1: OK(MPI_File_write_all(f, data, N, MPI_DOUBLE, &st)); break;
        case 2:
            OK(MPI_File_iwrite(f, data, N, MPI_DOUBLE, &req));
            OK(MPI_Wait(&req, &st));
            break;
        case 3:
            OK(MPI_File_iwrite_all(f, data, N, MPI_DOUBLE, &req));
            OK(MPI_Wait(&req, &st));
            break;
        case 4:
            OK(MPI_File_write_all_begin(f, data, N, MPI_DOUBLE));
            OK(MPI_File_write_all_end(f, data, &st));
            break;
        }
        MPI_Get_count(&st, MPI_DOUBLE, &count);
        CHECK(count == N);
        OK(MPI_File_get_position(f, &where));
        CHECK(where == (form + 1) * N);
        OK(MPI_File_get_byte_offset(f, where, &byte));
        CHECK(byte == (MPI_Offset)((rank * FORMS * N + where) * sizeof(double)));
    }
    OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
    for (int form = 0; form < FORMS; form++) {
        memset(in, 0, sizeof in);
        switch (form) {
        case 0: OK(MPI_File_read(f, in, N, MPI_DOUBLE, &st)); break;
        case 1: OK(MPI_File_read_all(f, in, N, MPI_DOUBLE, MPI_STATUS_IGNORE)); break;
        case 2:
            OK(MPI_File_iread(f, in, N, MPI_DOUBLE, &req));
            OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
            break;
        case 3:
            OK(MPI_File_iread_all(f, in, N, MPI_DOUBLE, &req));
            OK(MPI_Wait(&req, &st));
            break;
        case 4:
            OK(MPI_File_read_all_begin(f, in, N, MPI_DOUBLE));
            OK(MPI_File_read_all_end(f, in, &st));
            break;
        }
        for (int i = 0; i < N; i++)
            CHECK(in[i] == rank + form / 10.0 + i * 100);
    }
    OK(MPI_File_seek(f, -N, MPI_SEEK_CUR));
    OK(MPI_File_get_position(f, &where));
    CHECK(where == (FORMS - 1) * N);
    OK(MPI_File_close(&f));
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    say(rank, "file_individual: ok");
    MPI_Finalize();
    return 0;
}
