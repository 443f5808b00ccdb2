// Attributes on communicators, datatypes and windows, with callbacks that themselves call MPI; predefined attributes.
// ranks: 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static int copies, deletes, slots[4] = {10, 11, 12, 13};

static int copy_comm(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    int size; // MPI calls from within MPI_Comm_dup
    MPI_Comm_size(comm, &size);
    CHECK(size >= 1 && key != MPI_KEYVAL_INVALID && extra == slots && in == &slots[0]);
    *(void **)out = &slots[1];
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int key, void *value, void *extra) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    CHECK(rank >= 0 && key != MPI_KEYVAL_INVALID && value != NULL && extra == slots);
    deletes++;
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int key, void *value, void *extra) {
    int size;
    MPI_Type_size(type, &size);
    CHECK(size == 8 && key != MPI_KEYVAL_INVALID && value && !extra);
    deletes++;
    return MPI_SUCCESS;
}

static int delete_win(MPI_Win win, int key, void *value, void *extra) {
    MPI_Group group;
    MPI_Win_get_group(win, &group);
    MPI_Group_free(&group);
    CHECK(key != MPI_KEYVAL_INVALID && value && !extra);
    deletes++;
    return MPI_SUCCESS;
}

static void on_comm(void) {
    int key, flag, *value;
    MPI_Comm dup;
    MPI_Comm_create_keyval(copy_comm, delete_comm, &key, slots);
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &slots[0]);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Comm_get_attr(dup, key, &value, &flag);
        CHECK(flag && value == &slots[1] && copies == i + 1);
        MPI_Comm_free(&dup);
        CHECK(deletes == i + 1);
    }
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    CHECK(deletes == 4);
    MPI_Comm_free_keyval(&key);
    CHECK(key == MPI_KEYVAL_INVALID);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &slots[2]);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_attr(dup, key, &value, &flag);
    CHECK(flag && *value == 12);
    MPI_Comm_free(&dup);
    MPI_Comm_free_keyval(&key); // lives on until the world's attribute is gone
}

static void on_type(void) {
    int key, flag, *value;
    MPI_Datatype type, dup;
    MPI_Type_create_keyval(MPI_TYPE_DUP_FN, delete_type, &key, NULL);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, key, &slots[3]);
    MPI_Type_dup(type, &dup);
    MPI_Type_get_attr(dup, key, &value, &flag);
    CHECK(flag && value == &slots[3]);
    deletes = 0;
    MPI_Type_delete_attr(dup, key);
    CHECK(deletes == 1);
    MPI_Type_free(&type); // its attribute may stay until the duplicate is gone as well
    MPI_Type_free(&dup);
    CHECK(deletes == 2);
    MPI_Type_free_keyval(&key);
}

static void on_win(void) {
    int key, flag, *value, cells[3] = {0};
    MPI_Win win;
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &key, NULL);
    MPI_Win_create(cells, sizeof cells, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_attr(win, key, &slots[1]);
    MPI_Win_get_attr(win, key, &value, &flag);
    CHECK(flag && *value == 11);
    deletes = 0;
    MPI_Win_delete_attr(win, key);
    MPI_Win_set_attr(win, key, &slots[2]);
    void *base;
    MPI_Aint *bytes;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag);
    CHECK(flag && base == cells);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &bytes, &flag);
    CHECK(flag && *bytes == sizeof cells);
    MPI_Win_free(&win);
    CHECK(deletes == 2);
    MPI_Win_free_keyval(&key);
}

int main(int argc, char **argv) {
    int rank, flag, *tag_ub;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &flag);
    CHECK(flag && *tag_ub >= 32767);
    on_comm();
    on_type();
    on_win();
    say(rank, "attributes: ok");
    MPI_Finalize();
    return 0;
}
