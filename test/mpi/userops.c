// Reductions with operators of the program: commutative or not, on basic and derived types, an operator that calls MPI.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>

struct affine { // x -> a x + b, composition is associative but not commutative
    long a, b;
};

static void compose(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    struct affine *f = in, *g = inout;
    for (int i = 0; i < *n; i++) {
        long a = f[i].a * g[i].a % 1000003, b = (g[i].a * f[i].b + g[i].b) % 1000003;
        g[i] = (struct affine){a, b};
    }
}

static void add_mod(void *in, void *inout, int *n, MPI_Datatype *type) {
    int bytes, *x = in, *y = inout;
    MPI_Type_size(*type, &bytes); // a callback may ask about its datatype
    CHECK(bytes == sizeof(int));
    for (int i = 0; i < *n; i++)
        y[i] = (x[i] + y[i]) % 97;
}

int main(int argc, char **argv) {
    int rank, size, commutes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Op chain, mod;
    MPI_Op_create(compose, 0, &chain);
    MPI_Op_create(add_mod, 1, &mod);
    MPI_Op_commutative(chain, &commutes);
    CHECK(!commutes);
    MPI_Op_commutative(mod, &commutes);
    CHECK(commutes);
    MPI_Op_commutative(MPI_SUM, &commutes);
    CHECK(commutes);

    MPI_Datatype map;
    MPI_Type_contiguous(2, MPI_LONG, &map);
    MPI_Type_commit(&map);
    struct affine mine = {rank + 2, rank + 5}, all, upto, want = {1, 0};
    MPI_Allreduce(&mine, &all, 1, map, chain, MPI_COMM_WORLD);
    MPI_Scan(&mine, &upto, 1, map, chain, MPI_COMM_WORLD);
    for (int r = 0, one = 1; r < size; r++) {
        struct affine next = {r + 2, r + 5};
        compose(&want, &next, &one, NULL);
        want = next;
        if (r == rank)
            CHECK(upto.a == want.a && upto.b == want.b);
    }
    CHECK(all.a == want.a && all.b == want.b);

    int x[5], y[5];
    for (int i = 0; i < 5; i++)
        x[i] = (rank + 1) * 20 + i;
    MPI_Reduce(x, y, 5, MPI_INT, mod, size - 1, MPI_COMM_WORLD);
    if (rank == size - 1)
        for (int i = 0; i < 5; i++)
            CHECK((10 * size * (size + 1) + i * size - y[i]) % 97 == 0);
    int u[2] = {60, 10}, w[2] = {60, 20};
    MPI_Reduce_local(u, w, 2, MPI_INT, mod);
    CHECK(w[0] == 23 && w[1] == 30);

    MPI_Op_free(&chain);
    MPI_Op_free(&mod);
    CHECK(chain == MPI_OP_NULL);
    MPI_Type_free(&map);
    say(rank, "userops: (%ld, %ld)", all.a, all.b);
    MPI_Finalize();
    return 0;
}
