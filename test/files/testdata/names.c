/* One name is several files, and several names are one: ranks change their working folder, open by folders' descriptors, and
   ask for reads and writes that they don't wait for. Each rank says what it did, as "name read written" from the folder that
   all started in. With an argument, ranks were started in folders of their own. */
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char buf[4096];

static void put(int fd, int n)
{
	if (write(fd, buf, n) != n)
		abort();
	close(fd);
}

int main(int argc, char **argv)
{
	int rank, pipes[2];
	char own[32], name[64];
	mkdir("early", 0755);
	if (chdir("early") != 0) /* before MPI_Init */
		return 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	put(open("e", O_CREAT | O_WRONLY | O_APPEND, 0644), 10);
	if (chdir("..") != 0)
		return 1;
	snprintf(own, sizeof own, "job%d", rank);
	mkdir(own, 0755);
	int top = open(".", O_RDONLY | O_DIRECTORY), dir = open(own, O_RDONLY | O_DIRECTORY);
	put(openat(dir, "a", O_CREAT | O_WRONLY, 0644), 20 + rank); /* job0/a, job1/a */
	if (fchdir(dir) != 0)
		return 1;
	put(open("./b", O_CREAT | O_WRONLY, 0644), 30);
	put(openat(top, "c", O_CREAT | O_WRONLY | O_APPEND, 0644), 40); /* of all */
	FILE *f = fopen("../c", "a");
	fwrite(buf, 1, 5, f);
	fclose(f);
	MPI_File fh; /* by its name from this folder; Open MPI 4 can't open two files that have one name there */
	snprintf(name, sizeof name, "m%d", rank);
	MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
	MPI_File_write_at(fh, 0, buf, 100, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_seek(fh, 50, MPI_SEEK_SET);
	MPI_File_read(fh, buf, 25, MPI_SHORT, MPI_STATUS_IGNORE);
	MPI_File_close(&fh);
	if (fchdir(top) != 0)
		return 1;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_open(argc > 1 ? MPI_COMM_SELF : MPI_COMM_WORLD, "all", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
	MPI_File_set_view(fh, 8 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_write_all(fh, buf, 2, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_close(&fh);
	if (rank == 1) { /* only this one, though its number is in it */
		put(open("only.1", O_CREAT | O_WRONLY, 0644), 60);
		unlink("only.1");
	}
	snprintf(name, sizeof name, "step%d.%03d", 1, rank);
	put(open(name, O_CREAT | O_WRONLY, 0644), 70);

	int fd = openat(dir, "q", O_CREAT | O_RDWR, 0644);
	struct aiocb w[4], *list[4], r;
	memset(w, 0, sizeof w);
	for (int i = 0; i < 4; i++) {
		w[i].aio_fildes = fd, w[i].aio_buf = buf, w[i].aio_nbytes = 1000, w[i].aio_offset = 1000 * i;
		w[i].aio_lio_opcode = i == 2 ? LIO_NOP : LIO_WRITE;
		list[i] = i == 3 ? NULL : &w[i];
	}
	if (lio_listio(LIO_WAIT, list, 4, NULL) != 0) /* two writes */
		return 1;
	if (aio_write(&w[3]) != 0) /* to 4000 */
		return 1;
	const struct aiocb *one = &w[3];
	while (aio_error(&w[3]) == EINPROGRESS)
		aio_suspend(&one, 1, NULL);
	ssize_t done = aio_return(&w[3]);
	r = w[3];
	r.aio_offset = 3900; /* 100 are left of 1000 */
	if (aio_read(&r) != 0)
		return 1;
	while (aio_error(&r) == EINPROGRESS)
		usleep(100);
	done += aio_return(&r);
	if (pipe(pipes) != 0)
		return 1;
	loff_t from = 0;
	done += splice(fd, &from, pipes[1], NULL, 500, 0);
	close(fd);
	if (done != 1000 + 100 + 500)
		return 1;

	printf("%d early/e 0 10\n%d job%d/a 0 %d\n%d job%d/b 0 30\n%d c 0 45\n%d all 0 8\n", rank, rank, rank, 20 + rank, rank, rank, rank, rank);
	printf("%d job%d/m%d 50 100\n%d step1.%03d 0 70\n%d job%d/q 600 3000\n", rank, rank, rank, rank, rank, rank, rank);
	if (rank == 1)
		printf("1 only.1 0 60\n");
	MPI_Finalize();
	return 0;
}
