// Children of a rank: forked ones call malloc and MPI_Initialized, and must neither write into the parent's rings nor
// remove its files; system() and posix_spawn start programs that know nothing of MPI.
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv) {
    int rank, n = 0, status, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 100; k++) {
                char *p = malloc(100000);
                memset(p, 1, 100000);
                free(p);
                MPI_Initialized(&flag);
            }
            _exit(7);
        }
        waitpid(child, &status, 0);
        n += WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
    n += system("exit 3") >> 8 == 3;
    char *args[] = {"true", NULL};
    pid_t child;
    n += posix_spawnp(&child, "true", NULL, NULL, args, environ) == 0 && waitpid(child, &status, 0) == child && status == 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d children did well\n", n);
    MPI_Finalize();
}
