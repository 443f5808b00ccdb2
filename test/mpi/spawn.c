// Comm_spawn of two more copies of the program, which find Comm_get_parent, exchange data, and disconnect.
// ranks: 1 2
// mpi: openmpi
#include "check.h"
#include <mpi.h>

enum { CHILDREN = 2 };

static void child(MPI_Comm parent, int argc, char **argv) {
    int rank, parents, word = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_remote_size(parent, &parents);
    CHECK(argc == 3 && !strcmp(argv[1], "child") && !strcmp(argv[2], "x y"));
    MPI_Bcast(&word, 1, MPI_INT, 0, parent);
    CHECK(word == 1234);
    int mine = rank + 10;
    MPI_Gather(&mine, 1, MPI_INT, NULL, 0, MPI_INT, 0, parent);
    MPI_Comm all;
    MPI_Intercomm_merge(parent, 1, &all);
    int sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == 21 + parents * 100);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv) {
    int rank, n, codes[CHILDREN], answers[CHILDREN], word = 1234, sum, hundred = 100, size;
    MPI_Init(&argc, &argv);
    MPI_Comm parent, kids, all;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, argc, argv);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char self[1024], *args[] = {"child", "x y", NULL};
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(length > 0);
    self[length] = '\0';
    // Only the root's command counts.
    MPI_Comm_spawn(rank == 0 ? self : "", rank == 0 ? args : MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                   &kids, codes);
    MPI_Comm_remote_size(kids, &n);
    CHECK(n == CHILDREN && codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    int root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(&word, 1, MPI_INT, root, kids);
    MPI_Gather(NULL, 0, MPI_INT, answers, 1, MPI_INT, root, kids);
    CHECK(rank != 0 || (answers[0] == 10 && answers[1] == 11));
    MPI_Intercomm_merge(kids, 0, &all);
    MPI_Allreduce(&hundred, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == 21 + size * 100);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&kids);
    say(rank, "spawn: %d children", n);
    MPI_Finalize();
    return 0;
}
