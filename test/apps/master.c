// A master hands out work one piece at a time to whoever asks, wildcards and all: count the primes of intervals, whose
// sizes differ. Alone, it does the work itself. The number of primes below 10,000 k is compared with a plain sieve.
#include "apps.h"

enum { Task = 1, Result, Stop };

static long primes(long from, long to) {
    long n = 0;
    for (long i = from < 2 ? 2 : from; i < to; i++) {
        long d = 2;
        while (d * d <= i && i % d)
            d++;
        n += d * d > i;
    }
    return n;
}

static long sieve(long limit) {
    char *out = room(limit + 1, 1);
    long n = 0;
    for (long i = 2; i < limit; i++) {
        if (out[i])
            continue;
        n++;
        for (long k = 2 * i; k < limit; k += i)
            out[k] = 1;
    }
    free(out);
    return n;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Options o = options(argc, argv, 500, 100); // n: numbers in a piece; iterations: pieces
    int size, rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long rounds = 0, limit = o.n * o.iterations;
    for (int block = 0; more(&o, block); block++, rounds++) {
        if (rank == 0) {
            long next = 0, found = 0, piece[2];
            int working = 0;
            for (int w = 1; w < size; w++, next++) {
                if (next >= o.iterations) {
                    MPI_Send(piece, 0, MPI_LONG, w, Stop, MPI_COMM_WORLD);
                    continue;
                }
                piece[0] = next * o.n, piece[1] = piece[0] + o.n;
                MPI_Send(piece, 2, MPI_LONG, w, Task, MPI_COMM_WORLD);
                working++;
            }
            if (size == 1)
                for (; next < o.iterations; next++)
                    found += primes(next * o.n, next * o.n + o.n);
            while (working > 0) {
                MPI_Status s;
                long n;
                MPI_Recv(&n, 1, MPI_LONG, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
                found += n;
                if (s.MPI_TAG != Result)
                    fail("tag of a result");
                if (next < o.iterations) {
                    piece[0] = next * o.n, piece[1] = piece[0] + o.n, next++;
                    MPI_Send(piece, 2, MPI_LONG, s.MPI_SOURCE, Task, MPI_COMM_WORLD);
                } else {
                    MPI_Send(piece, 0, MPI_LONG, s.MPI_SOURCE, Stop, MPI_COMM_WORLD);
                    working--;
                }
            }
            if (found != sieve(limit))
                fail("number of primes");
        } else {
            for (;;) {
                MPI_Status s;
                long piece[2];
                int n;
                MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
                MPI_Get_count(&s, MPI_LONG, &n);
                MPI_Recv(piece, n, MPI_LONG, 0, s.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (s.MPI_TAG == Stop)
                    break;
                long found = primes(piece[0], piece[1]);
                MPI_Send(&found, 1, MPI_LONG, 0, Result, MPI_COMM_WORLD);
            }
        }
    }
    if (rank == 0)
        printf("master: %d workers, %ld times %ld pieces, right\n", size - 1, rounds, o.iterations);
    MPI_Finalize();
}
