// MPI-IO with MPI_Count counts (MPI-4): every form of read and write.
// ranks: 1 2 4
// mpi: mpich !mpich>=5.0
// Not with MPICH 5.0.2, where a data representation that is registered twice ends the program, whatever the error handler.
#include "check.h"
#include <mpi.h>

enum { N = 8 };

static int rank, size, data[N];
static MPI_File f;
static MPI_Status st;
static MPI_Request req;

static void wait_full(void) {
    MPI_Count count;
    OK(MPI_Wait(&req, &st));
    MPI_Get_count_c(&st, MPI_INT, &count);
    CHECK(count == N);
}

static void fill(int form) {
    for (int i = 0; i < N; i++)
        data[i] = form * 1000 + rank * 10 + i;
}

static void verify(int form) {
    for (int i = 0; i < N; i++) {
        CHECK(data[i] == form * 1000 + rank * 10 + i);
        data[i] = -1;
    }
}

// Forms 0 to 4 at explicit offsets, 5 to 9 with the individual pointer, 10 to 13 with the shared one.
static void write_form(int form, MPI_Offset at) {
    MPI_Datatype t = MPI_INT;
    MPI_Count n = N;
    req = MPI_REQUEST_NULL;
    switch (form) {
    case 0: OK(MPI_File_write_at_c(f, at, data, n, t, &st)); break;
    case 1: OK(MPI_File_write_at_all_c(f, at, data, n, t, &st)); break;
    case 2: OK(MPI_File_iwrite_at_c(f, at, data, n, t, &req)), wait_full(); break;
    case 3: OK(MPI_File_iwrite_at_all_c(f, at, data, n, t, &req)), wait_full(); break;
    case 4: OK(MPI_File_write_at_all_begin_c(f, at, data, n, t)), OK(MPI_File_write_at_all_end(f, data, &st)); break;
    case 5: OK(MPI_File_write_c(f, data, n, t, &st)); break;
    case 6: OK(MPI_File_write_all_c(f, data, n, t, &st)); break;
    case 7: OK(MPI_File_iwrite_c(f, data, n, t, &req)), wait_full(); break;
    case 8: OK(MPI_File_iwrite_all_c(f, data, n, t, &req)), wait_full(); break;
    case 9: OK(MPI_File_write_all_begin_c(f, data, n, t)), OK(MPI_File_write_all_end(f, data, &st)); break;
    case 10: OK(MPI_File_write_ordered_c(f, data, n, t, &st)); break;
    case 11: OK(MPI_File_write_ordered_begin_c(f, data, n, t)), OK(MPI_File_write_ordered_end(f, data, &st)); break;
    case 12: OK(MPI_File_write_shared_c(f, data, n, t, &st)); break;
    case 13: OK(MPI_File_iwrite_shared_c(f, data, n, t, &req)), wait_full(); break;
    }
}

static void read_form(int form, MPI_Offset at) {
    MPI_Datatype t = MPI_INT;
    MPI_Count n = N;
    req = MPI_REQUEST_NULL;
    switch (form) {
    case 0: OK(MPI_File_read_at_c(f, at, data, n, t, &st)); break;
    case 1: OK(MPI_File_read_at_all_c(f, at, data, n, t, &st)); break;
    case 2: OK(MPI_File_iread_at_c(f, at, data, n, t, &req)), wait_full(); break;
    case 3: OK(MPI_File_iread_at_all_c(f, at, data, n, t, &req)), wait_full(); break;
    case 4: OK(MPI_File_read_at_all_begin_c(f, at, data, n, t)), OK(MPI_File_read_at_all_end(f, data, &st)); break;
    case 5: OK(MPI_File_read_c(f, data, n, t, &st)); break;
    case 6: OK(MPI_File_read_all_c(f, data, n, t, &st)); break;
    case 7: OK(MPI_File_iread_c(f, data, n, t, &req)), wait_full(); break;
    case 8: OK(MPI_File_iread_all_c(f, data, n, t, &req)), wait_full(); break;
    case 9: OK(MPI_File_read_all_begin_c(f, data, n, t)), OK(MPI_File_read_all_end(f, data, &st)); break;
    case 10: OK(MPI_File_read_ordered_c(f, data, n, t, &st)); break;
    case 11: OK(MPI_File_read_ordered_begin_c(f, data, n, t)), OK(MPI_File_read_ordered_end(f, data, &st)); break;
    case 12: OK(MPI_File_read_shared_c(f, data, n, t, &st)); break;
    case 13: OK(MPI_File_iread_shared_c(f, data, n, t, &req)), wait_full(); break;
    }
}

static int file_extent(MPI_Datatype type, MPI_Aint *extent, void *extra) {
    (void)type, (void)extra;
    *extent = 4;
    return MPI_SUCCESS;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char path[SCRATCH_PATH] = "";
    if (rank == 0)
        scratch_file(path);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
    OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int form = 0; form < 14; form++) {
        MPI_Offset at = rank * N;
        if (form == 12) // the unordered forms: one rank after the other
            OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
        for (int turn = 0; turn < (form < 12 ? 1 : size); turn++) {
            fill(form);
            OK(MPI_File_seek(f, at, MPI_SEEK_SET));
            if (form == 10 || form == 11)
                OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
            if (form < 12 || turn == rank)
                write_form(form, at);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (form >= 10)
            OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
        OK(MPI_File_seek(f, at, MPI_SEEK_SET));
        for (int turn = 0; turn < (form < 12 ? 1 : size); turn++) {
            if (form < 12 || turn == rank) {
                read_form(form, at);
                verify(form);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
        if (form >= 12)
            OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
    }
    MPI_Count extent;
    OK(MPI_File_get_type_extent_c(f, MPI_INT, &extent));
    CHECK(extent == sizeof(int));
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    int rc = MPI_SUCCESS;
    for (int i = 0; i < 2; i++) // the second time it is known already
        rc = MPI_Register_datarep_c("spoor-large", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, file_extent, NULL);
    CHECK(rc != MPI_SUCCESS);
    OK(MPI_File_close(&f));
    say(rank, "large_file: ok");
    MPI_Finalize();
    return 0;
}
