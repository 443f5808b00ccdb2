/* Goes through a file by seeking, with descriptor and stream. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static char block[512];

int main(int argc, char **argv)
{
	long sum = 0;
	MPI_Init(&argc, &argv);
	int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 3000; i++) {
		sum += lseek(fd, i * 1024L, SEEK_SET);
		sum += write(fd, block, sizeof block);
	}
	close(fd);
	FILE *f = fopen("data", "r");
	for (int i = 0; i < 3000; i++) {
		fseek(f, i * 1024L, SEEK_SET);
		sum += (long)fread(block, 1, sizeof block, f);
		sum += ftell(f);
	}
	fclose(f);
	printf("%ld\n", sum);
	MPI_Finalize();
	return 0;
}
