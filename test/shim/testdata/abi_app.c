// A program built for the standard ABI of MPI 5.0, with that ABI's numbers written out.
#include <stdint.h>
#include <stdio.h>

int MPI_Init(int *, char ***);
int MPI_Finalize(void);
int MPI_Comm_dup(intptr_t, intptr_t *);
int MPI_Comm_free(intptr_t *);
int MPI_Send(const void *, int, intptr_t, int, int, intptr_t);
int MPI_Recv(void *, int, intptr_t, int, int, intptr_t, void *);

enum { ANY_SOURCE = -1, ANY_TAG = -2, WORLD = 0x101, INT = 0x209 };

int main(int argc, char **argv) {
    int in = 42, out = 0;
    intptr_t comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(WORLD, &comm);
    MPI_Send(&in, 1, INT, 0, 7, comm);
    MPI_Recv(&out, 1, INT, ANY_SOURCE, ANY_TAG, comm, NULL);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    printf("got %d\n", out);
}
