// Requests finished one by one with Waitany, in whatever order they complete, until MPI_UNDEFINED.
// ranks: 1 2 4 7
// mpi: mpich openmpi
// nondet: completion order
#include "check.h"
#include <mpi.h>

enum { EACH = 8 };

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int n = EACH * size;
    MPI_Request *req = malloc(2 * n * sizeof *req);
    int *in = malloc(n * sizeof *in), *out = malloc(n * sizeof *out), *hits = calloc(2 * n, sizeof *hits);
    CHECK(req && in && out && hits);
    for (int p = 0; p < size; p++)
        for (int i = 0; i < EACH; i++)
            MPI_Irecv(&in[p * EACH + i], 1, MPI_INT, p, i, MPI_COMM_WORLD, &req[p * EACH + i]);
    for (int p = 0; p < size; p++)
        for (int i = 0; i < EACH; i++) {
            int at = p * EACH + EACH - 1 - i; // the other way round than the receives
            out[at] = rank * 1000 + p * 100 + at % EACH;
            MPI_Isend(&out[at], 1, MPI_INT, p, at % EACH, MPI_COMM_WORLD, &req[n + at]);
        }
    for (;;) {
        int at;
        MPI_Status st;
        MPI_Waitany(2 * n, req, &at, &st);
        if (at == MPI_UNDEFINED)
            break;
        CHECK(at >= 0 && at < 2 * n && req[at] == MPI_REQUEST_NULL);
        hits[at]++;
        if (at < n) {
            CHECK(st.MPI_SOURCE == at / EACH && st.MPI_TAG == at % EACH);
            CHECK(in[at] == st.MPI_SOURCE * 1000 + rank * 100 + st.MPI_TAG);
        }
    }
    for (int i = 0; i < 2 * n; i++)
        CHECK(hits[i] == 1);
    say(rank, "waitany: %d requests", 2 * n);
    free(req);
    free(in);
    free(out);
    free(hits);
    MPI_Finalize();
    return 0;
}
