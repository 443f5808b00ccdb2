/* Uses a file that it was started with, and one of its own. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char b[100] = "";
	MPI_Init(&argc, &argv);
	pwrite(9, b, 100, 0);
	pread(9, b, 50, 10);
	int copy = dup(9);
	write(copy, b, 10);
	int fd = open("own", O_RDWR | O_CREAT | O_TRUNC, 0600);
	pwrite(fd, b, 60, 0);
	FILE *f = fdopen(copy, "w");
	fprintf(f, "%d\n", argc);
	pread(fd, b, 10, 5);
	fclose(f);
	close(fd);
	pread(fd, b, 10, 5); /* an error */
	printf("done\n");
	MPI_Finalize();
	return 0;
}
