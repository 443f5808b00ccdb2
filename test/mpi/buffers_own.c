// Buffers of communicators and sessions beside the process's (MPI-4.1): attached, flushed, detached, and automatic ones.
// ranks: 1 2 4
// mpi: mpich>=4.2 openmpi>=6.0
#include "check.h"
#include <mpi.h>

enum { ROOM = 1000 + 4 * MPI_BSEND_OVERHEAD };

static char own[ROOM], common[ROOM];

// Each rank sends twice to its right, through whichever buffer is the communicator's, then flushes it.
static void around(MPI_Comm comm, int (*flush)(MPI_Comm), int (*iflush)(MPI_Comm, MPI_Request *)) {
    int rank, size, in = -1;
    MPI_Request req;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 2; i++) {
        OK(MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, i, comm, &req));
        OK(MPI_Bsend(&rank, 1, MPI_INT, (rank + 1) % size, i, comm));
        OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        CHECK(in == (rank + size - 1) % size);
        if (i == 0) {
            OK(flush(comm));
        } else {
            OK(iflush(comm, &req));
            OK(MPI_Wait(&req, MPI_STATUS_IGNORE));
        }
    }
}

static int flush_process(MPI_Comm comm) {
    (void)comm;
    return MPI_Buffer_flush();
}

static int iflush_process(MPI_Comm comm, MPI_Request *req) {
    (void)comm;
    return MPI_Buffer_iflush(req);
}

static MPI_Session session;

static int flush_session(MPI_Comm comm) {
    (void)comm;
    return MPI_Session_flush_buffer(session);
}

static int iflush_session(MPI_Comm comm, MPI_Request *req) {
    (void)comm;
    return MPI_Session_iflush_buffer(session, req);
}

int main(int argc, char **argv) {
    int rank, bytes;
    MPI_Count many;
    void *back;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);

    OK(MPI_Comm_attach_buffer(comm, own, ROOM));
    OK(MPI_Buffer_attach(common, ROOM));
    around(comm, MPI_Comm_flush_buffer, MPI_Comm_iflush_buffer);
    around(MPI_COMM_WORLD, flush_process, iflush_process);
    OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
    CHECK(back == own && bytes == ROOM);
    OK(MPI_Buffer_detach(&back, &bytes));
    CHECK(back == common && bytes == ROOM);

    OK(MPI_Comm_attach_buffer_c(comm, own, ROOM));
    around(comm, MPI_Comm_flush_buffer, MPI_Comm_iflush_buffer);
    OK(MPI_Comm_detach_buffer_c(comm, &back, &many));
    CHECK(back == own && many == ROOM);

    OK(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
    around(comm, MPI_Comm_flush_buffer, MPI_Comm_iflush_buffer);
    OK(MPI_Comm_detach_buffer(comm, &back, &bytes));
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    MPI_Comm_free(&comm);

    MPI_Group group;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Session_attach_buffer(session, own, ROOM));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "spoor-buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    around(comm, flush_session, iflush_session);
    OK(MPI_Session_detach_buffer(session, &back, &bytes));
    CHECK(back == own && bytes == ROOM);
    OK(MPI_Session_attach_buffer_c(session, own, ROOM));
    around(comm, flush_session, iflush_session);
    OK(MPI_Session_detach_buffer_c(session, &back, &many));
    CHECK(back == own && many == ROOM);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    OK(MPI_Session_finalize(&session));
    say(rank, "buffers_own: ok");
    MPI_Finalize();
    return 0;
}
