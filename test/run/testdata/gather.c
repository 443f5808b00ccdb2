/* Calls that wait for all processes, and one of these doesn't come: argv[1] says which call. What it spawns comes as CHILD does. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int launched_as(void) {
    const char *rank = getenv("PMI_RANK");
    return atoi(rank ? rank : getenv("OMPI_COMM_WORLD_RANK"));
}

int main(int argc, char **argv) {
    const char *mode = argv[1];
    int rank;
    if ((!strcmp(mode, "init") || !strcmp(mode, "child")) && launched_as() == 1)
        for (;;)
            sleep(1);
    if (!strcmp(mode, "thread"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &rank);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!strcmp(mode, "spawn")) {
        char *args[] = {"child", NULL};
        MPI_Comm children;
        MPI_Comm_spawn(argv[0], args, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    }
    while (!strcmp(mode, "finalize") && rank == 1)
        sleep(1);
    MPI_Finalize();
    return 0;
}
