// Comm_spawn_multiple: two kinds of children with different arguments in one world.
// ranks: 1 2
// mpi: openmpi !openmpi=5.0
// Not with Open MPI 5.0.7, whose launcher crashes in MPI_Comm_spawn_multiple.
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, n, *appnum, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm other;
    MPI_Comm_get_parent(&other);
    if (other != MPI_COMM_NULL) {
        CHECK(argc == 2);
        MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &flag);
        int kind = argv[1][0] - 'a';
        CHECK(!flag || *appnum == kind);
        MPI_Comm_size(MPI_COMM_WORLD, &n);
        CHECK(n == 3 && kind == (rank == 2));
        MPI_Send(&kind, 1, MPI_INT, 0, rank, other);
        MPI_Comm_disconnect(&other);
        MPI_Finalize();
        return 0;
    }
    char self[1024], *a[] = {"a", NULL}, *b[] = {"b", NULL}, *commands[2] = {self, self}, **args[2] = {a, b};
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(length > 0);
    self[length] = '\0';
    int counts[2] = {2, 1};
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm_spawn_multiple(2, commands, args, counts, infos, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    MPI_Comm_remote_size(other, &n);
    CHECK(n == 3);
    if (rank == 0)
        for (int i = 0; i < 3; i++) {
            int kind = -1;
            MPI_Recv(&kind, 1, MPI_INT, i, i, other, MPI_STATUS_IGNORE);
            CHECK(kind == (i == 2));
        }
    MPI_Comm_disconnect(&other);
    say(rank, "spawn_multiple: %d children", n);
    MPI_Finalize();
    return 0;
}
