// Where buffers live: heap blocks with interior pointers, moved and freed blocks, stack, static and thread-local data.
// ranks: 1 2 4 7
// mpi: mpich openmpi
#include "check.h"
#include <mpi.h>
#include <sys/mman.h>

static int table[100];
static _Thread_local int local[10];
static const char word[] = "read-only data";

static int rank, size, right, left;

static void swap(void *out, void *in, int n) {
    MPI_Sendrecv(out, n, MPI_INT, right, n, in, n, MPI_INT, left, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int deep(int depth) { // the same call from frames at different depths
    int out = depth, in = -1;
    swap(&out, &in, 1);
    CHECK(in == depth);
    return depth == 0 ? 0 : in + deep(depth - 1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size, left = (rank + size - 1) % size;

    // A block of a different size on each rank; the message starts at the same distance.
    int *block = malloc((1000 + 100 * rank) * sizeof *block);
    CHECK(block);
    for (int i = 0; i < 100; i++)
        block[i] = rank + i;
    swap(block + 10, block + 500, 20);
    CHECK(block[500] == left + 10 && block[519] == left + 29);
    block = realloc(block, 500000 * sizeof *block); // big enough to move into a mapping of its own
    CHECK(block);
    swap(block + 10, block + 499000, 20);
    CHECK(block[499000] == left + 10);
    free(block);

    // Blocks that come and go in a loop, so that addresses are used again.
    for (int i = 0; i < 20; i++) {
        int *a = calloc(16 + i % 3 * 50, sizeof *a), *b = malloc(64 * sizeof *b);
        CHECK(a && b);
        a[5] = i + rank;
        swap(a, b, 8);
        CHECK(b[5] == i + left);
        free(a);
        free(b);
    }
    void *aligned = NULL;
    CHECK(posix_memalign(&aligned, 4096, 8192) == 0);
    int *page = aligned_alloc(64, 4096);
    int *map = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page && map != MAP_FAILED);
    memset(aligned, rank, 8192);
    swap((int *)aligned + 7, page + 7, 5);
    CHECK(page[7] == left * 0x01010101);
    swap(page + 7, map + 1000, 5);
    CHECK(map[1004] == (left + size - 1) % size * 0x01010101);
    free(aligned);
    free(page);
    munmap(map, 65536);

    CHECK(deep(6) == 21);
    for (int i = 0; i < 100; i++)
        table[i] = rank * i;
    swap(&table[3], local, 10);
    CHECK(local[9] == left * 12);
    char text[sizeof word] = "";
    MPI_Sendrecv(word, sizeof word, MPI_CHAR, right, 0, text, sizeof text, MPI_CHAR, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(strcmp(text, word) == 0);

    int *lib;
    MPI_Alloc_mem(4096, MPI_INFO_NULL, &lib);
    lib[0] = rank;
    swap(lib, lib + 100, 1);
    CHECK(lib[100] == left);
    MPI_Free_mem(lib);
    say(rank, "buffers: ok");
    MPI_Finalize();
    return 0;
}
