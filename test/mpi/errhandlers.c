// Error handlers of communicators, windows and files, called by failing calls and by hand.
// ranks: 2 4 7
// mpi: mpich openmpi !mpich-abi !mpich>=5.0
// Not with Debian's MPICH 5.0.2, which accepts a rank that is none.
#include "check.h"
#include <mpi.h>

static int comm_calls, win_calls, file_calls;

static void on_comm(MPI_Comm *comm, int *code, ...) {
    int class, rank;
    MPI_Error_class(*code, &class); // handlers may call MPI
    MPI_Comm_rank(*comm, &rank);
    CHECK(class != MPI_SUCCESS && rank >= 0);
    comm_calls++;
}

static void on_win(MPI_Win *win, int *code, ...) {
    CHECK(*win != MPI_WIN_NULL && *code != MPI_SUCCESS);
    win_calls++;
}

static void on_file(MPI_File *file, int *code, ...) {
    (void)file;
    CHECK(*code != MPI_SUCCESS);
    file_calls++;
}

int main(int argc, char **argv) {
    int rank, size, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler mine, got;
    MPI_Comm_create_errhandler(on_comm, &mine);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&got);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, mine);
    MPI_Comm_get_errhandler(comm, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    CHECK(got == MPI_ERRHANDLER_NULL);
    for (int i = 0; i < 3; i++) {
        CHECK(MPI_Send(&x, 1, MPI_INT, size + i, 0, comm) != MPI_SUCCESS);
        CHECK(comm_calls == i + 1);
    }
    MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
    CHECK(comm_calls == 4);
    MPI_Errhandler_free(&mine);
    MPI_Comm_free(&comm);

    MPI_Win win;
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_create_errhandler(on_win, &mine);
    MPI_Win_set_errhandler(win, mine);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC);
    CHECK(win_calls == 1);
    MPI_Win_fence(0, win);
    CHECK(MPI_Put(&x, 1, MPI_INT, size + 1, 0, 1, MPI_INT, win) != MPI_SUCCESS && win_calls == 2);
    MPI_Win_fence(0, win);
    MPI_Errhandler_free(&mine);
    MPI_Win_free(&win);

    // Files: the handler of MPI_FILE_NULL is the one for failing opens.
    MPI_File_create_errhandler(on_file, &mine);
    MPI_File_get_errhandler(MPI_FILE_NULL, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&got);
    MPI_File_set_errhandler(MPI_FILE_NULL, mine);
    MPI_File file;
    CHECK(MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS);
    CHECK(file_calls == 1);
    // Reset before the next open: MPICH 4.0 doesn't count the reference that a new file inherits.
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    char path[SCRATCH_PATH];
    scratch_file(path);
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(file, mine);
    MPI_File_call_errhandler(file, MPI_ERR_IO);
    CHECK(file_calls == 2);
    MPI_File_close(&file);
    MPI_Errhandler_free(&mine);
    say(rank, "errhandlers: ok");
    MPI_Finalize();
    return 0;
}
