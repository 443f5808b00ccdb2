// The calls that are allowed before MPI_Init and after MPI_Finalize, and MPI_Init with NULL arguments.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

static void any_time(int initialized, int finalized) {
    int flag = -1, version, sub, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&flag);
    CHECK(flag == initialized);
    MPI_Finalized(&flag);
    CHECK(flag == finalized);
    MPI_Get_version(&version, &sub);
    CHECK(version == MPI_VERSION && sub == MPI_SUBVERSION);
    MPI_Get_library_version(text, &length);
    CHECK(length > 0 && text[0] != '\0');
}

int main(void) {
    int rank, provided;
    any_time(0, 0);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    any_time(1, 0);
    CHECK(provided >= MPI_THREAD_SINGLE);
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Get_processor_name(name, &length);
    CHECK(length > 0 && strlen(name) == (size_t)length);
    double tick = MPI_Wtick(), start = MPI_Wtime();
    CHECK(tick > 0 && MPI_Wtime() >= start);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Pcontrol(1);
    say(rank, "outside: ok");
    MPI_Finalize();
    any_time(1, 1);
    return 0;
}
