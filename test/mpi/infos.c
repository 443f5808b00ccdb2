// Info objects: set, get, enumerate, delete, duplicate; and infos handed to communicators.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, n, flag, length;
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL + 1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info info, copy, used;
    MPI_Info_create(&info);
    MPI_Info_set(info, "fruit", "apple");
    MPI_Info_set(info, "colour", "green");
    MPI_Info_set(info, "fruit", "pear"); // replaces
    MPI_Info_get_nkeys(info, &n);
    CHECK(n == 2);
    for (int i = 0; i < n; i++) {
        MPI_Info_get_nthkey(info, i, key);
        MPI_Info_get_valuelen(info, key, &length, &flag);
        CHECK(flag);
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
        CHECK(flag && (int)strlen(value) == length);
        CHECK(!strcmp(key, "fruit") ? !strcmp(value, "pear") : !strcmp(value, "green"));
    }
    MPI_Info_get(info, "shape", MPI_MAX_INFO_VAL, value, &flag);
    CHECK(!flag);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "fruit");
    MPI_Info_get_nkeys(info, &n);
    CHECK(n == 1);
    MPI_Info_get_nkeys(copy, &n);
    CHECK(n == 2);
#if MPI_VERSION >= 4
    length = 4;
    MPI_Info_get_string(copy, "fruit", &length, value, &flag);
    CHECK(flag && length == 5 && !strcmp(value, "pea"));
    MPI_Info env;
    MPI_Info_create_env(argc, argv, &env);
    MPI_Info_get_nkeys(env, &n);
    CHECK(n >= 0);
    MPI_Info_free(&env);
#endif
    MPI_Comm comm;
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, copy, &comm);
    MPI_Comm_set_info(comm, info);
    MPI_Comm_get_info(comm, &used);
    MPI_Info_get_nkeys(used, &n);
    CHECK(n >= 0);
    MPI_Info_free(&used);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Info_get_nkeys(MPI_INFO_ENV, &n);
    CHECK(n >= 0);
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    CHECK(info == MPI_INFO_NULL);
    say(rank, "infos: ok");
    MPI_Finalize();
    return 0;
}
