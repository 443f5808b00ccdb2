// MPI-IO at explicit offsets: blocking, nonblocking, collective, and split collective forms.
// ranks: 1 2 4
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

enum { N = 64, FORMS = 6 };

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
    int out[FORMS][N], in[N];
    MPI_Status st;
    MPI_Request req;
    for (int form = 0; form < FORMS - 1; form++) {
        // Block form * size + rank holds this form's numbers.
        MPI_Offset at = (MPI_Offset)(form * size + rank) * N * sizeof(int);
        int *data = out[form];
        for (int i = 0; i < N; i++)
            data[i] = form * 10000 + rank * 100 + i;
        switch (form) {
        case 0: OK(MPI_File_write_at(f, at, data, N, MPI_INT, &st)); break;
        case 1: OK(MPI_File_write_at_all(f, at, data, N, MPI_INT, &st)); break;
        case 2:
            OK(MPI_File_iwrite_at(f, at, data, N, MPI_INT, &req));
            OK(MPI_Wait(&req, &st));
            break;
        case 3:
            OK(MPI_File_iwrite_at_all(f, at, data, N, MPI_INT, &req));
            OK(MPI_Wait(&req, &st));
            break;
        case 4:
            OK(MPI_File_write_at_all_begin(f, at, data, N, MPI_INT));
            OK(MPI_File_write_at_all_end(f, data, &st));
            break;
        }
        MPI_Get_count(&st, MPI_INT, &count);
        CHECK(count == N);
    }
    OK(MPI_File_sync(f));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_sync(f));
    for (int form = 0; form < FORMS - 1; form++) { // each reads what its neighbour wrote
        int other = (rank + 1) % size;
        MPI_Offset at = (MPI_Offset)(form * size + other) * N * sizeof(int);
        memset(in, 0, sizeof in);
        switch (form) {
        case 0: OK(MPI_File_read_at(f, at, in, N, MPI_INT, &st)); break;
        case 1: OK(MPI_File_read_at_all(f, at, in, N, MPI_INT, &st)); break;
        case 2:
            OK(MPI_File_iread_at(f, at, in, N, MPI_INT, &req));
            OK(MPI_Wait(&req, &st));
            break;
        case 3:
            OK(MPI_File_iread_at_all(f, at, in, N, MPI_INT, &req));
            OK(MPI_Wait(&req, &st));
            break;
        case 4:
            OK(MPI_File_read_at_all_begin(f, at, in, N, MPI_INT));
            OK(MPI_File_read_at_all_end(f, in, &st));
            break;
        }
        MPI_Get_count(&st, MPI_INT, &count);
        CHECK(count == N);
        for (int i = 0; i < N; i++)
            CHECK(in[i] == form * 10000 + other * 100 + i);
    }
    // Past the end there is nothing.
    OK(MPI_File_read_at(f, (MPI_Offset)FORMS * size * N * sizeof(int), in, 1, MPI_INT, &st));
    MPI_Get_count(&st, MPI_INT, &count);
    CHECK(count == 0);
    OK(MPI_File_close(&f));
    if (rank == 0)
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    say(rank, "file_explicit: ok");
    MPI_Finalize();
    return 0;
}
