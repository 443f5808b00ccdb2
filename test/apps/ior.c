// Benchmark of files as IOR has them, in four ways: one file of all in segments (shared), a file for each rank,
// strides of one file, and MPI-IO's collective calls. Each is written, synced, and read back by the next rank.
// -n is bytes of a transfer, -i how many. Files are in the working directory and are removed.
#include "apps.h"

#include <fcntl.h>
#include <unistd.h>

static long rank_of(int rank, int ranks, int shift) { return (rank + shift) % ranks; }

// at is where transfer i of a rank is.
static long at(int way, long rank, int ranks, long i, long n, long count) {
    if (way == 0)
        return (rank * count + i) * n;
    return way == 1 ? i * n : (i * ranks + rank) * n;
}

static void fill(char *b, long n, long rank, long i) { memset(b, (int)('a' + (rank * 7 + i) % 26), n); }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    Options o = options(argc, argv, 65536, 16);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *b = room(o.n, 1), *want = room(o.n, 1), path[64];
    static const char *const ways[] = {"shared", "each", "strided"};
    for (int pass = 0; more(&o, pass); pass++) {
        for (int way = 0; way < 3; way++) {
            for (int shift = 0; shift < 2; shift++) {
                long who = rank_of(rank, ranks, shift);
                if (way == 1)
                    snprintf(path, sizeof path, "ior.%s.%05ld", ways[way], who);
                else
                    snprintf(path, sizeof path, "ior.%s", ways[way]);
                int fd = open(path, shift ? O_RDONLY : O_RDWR | O_CREAT, 0600);
                if (fd < 0)
                    fail(path);
                for (long i = 0; i < o.iterations; i++) {
                    fill(want, o.n, who, i);
                    long place = at(way, who, ranks, i, o.n, o.iterations);
                    long n = shift ? pread(fd, b, o.n, place) : pwrite(fd, want, o.n, place);
                    if (n != o.n || (shift && memcmp(b, want, o.n) != 0))
                        fail("transfer");
                }
                if (!shift && fsync(fd) != 0)
                    fail("fsync");
                close(fd);
                MPI_Barrier(MPI_COMM_WORLD);
            }
            if (way == 1 || rank == 0) {
                if (way == 1)
                    snprintf(path, sizeof path, "ior.%s.%05d", ways[way], rank);
                unlink(path);
            }
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_File f;
        MPI_File_open(MPI_COMM_WORLD, "ior.collective", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f);
        for (int shift = 0; shift < 2; shift++) {
            long who = rank_of(rank, ranks, shift);
            for (long i = 0; i < o.iterations; i++) {
                fill(want, o.n, who, i);
                MPI_Offset place = at(2, who, ranks, i, o.n, o.iterations);
                if (shift)
                    MPI_File_read_at_all(f, place, b, (int)o.n, MPI_BYTE, MPI_STATUS_IGNORE);
                else
                    MPI_File_write_at_all(f, place, want, (int)o.n, MPI_BYTE, MPI_STATUS_IGNORE);
                if (shift && memcmp(b, want, o.n) != 0)
                    fail("collective transfer");
            }
            MPI_File_sync(f);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        MPI_File_close(&f);
    }
    if (rank == 0)
        printf("%d ranks wrote and read %ld transfers of %ld bytes in four ways\n", ranks, o.iterations, o.n);
    free(b);
    free(want);
    MPI_Finalize();
    return 0;
}
