// Attributes with predefined callbacks: MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN and those of datatypes and windows.
// ranks: 1 2
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int answer = 42;

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int none, both, flag;
    void *value;

    MPI_Comm dup;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &both, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, none, &answer));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, both, &answer));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_get_attr(dup, none, &value, &flag));
    CHECK(!flag);
    OK(MPI_Comm_get_attr(dup, both, &value, &flag));
    CHECK(flag && value == &answer);
    OK(MPI_Comm_free(&dup));
    OK(MPI_Comm_free_keyval(&none));
    OK(MPI_Comm_free_keyval(&both));

    MPI_Datatype again;
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &none, NULL));
    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &both, NULL));
    OK(MPI_Type_set_attr(MPI_INT, none, &answer));
    OK(MPI_Type_set_attr(MPI_INT, both, &answer));
    OK(MPI_Type_dup(MPI_INT, &again));
    OK(MPI_Type_get_attr(again, none, &value, &flag));
    CHECK(!flag);
    OK(MPI_Type_get_attr(again, both, &value, &flag));
    CHECK(flag && value == &answer);
    OK(MPI_Type_free(&again));
    OK(MPI_Type_delete_attr(MPI_INT, none));
    OK(MPI_Type_delete_attr(MPI_INT, both));

    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &none, NULL));
    OK(MPI_Win_free_keyval(&none));
    OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &both, NULL));
    OK(MPI_Win_free_keyval(&both));
    MPI_Finalize();
    return 0;
}
