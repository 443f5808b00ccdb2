// Calls that fail and return: MPI_ERRORS_RETURN with a bad rank, count, tag, communicator; truncation; error texts.
// ranks: 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}

int main(int argc, char **argv) {
    int rank, size, x = 0, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    CHECK(class_of(MPI_Send(&x, 1, MPI_INT, size, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK);
    CHECK(class_of(MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_COUNT);
    CHECK(class_of(MPI_Send(&x, 1, MPI_INT, 0, -5, MPI_COMM_WORLD)) == MPI_ERR_TAG);
    CHECK(class_of(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD)) == MPI_ERR_TYPE);
    CHECK(class_of(MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_NULL)) == MPI_ERR_COMM);
    CHECK(class_of(MPI_Bcast(&x, 1, MPI_INT, -7, MPI_COMM_WORLD)) == MPI_ERR_ROOT);
    MPI_Request req = MPI_REQUEST_NULL;
    CHECK(class_of(MPI_Isend(&x, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD, &req)) == MPI_ERR_RANK);
    MPI_Comm none;
    CHECK(MPI_Comm_dup(MPI_COMM_NULL, &none) != MPI_SUCCESS);
    CHECK(MPI_Comm_free(&(MPI_Comm){MPI_COMM_NULL}) != MPI_SUCCESS);

    // A message longer than the buffer: the error is known when the receive completes.
    int right = (rank + 1) % size, left = (rank + size - 1) % size, big[8] = {0}, small[2];
    MPI_Status st[2];
    MPI_Request both[2];
    MPI_Irecv(small, 2, MPI_INT, left, 1, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(big, 8, MPI_INT, right, 1, MPI_COMM_WORLD, &both[1]);
    int rc = MPI_Wait(&both[0], &st[0]);
    CHECK(class_of(rc) == MPI_ERR_TRUNCATE);
    MPI_Wait(&both[1], MPI_STATUS_IGNORE);

    MPI_Irecv(small, 2, MPI_INT, left, 2, MPI_COMM_WORLD, &both[0]);
    MPI_Irecv(&x, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &both[1]);
    MPI_Request sends[2];
    MPI_Isend(big, 8, MPI_INT, right, 2, MPI_COMM_WORLD, &sends[0]);
    MPI_Isend(big, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &sends[1]);
    rc = MPI_Waitall(2, both, st);
    CHECK(class_of(rc) == MPI_ERR_IN_STATUS && class_of(st[0].MPI_ERROR) == MPI_ERR_TRUNCATE);
    CHECK(st[1].MPI_ERROR == MPI_SUCCESS || st[1].MPI_ERROR == MPI_ERR_PENDING);
    if (both[1] != MPI_REQUEST_NULL)
        MPI_Wait(&both[1], MPI_STATUS_IGNORE);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);

    MPI_Error_string(rc, text, &length);
    CHECK(length > 0 && strlen(text) == (size_t)length);
    int class, code;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "a code of the program's own");
    MPI_Error_string(code, text, &length);
    CHECK(strcmp(text, "a code of the program's own") == 0 && class_of(code) == class);

    MPI_Barrier(MPI_COMM_WORLD); // after all that, the world still works
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    say(rank, "errors: ok");
    MPI_Finalize();
    return 0;
}
