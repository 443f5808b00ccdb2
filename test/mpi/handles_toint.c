// Handles to integers and back, of every kind (MPI-5.0).
// ranks: 1 2
// mpi: mpich>=5.0 openmpi>=6.0
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, in = -1, out = 5;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group);
    MPI_Group_free(&group);
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    CHECK(MPI_Type_fromint(MPI_Type_toint(type)) == type);
    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_CHARACTER)) == MPI_CHARACTER);
    MPI_Type_free(&type);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_MAX)) == MPI_MAX);
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    MPI_Info info;
    MPI_Info_create(&info);
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    MPI_Info_free(&info);

    MPI_Request req;
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &req);
    CHECK(MPI_Request_fromint(MPI_Request_toint(req)) == req);
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    CHECK(in == out);
    MPI_Message msg;
    MPI_Isend(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &req);
    MPI_Mprobe(0, 2, MPI_COMM_SELF, &msg, MPI_STATUS_IGNORE);
    CHECK(MPI_Message_fromint(MPI_Message_toint(msg)) == msg);
    MPI_Mrecv(&in, 1, MPI_INT, &msg, MPI_STATUS_IGNORE);
    MPI_Wait(&req, MPI_STATUS_IGNORE);

    MPI_Win win;
    MPI_Win_create(&in, sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(MPI_Win_fromint(MPI_Win_toint(win)) == win);
    MPI_Win_free(&win);
    char path[SCRATCH_PATH];
    scratch_file(path);
    MPI_File file;
    MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    CHECK(MPI_File_fromint(MPI_File_toint(file)) == file);
    MPI_File_close(&file);
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session);
    MPI_Session_finalize(&session);
    say(rank, "handles_toint: ok");
    MPI_Finalize();
    return 0;
}
