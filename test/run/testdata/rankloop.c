// Many cheap calls; at the end each rank tells the most memory that it took.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    for (long i = atol(argv[1]); i > 0; i--)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            printf("%s", line);
    return 0;
}
