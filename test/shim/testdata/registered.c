// The plugin of registers.c: it tells the program what to call from a constructor, which may call MPI itself. Nobody looks
// a symbol of it up. One of its references to MPI is in data.
#include <mpi.h>
#include <stdlib.h>

void registers(void (*work)(void));

static int (*const volatile barrier)(MPI_Comm) = MPI_Barrier;

static void work(void) {
    int sum;
#ifdef BARE
    MPI_Init(NULL, NULL);
#endif
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    barrier(MPI_COMM_WORLD);
#ifdef BARE
    MPI_Finalize();
#endif
}

__attribute__((constructor)) static void begin(void) {
    int size;
    if (getenv("FROM_CONSTRUCTOR"))
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    registers(work);
}
