/* What ranks do together with files that other things depend on than the calls: lines appended
   by all of them, a file with holes, and a folder that runs full (the first argument). Prints
   what came of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank, size;
static char block[4096];

/* Lines of all ranks, none torn. */
static void append(void)
{
	char line[64], found[64];
	int fd = open("appended", O_WRONLY | O_CREAT | O_APPEND, 0600), count = 0;
	FILE *f = fopen("lines", "a");
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 200; i++) {
		int n = snprintf(line, sizeof line, "rank %d writes line %03d\n", rank, i);
		write(fd, line, (size_t)n);
		fprintf(f, "rank %d prints line %03d\n", rank, i);
		fflush(f);
	}
	close(fd);
	fclose(f);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int k = 0; k < 2; k++) {
		f = fopen(k ? "lines" : "appended", "r");
		int r, i;
		char verb[16];
		for (count = 0; fgets(found, sizeof found, f); count++)
			if (sscanf(found, "rank %d %15s line %d", &r, verb, &i) != 3 || strlen(found) != 23)
				printf("torn: %s", found);
		fclose(f);
		if (rank == 0)
			printf("%d lines\n", count);
	}
}

static void holes(void)
{
	struct stat s;
	int fd = open("sparse", O_RDWR | O_CREAT, 0600);
	MPI_Barrier(MPI_COMM_WORLD);
	pwrite(fd, block, sizeof block, ((off_t)rank << 30) + (1 << 20));
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) {
		ftruncate(fd, (off_t)8 << 30);
		fstat(fd, &s);
		printf("%lld bytes, %s\n", (long long)s.st_size, s.st_blocks * 512 < (1 << 24) ? "with holes" : "without");
		for (off_t at = 0; (at = lseek(fd, at, SEEK_DATA)) >= 0;) {
			off_t end = lseek(fd, at, SEEK_HOLE);
			printf("from %lld to %lld\n", (long long)at, (long long)end);
			at = end;
		}
		printf("then %s", strerror(errno));
		printf(", and %zd bytes read", pread(fd, block, 100, (off_t)5 << 30));
		printf(", the first %d\n", block[0]);
		ftruncate(fd, 0); /* the files that are left are compared */
	}
	close(fd);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Until there is no room, in each way. The ranks take turns. */
static void full(const char *folder)
{
	char name[256];
	for (int turn = 0; turn < size; turn++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (turn != rank)
			continue;
		snprintf(name, sizeof name, "%s/filled.%d", folder, rank);
		int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
		ssize_t n;
		long sum = 0;
		memset(block, 'f', sizeof block);
		while ((n = write(fd, block, sizeof block - 96)) > 0)
			sum += n;
		printf("%d: %ld written, then %zd, %s", rank, sum, n, strerror(errno));
		n = pwrite(fd, block, 4096, 1 << 24);
		printf("; %zd, %s", n, strerror(errno));
		n = fallocate(fd, 0, 0, 1 << 24);
		printf("; %zd, %s; %d", n, strerror(errno), posix_fallocate(fd, 0, 1 << 24));
		ftruncate(fd, sum / 8192 * 4096);
		snprintf(name, sizeof name, "%s/stream.%d", folder, rank);
		FILE *f = fopen(name, "w");
		size_t items = 0;
		errno = 0;
		while (fwrite(block, 64, 16, f) == 16)
			items++;
		printf("; %d, %s, error %d", items > 0, strerror(errno), ferror(f));
		printf(", closed %d\n", fclose(f));
		unlink(name);
		close(fd);
		snprintf(name, sizeof name, "%s/filled.%d", folder, rank);
		unlink(name);
	}
	fflush(stdout);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	append();
	holes();
	if (argc > 1)
		full(argv[1]);
	MPI_Finalize();
	return 0;
}
