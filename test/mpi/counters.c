// Values that are others in each iteration, as tags, offsets of files and windows, and addresses.
// In one loop, in loops within loops, and two sequences at one place. The argument is the number of iterations.
// ranks: 1 2 4
// mpi: mpich openmpi
// args: 700
#include "check.h"
#include <mpi.h>

static int rank, size, left, right, steps;
static int *out, *in;

// A halo exchange with the step as tag; the statuses have it, too.
static void tags(void) {
    for (int i = 0; i < steps; i++) {
        MPI_Request req[2];
        MPI_Status st[2];
        MPI_Irecv(in, 1, MPI_INT, left, 1000 * left + i, MPI_COMM_WORLD, &req[0]);
        MPI_Isend(out, 1, MPI_INT, right, 1000 * rank + i, MPI_COMM_WORLD, &req[1]);
        MPI_Waitall(2, req, st);
        CHECK(st[0].MPI_TAG == 1000 * left + i);
        if (i % 10 == 9)
            MPI_Barrier(MPI_COMM_WORLD);
    }
}

// Buffers that a stride walks through, up and down.
static void strides(void) {
    for (int i = 0; i < steps; i++)
        MPI_Sendrecv(out + i, 1, MPI_INT, right, 7, in + (steps - 1 - i), 1, MPI_INT, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < steps; i++)
        CHECK(in[steps - 1 - i] == i);
}

// Two buffers in turn with one counter, from one place; and some iterations that leave it out.
static void pairs(void) {
    for (int i = 0; i < steps; i++)
        for (int k = 0; k < 2; k++) {
            if (i % 7 == 6 && k == 1)
                continue;
            MPI_Sendrecv(k ? out : out + 1, 1, MPI_INT, right, i, in + k, 1, MPI_INT, left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
}

// The inner loop begins anew each time.
static void nested(void) {
    for (int i = 0; i < steps / 30 + 1; i++)
        for (int k = 0; k < 40; k++)
            MPI_Sendrecv(out + i, 1, MPI_INT, right, 3 * k, in, 1, MPI_INT, left, 3 * k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// A counter that stops, stands still, goes on elsewhere and jumps about.
static void odd(void) {
    unsigned x = 1;
    for (int i = 0; i < steps && i < 1000; i++) {
        int tag = i < 600 ? i : i < 620 ? 600 : i < 640 ? 5 * i : (int)((x = x * 1103515245 + 12345) >> 20);
        MPI_Sendrecv(out, 1, MPI_INT, right, tag, in, 1, MPI_INT, left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void files(void) {
    char path[SCRATCH_PATH] = "";
    if (rank == 0)
        scratch_file(path);
    MPI_Bcast(path, SCRATCH_PATH, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File f;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
    for (int i = 0; i < steps; i++) {
        MPI_Offset at = (MPI_Offset)sizeof(int) * ((MPI_Offset)i * size + rank);
        OK(MPI_File_write_at(f, at, &out[i], 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    for (int i = steps - 1; i >= 0; i--) {
        MPI_Offset at = (MPI_Offset)sizeof(int) * ((MPI_Offset)i * size + rank);
        OK(MPI_File_read_at(f, at, in, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(in[0] == i);
    }
    OK(MPI_File_close(&f));
}

static void windows(void) {
    int *base = malloc(sizeof(int) * (size_t)steps);
    MPI_Win win;
    MPI_Win_create(base, (MPI_Aint)steps * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < steps; i++)
        MPI_Put(&out[i], 1, MPI_INT, right, i, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < steps; i++)
        CHECK(base[i] == i);
    MPI_Win_free(&win);
    free(base);
}

static void packs(void) {
    int size_of, at = 0, back = 0, v;
    MPI_Pack_size(steps, MPI_INT, MPI_COMM_WORLD, &size_of);
    char *room = malloc((size_t)size_of + 64);
    for (int i = 0; i < steps; i++)
        MPI_Pack(&out[i], 1, MPI_INT, room, size_of, &at, MPI_COMM_WORLD);
    for (int i = 0; i < steps; i++) {
        MPI_Unpack(room, at, &back, &v, 1, MPI_INT, MPI_COMM_WORLD);
        CHECK(v == i);
    }
    free(room);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size, right = (rank + 1) % size;
    steps = argc > 1 ? atoi(argv[1]) : 300;
    out = malloc(sizeof(int) * (size_t)(steps + 100));
    in = malloc(sizeof(int) * (size_t)(steps + 100));
    for (int i = 0; i < steps + 100; i++)
        out[i] = i;
    tags();
    strides();
    pairs();
    nested();
    odd();
    files();
    if (size > 1) // Open MPI 4 has no window over the memory of one rank
        windows();
    packs();
    free(out);
    free(in);
    say(rank, "counters: %d iterations", steps);
    MPI_Finalize();
    return 0;
}
