// The sessions model (MPI-4): no MPI_Init, process sets, communicators made from groups, error handlers of sessions.
// ranks: 1 2 4
// mpi: mpich
#include "check.h"
#include <mpi.h>

static int handled;

static void on_error(MPI_Session *session, int *code, ...) {
    CHECK(*session != MPI_SESSION_NULL && *code != MPI_SUCCESS);
    handled++;
}

int main(void) {
    MPI_Session session, second;
    MPI_Errhandler mine, got;
    MPI_Info info, used;
    int n, length, flag, rank, size, sum;
    char name[256], value[32];
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second));
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE");
    // (MPI-4 allows these before any session; MPICH 4.0 does not.)
    OK(MPI_Session_create_errhandler(on_error, &mine));
    OK(MPI_Session_init(info, mine, &session));
    MPI_Info_free(&info);
    OK(MPI_Session_set_errhandler(session, mine)); // MPICH 4.0 forgets the one given to Session_init
    OK(MPI_Session_get_errhandler(session, &got));
    CHECK(got == mine);
    MPI_Errhandler_free(&got);
    OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    CHECK(handled == 1);
    OK(MPI_Session_get_info(session, &used));
    MPI_Info_get_nkeys(used, &n);
    CHECK(n >= 0);
    MPI_Info_free(&used);

    int world = 0;
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
    for (int i = 0; i < n; i++) {
        length = sizeof name;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
        world |= !strcmp(name, "mpi://WORLD");
        OK(MPI_Session_get_pset_info(session, name, &info));
        length = sizeof value;
        MPI_Info_get_string(info, "mpi_size", &length, value, &flag);
        CHECK(flag && atoi(value) >= 1);
        MPI_Info_free(&info);
    }
    CHECK(world);
    MPI_Group group, odd;
    MPI_Comm comm, half;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "spoor-test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * (size - 1) / 2);
    int range[1][3] = {{rank % 2, size - 1, 2}};
    MPI_Group_range_incl(group, 1, range, &odd);
    OK(MPI_Comm_create_from_group(odd, "spoor-halves", MPI_INFO_NULL, MPI_ERRORS_RETURN, &half));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half));
    MPI_Comm_size(half, &n);
    CHECK(sum == n * (n - 1) + n * (rank % 2));
    MPI_Comm_free(&half);
    MPI_Group_free(&odd);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Errhandler_free(&mine);
    OK(MPI_Session_finalize(&second));
    OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
    say(rank, "sessions: ok");
    return 0;
}
