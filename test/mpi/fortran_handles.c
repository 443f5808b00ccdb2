// Handles to Fortran integers and back, of every kind.
// ranks: 2 4
// mpi: mpich openmpi !openmpi-abi !mpich-abi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL);
    MPI_Comm_free(&comm);
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    MPI_Group_free(&group);
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
    MPI_Type_free(&type);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    MPI_Info info;
    MPI_Info_create(&info);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    MPI_Info_free(&info);

    // A request that goes through Fortran's number while it is active.
    int in = -1, out = rank;
    MPI_Request req, again;
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &req);
    MPI_Fint number = MPI_Request_c2f(req);
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    again = MPI_Request_f2c(number);
    CHECK(again == req);
    MPI_Wait(&again, MPI_STATUS_IGNORE);
    CHECK(in == rank);
    MPI_Message msg;
    MPI_Isend(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &req);
    MPI_Mprobe(0, 2, MPI_COMM_SELF, &msg, MPI_STATUS_IGNORE);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(msg)) == msg);
    MPI_Mrecv(&in, 1, MPI_INT, &msg, MPI_STATUS_IGNORE);
    MPI_Wait(&req, MPI_STATUS_IGNORE);

    MPI_Win win;
    MPI_Win_create(&in, sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
    MPI_Win_free(&win);
    char path[SCRATCH_PATH];
    scratch_file(path);
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
    MPI_File_close(&file);
    CHECK(file == MPI_FILE_NULL && access(path, F_OK) != 0);
    say(rank, "fortran_handles: ok");
    MPI_Finalize();
    return 0;
}
