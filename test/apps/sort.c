// Sample sort: keys go to the rank whose range they fall in, with counts that depend on the data. Checks that all keys
// are there, in order within and across ranks.
#include "apps.h"

static int order(const void *a, const void *b) {
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Options o = options(argc, argv, 1000, 10); // n: keys on each rank; iterations: sorts
    int size, rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int n = (int)o.n;
    unsigned *keys = room(n, sizeof *keys), *samples = room((size_t)size * size, sizeof *samples), *mine = room(size, sizeof *mine);
    int *counts = room(size, sizeof(int)), *from = room(size, sizeof(int));
    int *incoming = room(size, sizeof(int)), *into = room(size, sizeof(int));
    unsigned long seed = 12345 + 977UL * (unsigned)rank;
    long sorts = 0;
    for (int block = 0; more(&o, block); block++) {
        for (long k = 0; k < o.iterations; k++, sorts++) {
            unsigned long before[2] = {0, (unsigned long)n}, after[2] = {0, 0}, all[2], now[2];
            for (int i = 0; i < n; i++) {
                keys[i] = (unsigned)next_random(&seed);
                before[0] += keys[i];
            }
            qsort(keys, n, sizeof *keys, order);
            for (int i = 0; i < size; i++)
                mine[i] = keys[(long)n * i / size];
            MPI_Allgather(mine, size, MPI_UNSIGNED, samples, size, MPI_UNSIGNED, MPI_COMM_WORLD);
            qsort(samples, (size_t)size * size, sizeof *samples, order);
            for (int i = 0, at = 0; i < size; i++) {
                from[i] = at;
                while (at < n && (i == size - 1 || keys[at] < samples[(size_t)size * (i + 1)]))
                    at++;
                counts[i] = at - from[i];
            }
            MPI_Alltoall(counts, 1, MPI_INT, incoming, 1, MPI_INT, MPI_COMM_WORLD);
            int total = 0;
            for (int i = 0; i < size; i++) {
                into[i] = total;
                total += incoming[i];
            }
            unsigned *sorted = room(total, sizeof *sorted);
            MPI_Alltoallv(keys, counts, from, MPI_UNSIGNED, sorted, incoming, into, MPI_UNSIGNED, MPI_COMM_WORLD);
            qsort(sorted, total, sizeof *sorted, order);
            for (int i = 0; i < total; i++)
                after[0] += sorted[i];
            after[1] = (unsigned long)total;
            MPI_Reduce(before, all, 2, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
            MPI_Reduce(after, now, 2, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
            if (rank == 0 && (all[0] != now[0] || all[1] != now[1]))
                fail("keys were lost");
            // The largest key so far goes to the right.
            unsigned top = 0;
            if (rank > 0)
                MPI_Recv(&top, 1, MPI_UNSIGNED, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (total > 0) {
                if (sorted[0] < top)
                    fail("order across ranks");
                top = sorted[total - 1];
            }
            if (rank < size - 1)
                MPI_Send(&top, 1, MPI_UNSIGNED, rank + 1, 7, MPI_COMM_WORLD);
            free(sorted);
        }
    }
    if (rank == 0)
        printf("sort: %d ranks, %ld sorts of %ld keys, right\n", size, sorts, o.n * size);
    free(keys), free(samples), free(mine), free(counts), free(from), free(incoming), free(into);
    MPI_Finalize();
}
