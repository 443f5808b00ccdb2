/* Time loops that work on a file whose pages are in memory; prints "name ns-per-iteration"
   lines, as loops.c does. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "loop.h"

#define BLOCK 4096
#define BLOCKS 4096 /* 16 MB */

/* As a generator of random numbers has them. */
static off_t anywhere(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (off_t)(*state >> 20) * BLOCK;
}

int main(int argc, char **argv)
{
	static char block[BLOCK];
	char name[] = "/dev/shm/spoor-cost-XXXXXX";
	int n = argc > 1 ? atoi(argv[1]) : 300000;
	unsigned state = 1;
	loop_options(argc, argv);
	MPI_Init(&argc, &argv);
	int fd = mkstemp(name);
	for (int i = 0; i < BLOCKS; i++)
		if (pwrite(fd, block, BLOCK, (off_t)i * BLOCK) != BLOCK)
			return 1;
	ssize_t r = 0;
	LOOP("pread_again", n, r = pread(fd, block, BLOCK, 0));
	LOOP("pread_in_turn", n, r = pread(fd, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK));
	LOOP("pread_random", n, r = pread(fd, block, BLOCK, anywhere(&state)));
	LOOP("pwrite_in_turn", n, r = pwrite(fd, block, BLOCK, (off_t)(i % BLOCKS) * BLOCK));
	LOOP("lseek+read", n, (lseek(fd, (off_t)(i % BLOCKS) * BLOCK, SEEK_SET), r = read(fd, block, BLOCK)));
	FILE *f = fopen(name, "r+");
	LOOP("fread_8_bytes", n, r = (ssize_t)fread(block, 8, 1, f); if (!r) rewind(f));
	fclose(f);
	LOOP("open+close", n / 10, close(open(name, O_RDONLY)));
	close(fd);
	unlink(name);
	if (r < 0)
		return 1;
	MPI_Finalize();
	return 0;
}
