// Names of communicators, datatypes and windows, those of predefined objects included; Comm_idup.
// ranks: 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
    CHECK(!strcmp(name, "MPI_COMM_WORLD") && length == 14);
    MPI_Comm a, b;
    MPI_Request req[2];
    MPI_Comm_idup(MPI_COMM_WORLD, &a, &req[0]);
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    MPI_Comm_idup(a, &b, &req[0]);
    MPI_Ibarrier(a, &req[1]); // two things under way
    MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
    MPI_Comm_get_name(a, name, &length);
    CHECK(length == 0);
    MPI_Comm_set_name(a, "halo exchange");
    MPI_Comm_get_name(a, name, &length);
    CHECK(!strcmp(name, "halo exchange"));
    int sum;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, b);
    CHECK(sum == size * (size - 1) / 2);
#if MPI_VERSION >= 4
    MPI_Comm c;
    MPI_Comm_idup_with_info(a, MPI_INFO_NULL, &c, &req[0]);
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    MPI_Barrier(c);
    MPI_Comm_free(&c);
#endif
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);

    MPI_Datatype t;
    MPI_Type_get_name(MPI_DOUBLE, name, &length);
    CHECK(!strcmp(name, "MPI_DOUBLE"));
    MPI_Type_contiguous(4, MPI_INT, &t);
    MPI_Type_set_name(t, "");
    MPI_Type_get_name(t, name, &length);
    CHECK(length == 0);
    MPI_Type_set_name(t, "quad");
    MPI_Type_get_name(t, name, &length);
    CHECK(!strcmp(name, "quad") && length == 4);
    MPI_Type_free(&t);

    int cell = rank;
    MPI_Win win;
    MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "cells of every rank");
    MPI_Win_get_name(win, name, &length);
    CHECK(!strcmp(name, "cells of every rank"));
    MPI_Win_free(&win);
    say(rank, "commnames: ok");
    MPI_Finalize();
    return 0;
}
