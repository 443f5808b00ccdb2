/* Writes a byte to files of several kinds, whose calls a user may want or not. */
#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

static void touch(const char *path, int flags)
{
	char byte = 0;
	int fd = open(path, flags, 0644);
	if (fd < 0 || (flags & O_ACCMODE ? write(fd, &byte, 1) : read(fd, &byte, 1)) != 1)
		MPI_Abort(MPI_COMM_WORLD, 1);
	close(fd);
}

int main(int argc, char **argv)
{
	int ends[2];
	MPI_Init(&argc, &argv);
	mkdir("in", 0755);
	mkdir("out", 0755);
	touch("in/data", O_WRONLY | O_CREAT);
	touch("in/x.log", O_WRONLY | O_CREAT);
	touch("out/data", O_WRONLY | O_CREAT);
	touch("/dev/null", O_WRONLY);
	touch("/proc/self/stat", O_RDONLY);
	if (pipe(ends) || write(ends[1], "pipe", 4) != 4)
		return 1;
	MPI_Finalize();
	return 0;
}
