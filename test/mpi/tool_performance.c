// The tool interface's performance variables: sessions, handles, start, stop, read, reset.
// ranks: 1 2
// mpi: mpich openmpi !mpich-abi
#include "check.h"
#include <mpi.h>

static int tried;

static void exercise(MPI_T_pvar_session session, int at, int continuous, int readonly) {
    MPI_T_pvar_handle handle;
    int count;
    double space[512];
    MPI_Comm world = MPI_COMM_WORLD;
    if (MPI_T_pvar_handle_alloc(session, at, &world, &handle, &count) != MPI_SUCCESS)
        return;
    CHECK(count >= 0);
    // Continuous variables can't be started, read-only ones not be written; they must say so.
    CHECK((MPI_T_pvar_start(session, handle) == MPI_SUCCESS) == !continuous);
    MPI_Barrier(MPI_COMM_SELF);
    if (count <= 64) {
        OK(MPI_T_pvar_read(session, handle, space));
        CHECK((MPI_T_pvar_write(session, handle, space) == MPI_SUCCESS) == !readonly);
        CHECK((MPI_T_pvar_reset(session, handle) == MPI_SUCCESS) == !readonly);
        CHECK((MPI_T_pvar_readreset(session, handle, space) == MPI_SUCCESS) == !readonly);
        tried++;
    }
    CHECK((MPI_T_pvar_stop(session, handle) == MPI_SUCCESS) == !continuous);
    OK(MPI_T_pvar_handle_free(session, &handle));
    CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
}

int main(int argc, char **argv) {
    int rank, level, n, at;
    MPI_Init(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &level));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_T_pvar_session session;
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_get_num(&n));
    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        char name[256], text[512];
        int name_len = sizeof name, text_len = sizeof text, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum choice;
        if (MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &choice, text, &text_len, &bind,
                                &readonly, &continuous, &atomic) != MPI_SUCCESS)
            continue;
        OK(MPI_T_pvar_get_index(name, class, &at));
        CHECK(at == i);
        if (!strncmp(name, "mtl_", 4))
            continue; // Open MPI 4.1 crashes when the variables of a device that isn't in use are read
        if (bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM)
            exercise(session, i, continuous, readonly);
    }
    CHECK(MPI_T_pvar_get_index("spoor-test: no such variable", MPI_T_PVAR_CLASS_COUNTER, &at) != MPI_SUCCESS);
    if (n == 0) { // MPICH's usual build has no variables: then null handles have to be refused
        double x = 0;
        MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
        OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
        OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
        OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
        CHECK(MPI_T_pvar_read(session, handle, &x) != MPI_SUCCESS);
        CHECK(MPI_T_pvar_write(session, handle, &x) != MPI_SUCCESS);
        CHECK(MPI_T_pvar_readreset(session, handle, &x) != MPI_SUCCESS);
        CHECK(MPI_T_pvar_handle_free(session, &handle) != MPI_SUCCESS);
    }
    OK(MPI_T_pvar_session_free(&session));
    say(rank, "tool_performance: %d of %d variables", tried, n);
    OK(MPI_T_finalize());
    MPI_Finalize();
    return 0;
}
