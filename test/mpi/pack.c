// Pack and Unpack, MPI_PACKED messages, and the external32 forms.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, at = 0, need, part, id = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    double values[5], back[5];
    for (int i = 0; i < 5; i++)
        values[i] = rank + i / 8.0;

    MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &need);
    MPI_Pack_size(5, MPI_DOUBLE, MPI_COMM_WORLD, &part);
    need += part;
    char *out = malloc(need), *in = malloc(need);
    CHECK(out && in);
    MPI_Pack(&rank, 1, MPI_INT, out, need, &at, MPI_COMM_WORLD);
    MPI_Pack(values, 5, MPI_DOUBLE, out, need, &at, MPI_COMM_WORLD);
    CHECK(at == (int)(sizeof(int) + sizeof values));
    MPI_Sendrecv(out, at, MPI_PACKED, right, 0, in, need, MPI_PACKED, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    at = 0;
    MPI_Unpack(in, need, &at, &id, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(in, need, &at, back, 5, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(id == left && back[4] == left + 4 / 8.0);

    MPI_Aint bytes, where = 0;
    MPI_Pack_external_size("external32", 5, MPI_DOUBLE, &bytes);
    CHECK(bytes == 40);
    unsigned char ext[64];
    int one = 1;
    MPI_Pack_external("external32", &one, 1, MPI_INT, ext, sizeof ext, &where);
    CHECK(where == 4 && ext[0] == 0 && ext[3] == 1); // big endian
    MPI_Pack_external("external32", values, 5, MPI_DOUBLE, ext, sizeof ext, &where);
    CHECK(where == 44);
    where = 0;
    one = 0;
    MPI_Unpack_external("external32", ext, sizeof ext, &where, &one, 1, MPI_INT);
    MPI_Unpack_external("external32", ext, sizeof ext, &where, back, 5, MPI_DOUBLE);
    CHECK(one == 1 && memcmp(back, values, sizeof values) == 0);
    free(out);
    free(in);
    say(rank, "pack: ok");
    MPI_Finalize();
    return 0;
}
